import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeLeftBatches } from './left.ts';
import type { LeftBatch } from './timing.ts';

const batch: LeftBatch = {
  type: 'timings',
  source: '6f1c2c0a-5a0e-4c1e-9d8e-0f6f5d1c2b3a',
  seq: 2,
  topOrigin: null,
  startedMs: 1,
  controlled: false,
  pageOrigin: 'https://a.test',
  entries: [
    {
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
      opaque: false,
    },
  ],
};

function areaOf(items: Record<string, unknown>) {
  const left = new Map(Object.entries(items));
  return {
    left,
    get: async (keys: string[] | null) =>
      Object.fromEntries([...left].filter(([key]) => keys === null || keys.includes(key))),
    remove: async (key: string) => void left.delete(key),
  };
}

test('a left batch is recorded and then forgotten; other keys stay', async () => {
  const area = areaOf({ 'left:x:2': JSON.stringify(batch), 'left:x:3': { ...batch, seq: 3 }, other: 1 });
  const recorded: LeftBatch[] = [];
  await takeLeftBatches(area, async (b) => void recorded.push(b));
  assert.deepEqual(recorded, [batch, { ...batch, seq: 3 }]);
  assert.deepEqual([...area.left.keys()], ['other']);
});

test('a batch that could not be recorded is kept for the next life', async () => {
  const area = areaOf({ 'left:x:2': batch });
  await assert.rejects(takeLeftBatches(area, () => Promise.reject(new Error('storage is full'))));
  assert.deepEqual([...area.left.keys()], ['left:x:2']);
});

test('what does not fit is forgotten and never recorded', async () => {
  const area = areaOf({
    'left:x:1': { ...batch, pageOrigin: 'http://a.test' },
    'left:x:2': null,
    'left:x:3': '{',
  });
  await takeLeftBatches(area, () => assert.fail('recorded'));
  assert.equal(area.left.size, 0);
});

test('of what has just been left nothing is taken but what is asked for', async () => {
  const area = areaOf({ 'left:x:2': batch, 'left:x:3': { ...batch, seq: 3 } });
  const recorded: number[] = [];
  await takeLeftBatches(area, async ({ seq }) => void recorded.push(seq), ['left:x:2', 'left:gone:1']);
  assert.deepEqual([recorded, [...area.left.keys()]], [[2], ['left:x:3']]);
});
