// Untrusted input about requests: a content script's batches come from a renderer that a page may have compromised.
// What pages leave behind is recorded once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputs, mutatedJson } from '@photofinish/shared/testing/hostile';
import fc from 'fast-check';
import * as v from 'valibot';
import {
  arrivedSchema,
  leftSchema,
  MAX_BATCH_ENTRIES,
  MAX_URL_CHARS,
  type TimingAck,
  type TimingBatch,
  timingBatchSchema,
} from '../../common/timing.ts';
import '../../testing/catalogs.ts';
import { troubleText } from '../../ledger/database.ts';
import { BATCH, TIMING } from '../../testing/samples.ts';
import { type BatchQueueDeps, keepLeft, type LeftBatches, openBatchQueue, takeLeft } from './batch-queue.ts';
import type { Sender } from './recordable.ts';
import { SETTLE_MS } from './requests.ts';

/** As an older version left it, without the fields that were added since. */
const timing = {
  navigation: true,
  url: 'https://a.test/',
  alpn: 'h3',
  deliveryType: '',
  startMs: 0,
  endMs: 9,
  firstByteMs: 5,
  transferBytes: 300,
  bodyBytes: 100,
  worker: false,
  opaque: false,
};
const batch = {
  ...BATCH,
  topOrigin: 'https://a.test',
  startedMs: 1_700_000_000_000,
  entries: [timing, { ...timing, navigation: false, url: 'https://b.test/x?y' }],
};
const BATCHES = [
  batch,
  { type: 'left', batches: [batch, { ...batch, seq: 2 }] },
  { ...batch, entries: Array(MAX_BATCH_ENTRIES).fill(timing) },
  { type: 'arrived', source: batch.source, arrival: 'bfcache' },
];

test('whatever a page sends as a batch, accepted ones are within all bounds', () => {
  assert.ok(
    v.is(timingBatchSchema, batch) && v.is(leftSchema, BATCHES[1]) && v.is(arrivedSchema, BATCHES[3]),
  );
  fc.assert(
    fc.property(mutatedJson(BATCHES), (value) => {
      v.is(leftSchema, value);
      v.is(arrivedSchema, value);
      const read = v.safeParse(timingBatchSchema, value);
      if (!read.success) return;
      assert.ok(read.output.entries.length >= 1 && read.output.entries.length <= MAX_BATCH_ENTRIES);
      for (const { url, startMs, endMs, transferBytes } of read.output.entries) {
        assert.ok(url.startsWith('https://') && url.length <= MAX_URL_CHARS);
        assert.ok([startMs, endMs, transferBytes].every((number) => number >= 0 && Number.isFinite(number)));
      }
    }),
    inputs(5000),
  );
});

test('of too many timings none is read, and of invalid ones only the first', (t) => {
  const listeners: ((message: unknown, from: object, respond: () => void) => void)[] = [];
  const runtime = { id: 'ours', onMessage: { addListener: (listen: never) => listeners.push(listen) } };
  Object.assign(globalThis, { chrome: { runtime } });
  t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
  openBatchQueue({} as BatchQueueDeps);
  const from = { id: 'ours', tab: { id: 1 }, frameId: 0, documentId: 'A', url: sender.url };
  let read = 0;
  const counting = Object.defineProperty({}, 'navigation', { get: () => (read += 1) });
  for (const [length, expected] of [
    [MAX_BATCH_ENTRIES + 1, 0],
    [MAX_BATCH_ENTRIES, 1],
  ] as const) {
    const many = { ...batch, entries: Array(length).fill(counting) };
    for (const message of [many, { type: 'left', batches: [many] }]) {
      read = 0;
      for (const listen of listeners) listen(message, from, () => {});
      assert.equal(read, expected);
    }
  }
});

test('what a page dates later than tomorrow has happened by now', () => {
  const laterMs = 9e15;
  const early = v.parse(timingBatchSchema, batch);
  assert.deepEqual([early.startedMs, early.entries[0]?.endMs], [batch.startedMs, timing.endMs]);
  const dated = { ...timing, startMs: laterMs, endMs: laterMs, firstByteMs: laterMs };
  const late = v.parse(timingBatchSchema, { ...batch, startedMs: laterMs, entries: [dated] });
  const [entry] = late.entries;
  for (const atMs of [late.startedMs, entry?.startMs, entry?.endMs, entry?.firstByteMs])
    assert.ok(atMs !== undefined && atMs <= Date.now());
});

const sender: Sender = {
  tabId: 1,
  frameId: 0,
  documentId: 'A',
  url: 'https://a.test/',
  tabUrl: 'https://a.test/',
  incognito: false,
};
const left: LeftBatches = { sender, batches: [BATCH, { ...BATCH, seq: 2 }] };

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
    [1, 'A'],
    [2, 'A'],
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
  const entries = Array.from({ length: 400 }, () => TIMING);
  const many = Array.from({ length: 32 }, (_, i) => ({ ...BATCH, seq: i + 1, entries }));
  await keepLeft(area, { sender, batches: many });
  const kept = area.held.get('left:A') as LeftBatches;
  assert.ok(JSON.stringify(kept).length < 300_000);
  assert.equal(kept.batches.at(-1)?.seq, 32);
});

test('what was left waits for its own message, while an earlier batch is being stored', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const listeners: ((message: unknown, from: object, respond: () => void) => void)[] = [];
  const runtime = { id: 'ours', onMessage: { addListener: (listen: never) => listeners.push(listen) } };
  Object.assign(globalThis, { chrome: { runtime, storage: { session: areaOf() } } });
  t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
  const stored = Promise.withResolvers<void>();
  const order: string[] = [];
  let arrivals = 0;
  openBatchQueue({
    recorder: async () => ({
      requestsReported: async () => true,
      record: async ({ seq }: TimingBatch) => {
        order.push(`message ${seq}`);
        if (seq === 1) await stored.promise;
      },
      recordLeft: async ({ seq }: TimingBatch) => order.push(`left ${seq}`),
    }),
    knownDocuments: async () => ({ hasAccess: async () => true }),
    recordable: { batchArrived: () => arrivals++, mayRecord: () => true },
    completed: async (batch: TimingBatch) => batch,
    onTrouble: () => {},
  } as unknown as BatchQueueDeps);
  const from = { id: 'ours', tab: { id: 1 }, frameId: 0, documentId: 'A', url: sender.url };
  const messages = [BATCH, { ...BATCH, seq: 2 }, { type: 'left', batches: [{ ...BATCH, seq: 2 }] }];
  for (const message of messages) for (const listen of listeners) listen(message, from, () => {});
  await settled();
  t.mock.timers.tick(5000);
  await settled();
  assert.deepEqual(order, ['message 1']);
  stored.resolve();
  await settled();
  assert.deepEqual(order, ['message 1', 'message 2', 'left 2']);
  assert.equal(arrivals, 2, 'what was left says nothing about tabs');
});

test('a page or frame that may not be recorded, or not any more, is told to stop', async (t) => {
  type Listener = (message: unknown, from: object, respond: (ack: TimingAck | null) => void) => void;
  const listeners: Listener[] = [];
  const runtime = { id: 'ours', onMessage: { addListener: (listen: Listener) => listeners.push(listen) } };
  Object.assign(globalThis, { chrome: { runtime } });
  t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
  const recorded: number[] = [];
  const withdrawn = new Set<string>();
  const excluded = new Set<string>();
  let reported = async () => true;
  openBatchQueue({
    recorder: async () => ({
      requestsReported: () => reported(),
      record: async ({ seq }: TimingBatch) => void recorded.push(seq),
    }),
    knownDocuments: async () => ({
      hasAccess: async (_: number, url: string) => !withdrawn.has(new URL(url).origin),
      isPage: (documentId: string) => documentId === 'A',
      pageOrigin: () => new URL(sender.url).origin,
    }),
    recordable: {
      batchArrived: () => {},
      mayRecord: ({ pageUrl }: { pageUrl: string }) => !excluded.has(new URL(pageUrl).origin),
    },
    completed: async (batch: TimingBatch) => batch,
    onTrouble: () => {},
  } as unknown as BatchQueueDeps);
  const from = { id: 'ours', tab: { id: 1, url: sender.url }, frameId: 0, documentId: 'A', url: sender.url };
  const acknowledged = (seq: number, sent: object = from, topOrigin: string | null = null) =>
    new Promise((resolve) => {
      for (const listen of listeners) listen({ ...BATCH, seq, topOrigin }, sent, resolve);
    });
  const frame = { ...from, frameId: 2, documentId: 'F', url: 'https://frame.test/' };
  const { origin } = new URL(sender.url);
  assert.deepEqual(await acknowledged(1), { ack: 1 });
  assert.deepEqual(await acknowledged(2, frame, origin), { ack: 2 });
  withdrawn.add('https://frame.test');
  assert.deepEqual(await acknowledged(3, frame, origin), { ack: 3, stop: true });
  assert.deepEqual(await acknowledged(4), { ack: 4 });
  withdrawn.clear();
  withdrawn.add(origin);
  assert.deepEqual(await acknowledged(5), { ack: 5, stop: true });
  assert.deepEqual(await acknowledged(6, frame, origin), { ack: 6, stop: true });
  withdrawn.clear();
  assert.deepEqual(await acknowledged(7, from, origin), { ack: 7, stop: true }, 'no page is in another');
  excluded.add(origin);
  assert.deepEqual(await acknowledged(8), { ack: 8, stop: true });
  assert.deepEqual(await acknowledged(9, frame, origin), { ack: 9, stop: true });
  excluded.clear();
  reported = async () => false;
  assert.deepEqual(await acknowledged(10), { ack: 10 });
  reported = async () => excluded.add(origin).has(origin);
  assert.deepEqual(await acknowledged(11), { ack: 11, stop: true }, 'excluded while it waited');
  assert.deepEqual(recorded, [1, 2, 4]);
});

test('requests that no page reported and that cannot be stored are a trouble, until they can', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(console, 'error', () => {});
  const runtime = { id: 'ours', onMessage: { addListener: () => {} } };
  Object.assign(globalThis, { chrome: { runtime } });
  t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
  const full = new DOMException('full', 'QuotaExceededError');
  const troubles: (string | null)[] = [];
  let isFull = true;
  const queue = openBatchQueue({
    recorder: async () => ({ recordMissed: () => (isFull ? Promise.reject(full) : Promise.resolve()) }),
    table: { size: 0 },
    onTrouble: (text: string | null) => troubles.push(text),
  } as unknown as BatchQueueDeps);
  const sweep = async () => {
    queue.sweepSoon();
    t.mock.timers.tick(SETTLE_MS);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await sweep();
  isFull = false;
  await sweep();
  assert.deepEqual(troubles, [troubleText(full), null]);
});
