import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSavedMap } from './saved-map.ts';

/** A storage whose writes complete only when the test says so. */
function area(stored: Record<string, unknown> = {}) {
  const writes: { items: Record<string, unknown>; done: () => void }[] = [];
  return {
    stored,
    writes,
    get: async () => ({ ...stored }),
    set: (items: Record<string, unknown>) =>
      new Promise<void>((resolve) => {
        writes.push({
          items,
          done: () => {
            Object.assign(stored, items);
            resolve();
          },
        });
      }),
    remove: async (keys: string[]) => {
      for (const key of keys) delete stored[key];
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what an earlier service worker saved is loaded, and only its own keys', async () => {
  const map = await loadSavedMap<number>(area({ 'n:a': 1, 'm:b': 2 }), 'n:');
  assert.deepEqual([...map.entries()], [['a', 1]]);
});

test('changes in one turn are one write, and at most one write is in flight', async () => {
  const storage = area();
  const map = await loadSavedMap<number>(storage, 'n:');
  map.set('a', 1);
  map.set('a', 2);
  map.set('b', 3);
  await turn();
  assert.deepEqual(
    storage.writes.map((w) => w.items),
    [{ 'n:a': 2, 'n:b': 3 }],
  );
  map.set('a', 4);
  map.set('a', 5);
  await turn();
  assert.equal(storage.writes.length, 1, 'the first is still in flight');
  storage.writes[0]?.done();
  await turn();
  assert.deepEqual(storage.writes[1]?.items, { 'n:a': 5 });
});

test('saved resolves once all of it is stored', async () => {
  const storage = area();
  const map = await loadSavedMap<number>(storage, 'n:');
  map.set('a', 1);
  let saved = false;
  const waiting = map.saved().then(() => {
    saved = true;
  });
  await turn();
  assert.equal(saved, false);
  storage.writes[0]?.done();
  await waiting;
  assert.deepEqual(storage.stored, { 'n:a': 1 });
});

test('deleted keys are removed', async () => {
  const storage = area({ 'n:a': 1 });
  const map = await loadSavedMap<number>(storage, 'n:');
  map.delete('a');
  await map.saved();
  assert.deepEqual(storage.stored, {});
});
