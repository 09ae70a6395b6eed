import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import { observation } from '../testing/cache-samples.ts';
import { sightingOf } from './fold.ts';
import { foldUse } from './fold-use.ts';
import { newUse } from './record.ts';

const NOW = 5_000_000;
const USE = newUse('chromium', 'https://a.test' as Origin, 'a.test', 'home');

test('only network answers count', () => {
  for (const delivery of ['http-cache', 'service-worker', 'prefetch'] as const)
    assert.equal(
      foldUse(USE, sightingOf(observation({ delivery, protocol: 'h3', altSvc: 'h3=":443"' })), NOW),
      USE,
    );
});

test('stays count visits, not requests: a page of fifty resources on one connection is one visit', () => {
  let use = foldUse(USE, sightingOf(observation({ altSvc: 'h3=":443"' })), NOW);
  assert.equal(use.stays, 0);
  for (let i = 1; i <= 50; i += 1)
    use = foldUse(use, sightingOf(observation({ kind: 'resource' })), NOW + i * 100);
  assert.equal(use.stays, 0);
  use = foldUse(use, sightingOf(observation({})), NOW + 10_000);
  use = foldUse(use, sightingOf(observation({ kind: 'resource' })), NOW + 100_000);
  assert.equal(use.stays, 2);
  assert.equal(foldUse(use, sightingOf(observation({ protocol: 'h3' })), NOW + 100_001).stays, 0);
});

test('a repeated advertisement keeps the count, one that returns after a gap restarts it', () => {
  const advert = { altSvc: 'h3=":443"; ma=60' };
  let use = foldUse(USE, sightingOf(observation(advert)), NOW);
  use = foldUse(use, sightingOf(observation(advert)), NOW + 1000);
  assert.deepEqual([use.stays, use.advertisedAtMs, use.advertisedUntilMs], [1, NOW, NOW + 61_000]);
  use = foldUse(use, sightingOf(observation(advert)), NOW + 500_000);
  assert.deepEqual([use.stays, use.advertisedAtMs], [0, NOW + 500_000]);
  assert.equal(
    foldUse(use, sightingOf(observation({ altSvc: 'clear' })), NOW + 500_001).advertisedUntilMs,
    null,
  );
});

test('a hidden protocol still contributes its advertisement, and keeps the last known protocol', () => {
  const known = foldUse(USE, sightingOf(observation({})), NOW);
  const hidden: Partial<Observation> = {
    protocol: 'unknown',
    reason: 'no-timing-allow-origin',
    altSvc: 'h3=":1"',
  };
  const use = foldUse(known, sightingOf(observation(hidden)), NOW + 1);
  assert.deepEqual([use.protocol, use.protocolAtMs], ['h2', NOW]);
  assert.ok((use.advertisedUntilMs ?? 0) > NOW);
});

test('the newest answer decides, in any order of arrival', () => {
  const answer = fc.record({
    at: fc.integer({ min: 1, max: 1_000_000 }),
    protocol: fc.constantFrom('h3', 'h2', 'http/1.1'),
  });
  fc.assert(
    fc.property(fc.uniqueArray(answer, { minLength: 1, selector: (a) => a.at }), (answers) => {
      const newest = answers.toSorted((a, b) => b.at - a.at)[0];
      let use = USE;
      for (const { at, protocol } of answers) use = foldUse(use, sightingOf(observation({ protocol })), at);
      assert.equal(use.protocol, newest?.protocol);
      assert.equal(use.protocolAtMs, newest?.at);
    }),
  );
});
