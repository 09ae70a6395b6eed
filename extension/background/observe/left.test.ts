import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TimingBatch } from '../../common/timing.ts';
import { keepLeft, type LeftBatches, takeLeft } from './left.ts';
import type { Sender } from './sender.ts';

const entry = {
  navigation: false,
  url: 'https://a.test/',
  alpn: 'h3',
  deliveryType: '',
  startMs: 1,
  endMs: 2,
  firstByteMs: 2,
  transferBytes: 10,
  bodyBytes: 10,
  worker: false,
  redirected: false,
  initiator: 'script',
  status: 200,
  partial: false,
  opaque: false,
};
const batch: TimingBatch = {
  type: 'timings',
  source: '6f1c2c0a-5a0e-4c1e-9d8e-0f6f5d1c2b3a',
  seq: 2,
  topOrigin: null,
  startedMs: 1,
  controlled: false,
  entries: [entry],
};
const sender: Sender = {
  tabId: 1,
  frameId: 0,
  documentId: 'A',
  url: 'https://a.test/',
  tabUrl: 'https://a.test/',
  incognito: false,
};
const left: LeftBatches = { sender, batches: [batch, { ...batch, seq: 3 }] };

function areaOf(items: Record<string, unknown> = {}) {
  const held = new Map(Object.entries(items));
  return {
    held,
    get: async (keys: string[] | null) =>
      Object.fromEntries([...held].filter(([key]) => keys === null || keys.includes(key))),
    set: async (more: Record<string, unknown>) => {
      for (const [key, value] of Object.entries(more)) held.set(key, value);
    },
    remove: async (keys: string | string[]) => {
      for (const key of [keys].flat()) held.delete(key);
    },
  };
}

test('what was left is recorded with its sender, and then deleted; other keys stay', async () => {
  const area = areaOf({ other: 1 });
  assert.equal(await keepLeft(area, left), 'left:A');
  const recorded: [number, string][] = [];
  await takeLeft(area, async ({ seq }, { documentId }) => void recorded.push([seq, documentId]));
  assert.deepEqual(recorded, [
    [2, 'A'],
    [3, 'A'],
  ]);
  assert.deepEqual([...area.held.keys()], ['other']);
});

test('addresses are stored as origins', async () => {
  const area = areaOf();
  const url = 'https://a.test/account?token=1#x';
  await keepLeft(area, { ...left, sender: { ...sender, url, tabUrl: url } });
  await keepLeft(area, { ...left, sender: { ...sender, documentId: 'B', url: 'about:blank', tabUrl: null } });
  const kept = [...area.held.values()].map((each) => (each as LeftBatches).sender);
  assert.deepEqual(
    kept.map((each) => [each.url, each.tabUrl]),
    [
      ['https://a.test', 'https://a.test'],
      ['null', null],
    ],
  );
});

test('what could not be recorded is kept for the next background', async () => {
  const area = areaOf();
  await keepLeft(area, left);
  await assert.rejects(takeLeft(area, () => Promise.reject(new Error('storage is full'))));
  assert.deepEqual([...area.held.keys()], ['left:A']);
});

test('only the requested part of what has just been left is taken', async () => {
  const area = areaOf();
  await keepLeft(area, left);
  await keepLeft(area, { ...left, sender: { ...sender, documentId: 'B' } });
  const recorded: string[] = [];
  await takeLeft(area, async (_, { documentId }) => void recorded.push(documentId), ['left:B', 'left:C']);
  assert.deepEqual([recorded, [...area.held.keys()]], [['B', 'B'], ['left:A']]);
});

test('a document that leaves repeatedly has one slot, and no page takes all the space', async () => {
  const area = areaOf({ 'page:1': {} });
  for (let times = 0; times < 50; times += 1) await keepLeft(area, left);
  assert.deepEqual([...area.held.keys()], ['page:1', 'left:A']);
  for (let each = 0; each < 50; each += 1)
    await keepLeft(area, { ...left, sender: { ...sender, documentId: `D${each}` } });
  assert.equal(area.held.size, 1 + 16);
  assert.ok(area.held.has('page:1') && area.held.has('left:D49'));
});

test('of a document that leaves more than fits, the newest batches are kept', async () => {
  const area = areaOf();
  const entries = Array.from({ length: 400 }, () => entry);
  const many = Array.from({ length: 32 }, (_, i) => ({ ...batch, seq: i + 1, entries }));
  await keepLeft(area, { sender, batches: many });
  const kept = area.held.get('left:A') as LeftBatches;
  assert.ok(JSON.stringify(kept).length < 300_000);
  assert.equal(kept.batches.at(-1)?.seq, 32);
});
