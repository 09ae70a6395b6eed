import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ObservedMode } from './observed-mode.ts';

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
    const observedMode = new ObservedMode({
      area,
      startedMs,
      nowMs: () => nowMs,
      onChange: () => modes.push(observedMode.mode),
    });
    return { observedMode, modes };
  };
}

test('without an event it is light, whatever is granted: nothing was seen to be missing', async () => {
  const { observedMode } = browserSession()(1000);
  await observedMode.recall();
  assert.deepEqual([observedMode.mode, observedMode.sinceMs], ['light', Number.POSITIVE_INFINITY]);
});

test('the first event begins full mode from then on, and later ones change nothing', () => {
  const { observedMode, modes } = browserSession()(1000, 1500);
  observedMode.eventArrived();
  observedMode.eventArrived();
  assert.deepEqual([observedMode.mode, observedMode.sinceMs, modes], ['full', 1500, ['full']]);
});

test('the next background sees everything from its start, because events wake it', async () => {
  const start = browserSession();
  start(1000, 1500).observedMode.eventArrived();
  const { observedMode } = start(9000);
  await observedMode.recall();
  assert.deepEqual([observedMode.mode, observedMode.sinceMs], ['full', 9000]);
});

test('an event that came before the storage was read is not taken back by it', async () => {
  const start = browserSession();
  start(1000).observedMode.eventArrived();
  const { observedMode, modes } = start(2000, 2010);
  observedMode.eventArrived();
  await observedMode.recall();
  assert.deepEqual([observedMode.sinceMs, modes], [2010, ['full']]);
});

test('once the permission is given up it is light again, also for the next background', async () => {
  const start = browserSession();
  const { observedMode, modes } = start(1000);
  observedMode.eventArrived();
  observedMode.lost();
  assert.deepEqual([observedMode.mode, modes], ['light', ['full', 'light']]);
  const { observedMode: next } = start(2000);
  await next.recall();
  assert.equal(next.mode, 'light');
});
