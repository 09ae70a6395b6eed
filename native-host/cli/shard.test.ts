// Machines with the same seed share a list: every origin is in exactly one shard, and stays there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inShard, readShard } from './shard.ts';
import { Complaint } from './usage.ts';

const ORIGINS = Array.from({ length: 3000 }, (_, index) => `https://host-${index}.example`);

/** The numbers of the shards that have each origin. */
function shardsOf(count: number, seed: string): number[][] {
  const shards = Array.from({ length: count }, (_, index) => ({ index: index + 1, of: count, seed }));
  return ORIGINS.map((origin) => shards.filter((shard) => inShard(shard, origin)).map(({ index }) => index));
}

test('every origin is in exactly one shard, and the shards are of similar size', () => {
  for (const count of [1, 2, 3, 7]) {
    const sizes = new Map<number | undefined, number>();
    for (const shards of shardsOf(count, 'a')) {
      assert.equal(shards.length, 1);
      sizes.set(shards[0], (sizes.get(shards[0]) ?? 0) + 1);
    }
    assert.equal(sizes.size, count);
    const fair = ORIGINS.length / count;
    for (const size of sizes.values()) assert.ok(Math.abs(size - fair) <= 0.2 * fair, `${size} of ${fair}`);
  }
});

test('another seed divides the list otherwise', () => {
  const [one, two] = [shardsOf(2, 'one'), shardsOf(2, 'two')];
  const moved = one.filter(([shard], index) => shard !== two[index]?.[0]).length;
  assert.ok(Math.abs(moved - ORIGINS.length / 2) < 0.1 * ORIGINS.length, `${moved}`);
});

test('the division never changes: machines with different versions share a list', () => {
  const hosts = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test', 'f.test'];
  const shards = hosts.map((host) =>
    [1, 2, 3].filter((index) => inShard(readShard(`${index}/3`), `https://${host}`)),
  );
  assert.deepEqual(shards.flat(), [1, 2, 3, 1, 3, 1]);
});

for (const text of ['', '0/2', '3/2', '1', '1/', '/2', '1/0', '-1/2', '1/10001', '1/2/3', 'a/b', '1.0/2'])
  test(`--shard ${text} is refused`, () => {
    assert.throws(
      () => readShard(text),
      (error) => error instanceof Complaint && error.code === 'bad-number',
    );
  });

test('a seed has 1 to 128 characters', () => {
  assert.equal(readShard('2/10000', 's'.repeat(128)).of, 10_000);
  for (const seed of ['', 's'.repeat(129)]) assert.throws(() => readShard('1/2', seed), Complaint);
});
