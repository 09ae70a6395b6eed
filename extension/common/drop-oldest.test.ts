// Which entry is dropped, in maps and in sets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropOldest } from './drop-oldest.ts';

test('the oldest key is dropped, and only if there are too many', () => {
  const map = new Map([
    ['b', 1],
    ['a', 2],
  ]);
  dropOldest(map, 2);
  assert.equal(map.size, 2);
  dropOldest(map, 1);
  assert.deepEqual([...map.keys()], ['a']);
  const set = new Set(['b', 'a']);
  dropOldest(set, 1);
  assert.deepEqual([...set], ['a']);
  const none = new Set<string>();
  dropOldest(none, 0);
  assert.equal(none.size, 0);
});
