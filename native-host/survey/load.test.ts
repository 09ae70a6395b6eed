// The subject of a job: the hosts of one owner share it, and different owners spread over all of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketOf } from './load.ts';
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
