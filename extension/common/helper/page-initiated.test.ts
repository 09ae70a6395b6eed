import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGestures, createPageInitiated, loadPageInitiated } from './page-initiated.ts';

const HOUR_MS = 3_600_000;

function areaOf() {
  let items: Record<string, unknown> = {};
  return {
    get: async () => items,
    set: async (more: Record<string, unknown>) => {
      items = { ...items, ...more };
    },
  };
}

test('a page that navigates by itself gets one race an hour, whatever names it uses', async () => {
  const area = areaOf();
  const may = createPageInitiated(area);
  const asked = await Promise.all(
    Array.from({ length: 30 }, (_, i) => may({ tabId: 1, site: `evil${i}.test`, atMs: i })),
  );
  assert.deepEqual(asked.filter(Boolean), [true]);
  assert.equal((await loadPageInitiated(area)).heldBack, 29);
  assert.equal(await may({ tabId: 1, site: 'later.test', atMs: HOUR_MS }), true);
});

test('one site gets one race an hour, in any number of tabs, across restarts of the background', async () => {
  const area = areaOf();
  assert.equal(await createPageInitiated(area)({ tabId: 1, site: 'evil.test', atMs: 0 }), true);
  assert.equal(await createPageInitiated(area)({ tabId: 2, site: 'evil.test', atMs: 1 }), false);
  assert.equal(await createPageInitiated(area)({ tabId: 3, site: 'other.test', atMs: 2 }), true);
});

test('a touch counts for one navigation of its tab, and for tabs opened meanwhile', () => {
  let nowMs = 0;
  const gestures = createGestures(() => nowMs);
  gestures.begun(1);
  assert.equal(gestures.had(1), false);
  nowMs += 5000;
  gestures.touch(1);
  gestures.opened(2, 1);
  gestures.opened(3, undefined);
  for (const tabId of [1, 2, 3]) gestures.begun(tabId);
  assert.deepEqual([gestures.had(1), gestures.had(2), gestures.had(3)], [true, true, false]);
  gestures.begun(1);
  assert.equal(gestures.had(1), false, 'the page that came next has not been touched');
  nowMs += 50;
  gestures.touch(1);
  assert.equal(gestures.had(1), true, 'the word of the click came after that of its navigation');
  gestures.begun(1);
  nowMs += 50;
  gestures.committed(1);
  gestures.touch(1);
  assert.equal(gestures.had(1), false, 'that is of the page in view');
  gestures.begun(1);
  assert.equal(gestures.had(1), true);
});
