import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addAdoption,
  addCounts,
  adoptionByOrigin,
  adoptionByRequest,
  adoptionPercent,
  countRequest,
  NO_ADOPTION,
  NO_REQUESTS,
  requestsIn,
} from './adoption.ts';

test('only the network counts: caches, workers and prefetches leave the counts alone', () => {
  let counts = countRequest(NO_REQUESTS, 'h3', 'network');
  for (const delivery of ['http-cache', 'service-worker', 'prefetch'] as const)
    counts = countRequest(counts, 'h3', delivery);
  assert.equal(counts.h3, 1);
});

test('adoption by request: hidden requests are beside the denominator, not in it', () => {
  const counts = { h3: 2, h2: 1, 'http/1.1': 1, 'http/1.0': 1, unknown: 7 };
  assert.deepEqual(adoptionByRequest(counts), { h3: 2, known: 5, hidden: 7 });
});

test('adoption by origin: one HTTP/3 request is enough, hidden only if nothing is known', () => {
  const origins = [
    { ...NO_REQUESTS, h3: 1, h2: 9 },
    { ...NO_REQUESTS, h2: 1, unknown: 3 },
    { ...NO_REQUESTS, h2: 1 },
    { ...NO_REQUESTS, unknown: 3 },
    { ...NO_REQUESTS, unknown: 1 },
    NO_REQUESTS,
  ];
  assert.deepEqual(adoptionByOrigin(origins), { h3: 1, known: 3, hidden: 2 });
});

test('counts and adoptions are added field by field', () => {
  const some = { h3: 1, h2: 2, 'http/1.1': 3, 'http/1.0': 4, unknown: 5 };
  const both = addCounts(some, { h3: 10, h2: 20, 'http/1.1': 30, 'http/1.0': 40, unknown: 50 });
  assert.deepEqual(both, { h3: 11, h2: 22, 'http/1.1': 33, 'http/1.0': 44, unknown: 55 });
  assert.equal(requestsIn(some), 15);
  const adoption = addAdoption({ h3: 1, known: 2, hidden: 3 }, { h3: 10, known: 20, hidden: 30 });
  assert.deepEqual(adoption, { h3: 11, known: 22, hidden: 33 });
});

test('without known protocols there is no percentage', () => {
  assert.equal(adoptionPercent({ ...NO_ADOPTION, hidden: 4 }), null);
  assert.equal(adoptionPercent({ h3: 2, known: 3, hidden: 4 }), '67');
});

test('a percentage is 0 or 100 only if it is exactly that, and 1 or 99 only if it rounds to that', () => {
  const shares = [0, 2, 5, 500, 994, 998, 1000];
  const percents = shares.map((h3) => adoptionPercent({ h3, known: 1000, hidden: 0 }));
  assert.deepEqual(percents, ['0', '< 1', '1', '50', '99', '> 99', '100']);
});
