import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { applyBatch } from '../../common/page/model.ts';
import { observation } from '../../testing/samples.ts';
import { createTabs, loadSavedMap, Pages, type TabDeps } from './pages.ts';
import type { FailedNavigation } from './view.ts';

async function testbed() {
  const stored = new Map<string, unknown>();
  const area = {
    get: async () => Object.fromEntries(stored),
    set: async (items: Record<string, unknown>) => {
      for (const [key, value] of Object.entries(items)) stored.set(key, value);
    },
    remove: async (keys: string[]) => {
      for (const key of keys) stored.delete(key);
    },
  };
  const changed: string[] = [];
  const pages = new Pages(
    await loadSavedMap(area, 'page:'),
    await loadSavedMap(area, 'shown:'),
    ({ documentId }) => changed.push(documentId),
  );
  const show = (documentId: string, tabId: number, url: string) => {
    pages.commit({ documentId, tabId, url, startedMs: 1, begunMs: 1 });
    pages.show(tabId, documentId);
  };
  return { pages, stored, changed, show };
}

test('forgotten pages are removed from memory and from session storage', async () => {
  const { pages, stored, show } = await testbed();
  show('a1', 1, 'https://a.test/');
  show('b', 1, 'https://b.test/');
  show('a2', 2, 'https://www.a.test/');
  assert.deepEqual(
    pages.forget(({ site }) => site === 'a.test'),
    [2],
    'tab 1 shows another page by now',
  );
  await pages.saved();
  assert.deepEqual([pages.get('a1'), pages.shown(2)], [undefined, undefined]);
  assert.equal(pages.shown(1)?.documentId, 'b');
  assert.deepEqual([...stored.keys()].toSorted(), ['page:b', 'shown:1']);
});

test('of an origin that is forgotten, pages keep neither row nor counts', async () => {
  const { pages, changed, show } = await testbed();
  show('a', 1, 'https://a.test/');
  show('b', 2, 'https://b.test/');
  const [a, b] = [pages.get('a'), pages.get('b')];
  assert.ok(a && b);
  const tracker = 'https://tracker.test' as Origin;
  pages.update(applyBatch(a, '1', [observation(), observation({ origin: tracker })], null).page);
  changed.length = 0;
  pages.forgetOrigins((origin) => origin === tracker);
  const { counts, origins } = pages.get('a') ?? assert.fail();
  assert.deepEqual([counts.h3, Object.keys(origins)], [1, ['https://a.test']]);
  assert.deepEqual([pages.get('b'), changed], [b, ['a']]);
});

test('clearing forgets every page and names the tabs that showed one', async () => {
  const { pages, stored, show } = await testbed();
  show('a', 1, 'https://a.test/');
  show('b', 1, 'https://b.test/');
  show('c', 2, 'https://c.test/');
  pages.commitFrame('frame', 'c');
  assert.deepEqual(pages.clear(), [1, 2]);
  await pages.saved();
  assert.deepEqual([pages.shown(1), stored.size], [undefined, 0]);
  show('c', 2, 'https://c.test/');
  assert.equal(pages.of('frame'), undefined);
});

test('a tab is drawn for what it shows: a page restored from memory or prerendered, or none', async () => {
  const { pages, changed, show } = await testbed();
  show('a', 1, 'https://a.test/');
  show('b', 1, 'https://b.test/');
  const before = pages.get('a');
  changed.length = 0;
  pages.arrived(1, 'unknown', 'bfcache');
  assert.deepEqual([pages.shown(1)?.documentId, changed], ['b', []]);
  pages.arrived(1, 'a', 'bfcache');
  assert.deepEqual(pages.shown(1), { ...before, arrival: 'bfcache' });
  changed.length = 0;
  pages.arrived(1, 'a', 'bfcache');
  assert.deepEqual(changed, ['a']);
  pages.show(1, 'b');
  pages.show(1, 'b');
  assert.deepEqual(changed, ['a', 'b']);
  pages.show(1, null);
  assert.deepEqual([pages.shown(1), changed], [undefined, ['a', 'b']]);
});

test('a restored document is the same page as before', async () => {
  const { pages, show } = await testbed();
  show('a', 1, 'https://a.test/');
  const before = pages.shown(1);
  show('b', 1, 'https://b.test/');
  show('a', 1, 'https://a.test/');
  assert.equal(pages.shown(1), before);
});

test('with more tabs in view than pages are kept beyond them, a page just committed stays', async () => {
  const { pages, show } = await testbed();
  for (let tabId = 0; tabId < 120; tabId += 1) show(`shown${tabId}`, tabId, 'https://a.test/');
  pages.commit({ documentId: 'next', tabId: 0, url: 'https://b.test/', startedMs: 1, begunMs: 1 });
  assert.ok(pages.get('next'));
  for (let tabId = 0; tabId < 120; tabId += 1) assert.ok(pages.shown(tabId));
});

test('of the pages not in view the oldest are forgotten, however many are in view', async () => {
  const { pages, stored, show } = await testbed();
  for (let tabId = 0; tabId < 20; tabId += 1) show(`shown${tabId}`, tabId, 'https://a.test/');
  for (let i = 0; i < 150; i += 1)
    pages.commit({ documentId: `left${i}`, tabId: 0, url: 'https://a.test/', startedMs: 1, begunMs: 1 });
  await pages.saved();
  assert.equal([...stored.keys()].filter((key) => key.startsWith('page:left')).length, 101);
  assert.deepEqual([pages.get('left48'), pages.get('left49')?.documentId], [undefined, 'left49']);
  assert.ok(pages.shown(19));
});

test('a closed tab gets no page any more, and the others keep theirs', async () => {
  const { pages, stored, show } = await testbed();
  show('a', 1, 'https://a.test/');
  show('b', 2, 'https://b.test/');
  pages.removeTab(1);
  show('a', 1, 'https://a.test/');
  await pages.saved();
  assert.deepEqual([pages.get('a'), pages.shown(1)], [undefined, undefined]);
  assert.deepEqual([...stored.keys()].toSorted(), ['page:b', 'shown:2']);
});

test('a frame belongs to the outermost document above it', async () => {
  const { pages, show } = await testbed();
  show('a', 1, 'https://a.test/');
  pages.commitFrame('frame', 'a');
  pages.commitFrame('within', 'frame');
  assert.equal(pages.of('within')?.documentId, 'a');
});

test('of frames and closed tabs only the newest are remembered', async () => {
  const { pages, show } = await testbed();
  show('a', 1, 'https://a.test/');
  for (let i = 0; i <= 5000; i += 1) pages.commitFrame(`frame${i}`, 'a');
  assert.deepEqual([pages.of('frame0'), pages.of('frame1')?.documentId], [undefined, 'a']);
  for (let tabId = 2; tabId <= 1002; tabId += 1) pages.removeTab(tabId);
  for (const tabId of [2, 3]) show(`tab${tabId}`, tabId, 'https://b.test/');
  assert.deepEqual([pages.shown(2)?.documentId, pages.shown(3)], ['tab2', undefined]);
});

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
  const map = await loadSavedMap<number>(area({ 'n:a': '1', 'm:b': '2' }), 'n:');
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
    [{ 'n:a': '2', 'n:b': '3' }],
  );
  map.set('a', 4);
  map.set('a', 5);
  await turn();
  assert.equal(storage.writes.length, 1, 'the first is still in flight');
  storage.writes[0]?.done();
  await turn();
  assert.deepEqual(storage.writes[1]?.items, { 'n:a': '5' });
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
  assert.deepEqual(storage.stored, { 'n:a': '1' });
});

test('deleted keys are removed', async () => {
  const storage = area({ 'n:a': '1' });
  const map = await loadSavedMap<number>(storage, 'n:');
  map.delete('a');
  await map.saved();
  assert.deepEqual(storage.stored, {});
});

test('where a full storage refuses a value, the older one is removed', async () => {
  const storage = area({ 'n:a': '1', 'n:b': '2' });
  const set = () => Promise.reject(new Error('QUOTA_BYTES'));
  const map = await loadSavedMap<number>({ ...storage, set }, 'n:');
  map.set('a', 3);
  await assert.rejects(map.saved());
  assert.deepEqual([storage.stored, map.get('a')], [{ 'n:b': '2' }, 3]);
});

test('a page from before the click that let the extension into its tab is not one without access', async (t) => {
  const permissions = { contains: async () => false };
  const webNavigation = { getFrame: async () => ({ documentId: 'd', url: 'https://a.test/' }) };
  let visible: string | undefined;
  const tabs = { get: async () => ({ status: 'complete', url: visible, incognito: false }) };
  Object.assign(globalThis, { chrome: { permissions, tabs, webNavigation } });
  t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
  const recordable = { refusal: () => null } as unknown as TabDeps['recordable'];
  const { shownDocument } = createTabs({ recordable, forecaster: { commit: () => null } });
  const failures = await loadSavedMap<FailedNavigation>(
    { get: async () => ({}), set: async () => {}, remove: async () => {} },
    'failed:',
  );
  assert.equal((await shownDocument(1, failures))?.withheld, 'no-access');
  visible = 'https://a.test/';
  assert.equal((await shownDocument(1, failures))?.withheld, null);
});
