import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPages } from './pages.ts';
import { loadSavedMap } from './saved-map.ts';

async function bench() {
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
  const pages = createPages(await loadSavedMap(area, 'page:'), await loadSavedMap(area, 'shown:'), () => {});
  const show = (documentId: string, tabId: number, url: string) => {
    pages.commit({ documentId, tabId, url, startedMs: 1 });
    pages.show(tabId, documentId);
  };
  return { pages, stored, show };
}

test('forgotten pages are removed from memory and from session storage', async () => {
  const { pages, stored, show } = await bench();
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

test('a restored document is the same page as before', async () => {
  const { pages, show } = await bench();
  show('a', 1, 'https://a.test/');
  const before = pages.shown(1);
  show('b', 1, 'https://b.test/');
  show('a', 1, 'https://a.test/');
  assert.equal(pages.shown(1), before);
});

test('a frame belongs to the outermost document above it', async () => {
  const { pages, show } = await bench();
  show('a', 1, 'https://a.test/');
  pages.commitFrame('frame', 'a');
  pages.commitFrame('within', 'frame');
  assert.equal(pages.of('within')?.documentId, 'a');
});
