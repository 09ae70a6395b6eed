import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { isWorthReporting } from './writing.ts';

const base: Observation = {
  id: '1',
  origin: 'https://a.test' as Origin,
  site: 'a.test',
  kind: 'resource',
  delivery: 'network',
  atMs: 1,
  bytes: null,
  protocol: 'h2',
};

test('the newest of each kind is sent', () => {
  const told = isWorthReporting([base, { ...base, id: '2', atMs: 3 }, { ...base, id: '3', atMs: 2 }]);
  assert.deepEqual(
    told.map((o) => o.id),
    ['2'],
  );
});

test('another protocol, origin, advertisement or a navigation is sent as well', () => {
  const told = isWorthReporting([
    base,
    { ...base, protocol: 'h3' },
    { ...base, origin: 'https://b.test' as Origin },
    { ...base, altSvc: 'h3=":443"' },
    { ...base, kind: 'navigation' },
  ]);
  assert.equal(told.length, 5);
});

test('what teaches nothing is not sent', () => {
  const hidden = { ...base, protocol: 'unknown', reason: 'missed' } as const;
  assert.deepEqual(isWorthReporting([hidden, { ...base, delivery: 'http-cache' }]), []);
  assert.equal(isWorthReporting([{ ...hidden, altSvc: 'h3=":443"' }]).length, 1);
});
