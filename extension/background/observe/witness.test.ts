import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Witness } from './witness.ts';

/** One session of the browser; each call starts a background in it. */
function browserSession() {
  const stored: Record<string, unknown> = {};
  const area = {
    get: async () => ({ ...stored }),
    set: async (items: Record<string, unknown>) => void Object.assign(stored, items),
    remove: async (key: string) => void delete stored[key],
  };
  return (startedMs: number, nowMs = startedMs) => {
    const modes: string[] = [];
    const witness = new Witness({
      area,
      startedMs,
      nowMs: () => nowMs,
      onChange: () => modes.push(witness.mode),
    });
    return { witness, modes };
  };
}

test('without an event it is light, whatever is granted: nothing was seen to be missing', async () => {
  const { witness } = browserSession()(1000);
  await witness.recall();
  assert.deepEqual([witness.mode, witness.sinceMs], ['light', Number.POSITIVE_INFINITY]);
});

test('the first event begins full mode from then on, and later ones change nothing', () => {
  const { witness, modes } = browserSession()(1000, 1500);
  witness.saw();
  witness.saw();
  assert.deepEqual([witness.mode, witness.sinceMs, modes], ['full', 1500, ['full']]);
});

test('the next background sees everything from its start, because events wake it', async () => {
  const start = browserSession();
  start(1000, 1500).witness.saw();
  const { witness } = start(9000);
  await witness.recall();
  assert.deepEqual([witness.mode, witness.sinceMs], ['full', 9000]);
});

test('an event that came before the storage was read is not taken back by it', async () => {
  const start = browserSession();
  start(1000).witness.saw();
  const { witness, modes } = start(2000, 2010);
  witness.saw();
  await witness.recall();
  assert.deepEqual([witness.sinceMs, modes], [2010, ['full']]);
});

test('once the permission is given up it is light again, also for the next background', async () => {
  const start = browserSession();
  const { witness, modes } = start(1000);
  witness.saw();
  witness.lost();
  assert.deepEqual([witness.mode, modes], ['light', ['full', 'light']]);
  const { witness: next } = start(2000);
  await next.recall();
  assert.equal(next.mode, 'light');
});
