// The subject of a job: the hosts of one owner share it, and different owners spread over all of them. The order: every
// job of a list has exactly one place in it, the same wherever and whenever it is computed, so that a load that was cut
// off goes on in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bucketOf, MAX_PERMUTED, permutation } from './load.ts';
import { TODO_BUCKETS } from './streams.ts';

test('the hosts of one registrable domain are in one bucket', () => {
  const same = ['example.co.uk', 'www.example.co.uk', 'a.b.example.co.uk'].map(bucketOf);
  assert.equal(new Set(same).size, 1);
});

test('owners below a public suffix, a private one too, and addresses have buckets of their own', () => {
  const hosts = Array.from({ length: 2000 }, (_, index) => index);
  for (const hostOf of [
    (index: number) => `owner-${index}.co.uk`,
    (index: number) => `owner-${index}.github.io`,
    (index: number) => `192.0.${index >> 8}.${index & 255}`,
    (index: number) => `2001:db8::${index.toString(16)}`,
    (index: number) => `host-${index}`,
  ]) {
    const buckets = new Set(hosts.map(hostOf).map(bucketOf));
    assert.equal(buckets.size, TODO_BUCKETS, hostOf(1));
    for (const bucket of buckets) assert.ok(bucket >= 0 && bucket < TODO_BUCKETS);
  }
});

function order(size: number, seed: string): number[] {
  const place = permutation(size, seed);
  return Array.from({ length: size }, (_, index) => place(index));
}

function assertBijection(size: number, seed: string): void {
  const seen = new Uint8Array(size);
  for (const place of order(size, seed)) {
    assert.ok(Number.isInteger(place) && place >= 0 && place < size, `${place} of ${size}`);
    assert.equal(seen[place], 0, `${place} of ${size} twice`);
    seen[place] = 1;
  }
}

test('every index has exactly one place, whatever the size', () => {
  for (const size of [0, 1, 2, 3, 4, 5, 7, 10, 16, 17, 1000, 1024, 65_536, 65_537])
    assertBijection(size, 'a');
  const sizes = fc.integer({ min: 1, max: 3000 });
  fc.assert(fc.property(sizes, fc.string(), assertBijection));
});

test('places of a very large list are whole numbers within it, and differ', () => {
  for (const size of [10_000_000, 2 ** 32 + 1, MAX_PERMUTED - 1, MAX_PERMUTED]) {
    const place = permutation(size, 'large');
    const places = new Set<number>();
    for (let index = size - 10_000; index < size; index += 1) places.add(place(index));
    assert.equal(places.size, 10_000);
    for (const each of places) assert.ok(Number.isInteger(each) && each >= 0 && each < size);
    assert.ok(Math.max(...places) > 0.9 * size && Math.min(...places) < 0.1 * size, 'spread over the list');
  }
});

test('neighbours in the list are not neighbours in the order', () => {
  const size = 10_000;
  const places = order(size, 'neighbours');
  const distances = places.slice(1).map((place, index) => Math.abs(place - (places[index] ?? 0)));
  const near = distances.filter((distance) => distance <= 10).length;
  // In a random order a distance of at most 10 has a probability of about 0.002: 20 of them.
  assert.ok(near < 60, `${near} of ${size}`);
  const mean = distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
  assert.ok(
    Math.abs(mean / size - 1 / 3) < 0.02,
    `the mean distance is ${mean}, a third of ${size} if random`,
  );
});

test('another seed, another order; the first place is taken by all alike', () => {
  const [one, two] = [order(1000, 'one'), order(1000, 'two')];
  assert.ok(one.filter((place, index) => place === two[index]).length < 20);
  const firsts = new Map<number, number>();
  for (let seed = 0; seed < 1000; seed += 1) {
    const first = permutation(10, `${seed}`)(0);
    firsts.set(first, (firsts.get(first) ?? 0) + 1);
  }
  assert.equal(firsts.size, 10);
  for (const [place, times] of firsts) assert.ok(times > 60 && times < 140, `${place}: ${times} of 1000`);
});

test('the order never changes: a load that was cut off by an earlier version goes on in it', () => {
  assert.deepEqual(order(12, 'photofinish'), [2, 10, 1, 4, 5, 9, 8, 11, 0, 6, 7, 3]);
  const large = permutation(10_000_000, 'photofinish');
  assert.deepEqual([0, 1, 2, 9_999_999].map(large), [1_473_781, 790_139, 1_443_145, 3_038_321]);
});

test('what is not an index or a size is refused', () => {
  for (const size of [-1, 1.5, Number.NaN, MAX_PERMUTED + 1])
    assert.throws(() => permutation(size, ''), RangeError);
  for (const index of [-1, 0.5, 3, Number.NaN]) assert.throws(() => permutation(3, '')(index), RangeError);
  assert.throws(() => permutation(0, '')(0), RangeError);
});
