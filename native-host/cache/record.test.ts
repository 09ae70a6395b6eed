import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import { idsOf, recordId } from './record.ts';

test('all records of an origin lie between its ids, which fit a signed row id', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (origin, network, site) => {
      const { first, last } = idsOf(origin as Origin);
      for (const id of [
        recordId(origin as Origin, network),
        recordId(origin as Origin, network, 'firefox', site),
      ])
        assert.ok(first <= id && id <= last);
      assert.ok(first >= 0n && last < 2n ** 63n);
    }),
  );
});

test('very similar origins, their networks and sites have different ids', () => {
  const ids = new Set<bigint>();
  for (let n = 0; n < 50_000; n += 1) {
    const origin = `https://www.site-${n}.example` as Origin;
    ids.add(recordId(origin, 'home')).add(recordId(origin, 'work'));
    ids.add(recordId('https://shared.example' as Origin, 'home', 'chromium', `site-${n}.example`));
  }
  assert.equal(ids.size, 150_000);
});
