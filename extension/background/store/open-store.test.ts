// The store in the background, in both backends: a change applies to the value it was meant for. What older versions
// kept elsewhere is moved once, whatever is interrupted, and nothing found there afterwards is trusted.
import 'fake-indexeddb/auto';
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { IDBDatabase, IDBFactory } from 'fake-indexeddb';
import { type StoreKey, update } from '../../common/store/store.ts';
import { type DatabaseBackendDeps, keepOn, openDatabaseBackend, openSessionBackend } from './open-store.ts';

/** `storage.local`, where any page's process may write. */
function olderArea(items: Record<string, unknown> = {}) {
  const kept = new Map(Object.entries(items));
  let reads = 0;
  return {
    kept,
    get reads() {
      return reads;
    },
    area: {
      async get(keys: string[]) {
        reads += 1;
        return Object.fromEntries([...kept].filter(([key]) => keys.includes(key)));
      },
      async clear() {
        kept.clear();
      },
    },
  };
}

/** Adopts strings, in upper case. */
const great = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : undefined);
const TAKEN_OVER = { settings: great, 'network-names': great, steering: great };

function open(older: DatabaseBackendDeps['older']) {
  const told: StoreKey[] = [];
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const backend = openDatabaseBackend({ older, takenOver: TAKEN_OVER, onFailure });
  const store = keepOn(backend, (key) => told.push(key));
  const values = async () =>
    Promise.all(
      (['settings', 'network-names', 'steering'] as const).map(async (key) => (await store.get(key)).value),
    );
  return { store, told, failures, values };
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

/** Both backends, empty. */
const BACKENDS = {
  database: () => open(olderArea().area).store,
  session: () => keepOn(openSessionBackend(sessionArea()), () => {}),
};

function sessionArea() {
  const items = new Map<string, unknown>();
  return {
    get: async (key: string) => (items.has(key) ? { [key]: structuredClone(items.get(key)) } : {}),
    set: async (more: Record<string, unknown>) => {
      for (const [key, value] of Object.entries(more)) items.set(key, structuredClone(value));
    },
  };
}

for (const [name, empty] of Object.entries(BACKENDS)) {
  test(`${name}: a value is stored if its revision still applies, otherwise the newer one is returned`, async () => {
    const store = empty();
    assert.deepEqual(await store.get('settings'), { revision: 0 });
    assert.deepEqual(await store.replace('settings', 0, 'a'), { revision: 1, value: 'a' });
    assert.deepEqual(await store.replace('settings', 0, 'b'), { revision: 1, value: 'a' });
    assert.deepEqual(await store.get('settings'), { revision: 1, value: 'a' });
    assert.deepEqual(await store.get('steering'), { revision: 0 });
  });

  test(`${name}: concurrent changes are all made`, async () => {
    const store = empty();
    const add = (n: number) =>
      update(store, 'settings', (stored) => [...((stored as number[] | undefined) ?? []), n]);
    await Promise.all([1, 2, 3, 4].map(add));
    assert.deepEqual(((await store.get('settings')).value as number[]).toSorted(), [1, 2, 3, 4]);
  });
}

test('values are available to the next background', async () => {
  const older = olderArea();
  await open(older.area).store.replace('settings', 0, { a: [1] });
  assert.deepEqual(await open(older.area).store.get('settings'), { revision: 1, value: { a: [1] } });
});

test('listeners receive each change of their value, in order, and pages are notified', async () => {
  const { store, told } = open(olderArea().area);
  const heard: unknown[] = [];
  store.onChanged('settings', (value) => heard.push(value));
  await store.replace('settings', 0, 'a');
  await store.replace('steering', 0, 'x');
  await store.replace('settings', 0, 'refused');
  await store.replace('settings', 1, 'b');
  assert.deepEqual(
    [heard, told],
    [
      ['a', 'b'],
      ['settings', 'steering', 'settings'],
    ],
  );
});

test('what an older version kept is moved as far as it is valid, and deleted there', async () => {
  const older = olderArea({ settings: 'mine', 'network-names': 3, other: 'x' });
  const { values } = open(older.area);
  assert.deepEqual(await values(), ['MINE', undefined, undefined]);
  assert.equal(older.kept.size, 0);
});

test('what is planted there afterwards is neither read nor kept', async () => {
  for (const before of [{}, { settings: 'mine' }]) {
    globalThis.indexedDB = new IDBFactory();
    const older = olderArea(before);
    const first = await open(older.area).values();
    older.kept.set('settings', 'planted').set('steering', 'planted');
    assert.deepEqual(await open(older.area).values(), first);
    assert.deepEqual([older.reads, older.kept.size], [1, 0]);
  }
});

test('a background terminated before all is moved starts over; one terminated after that does not', async () => {
  const older = olderArea({ settings: 'mine', steering: 'too' });
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (...args) {
    const tx = transaction.apply(this, args);
    if (args[1] === 'readwrite') queueMicrotask(() => tx.abort());
    return tx;
  };
  await assert.rejects(open(older.area).values());
  IDBDatabase.prototype.transaction = transaction;
  assert.equal(older.kept.size, 2);
  // Terminated before the deletion there, and the user continues.
  const ended = open({ ...older.area, clear: () => new Promise(() => {}) });
  assert.deepEqual(await ended.values(), ['MINE', undefined, 'TOO']);
  await ended.store.replace('settings', 1, 'changed');
  assert.equal(older.kept.size, 2);
  assert.deepEqual(await open(older.area).values(), ['changed', undefined, 'TOO']);
  assert.equal(older.kept.size, 0);
});

test('if what an older version kept cannot be read now, it is requested again', async () => {
  const older = olderArea({ settings: 'mine' });
  let fails = true;
  const area = {
    ...older.area,
    get: (keys: string[]) => (fails ? Promise.reject(new Error('busy')) : older.area.get(keys)),
  };
  const { values } = open(area);
  await assert.rejects(values(), /busy/);
  fails = false;
  assert.deepEqual(await values(), ['MINE', undefined, undefined]);
});

test('a failed deletion there is reported, and changes nothing', async () => {
  const older = olderArea({ settings: 'mine' });
  const area = { ...older.area, clear: () => Promise.reject(new Error('locked')) };
  const { values, failures } = open(area);
  assert.deepEqual(await values(), ['MINE', undefined, undefined]);
  assert.match(String(failures), /locked/);
});
