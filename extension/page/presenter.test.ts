import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '@photofinish/shared/observation';
import type { Origin } from '@photofinish/shared/origin';
import type { PageView } from '../messages.ts';
import { applyBatch, newPage, type Page } from './model.ts';
import { createPresenter, type PresenterDeps } from './presenter.ts';

const A = 'https://a.test' as Origin;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function recorded(documentId: string, protocol: 'h2' | 'h3' = 'h2', tabId = 1): Page {
  const page = newPage({ documentId, tabId, origin: A, site: 'a.test', startedMs: 0 });
  const o: Observation = {
    id: documentId,
    origin: A,
    site: 'a.test',
    kind: 'navigation',
    delivery: 'network',
    atMs: 1,
    bytes: null,
    protocol,
  };
  return applyBatch(page, 'x:1', [o], null).page;
}

function bench(more: Partial<PresenterDeps> = {}) {
  const tabs = new Map<number, Page>();
  const timers: (() => void)[] = [];
  const buttons: string[] = [];
  const presenter = createPresenter({
    ledger: { recordsOf: async () => new Map(), newestRaces: async () => new Map() },
    shown: (tabId) => tabs.get(tabId),
    documentOf: async () => null,
    helperState: () => ({ state: 'missing' }),
    trouble: () => null,
    setToolbar: async (tabId, protocol, title) => void buttons.push(`${tabId} ${protocol} ${title}`),
    later: (_delayMs, run) => void timers.push(run),
    ...more,
  });
  /** Lets the time pass until everything that was due is drawn. */
  const settle = async () => {
    for (const run of timers.splice(0)) run();
    await turn();
  };
  return { presenter, tabs, timers, buttons, settle };
}

test('a burst of changes is drawn once', async () => {
  const { presenter, tabs, timers, buttons, settle } = bench();
  tabs.set(1, recorded('d'));
  for (let i = 0; i < 50; i += 1) presenter.refresh(1);
  assert.equal(timers.length, 1);
  await settle();
  assert.equal(buttons.length, 1);
  assert.match(buttons[0] ?? '', /^1 h2 Reached over HTTP\/2/);
});

test('the button is set anew for a new document, whose tab the browser has cleared, and else only for news', async () => {
  const { presenter, tabs, buttons, settle } = bench();
  const draw = async (page: Page) => {
    tabs.set(1, page);
    presenter.refresh(1);
    await settle();
  };
  await draw(recorded('d'));
  await draw(recorded('d'));
  assert.equal(buttons.length, 1);
  await draw(recorded('e'));
  assert.equal(buttons.length, 2);
  await draw(recorded('e', 'h3'));
  assert.equal(buttons.length, 3);
});

test('a page that comes back after one without a record gets its button back', async () => {
  const { presenter, tabs, buttons, settle } = bench();
  for (const page of [recorded('d'), undefined, recorded('d')]) {
    if (page) tabs.set(1, page);
    else tabs.delete(1);
    presenter.refresh(1);
    await settle();
  }
  assert.equal(buttons.length, 2);
});

test('a tab opened before Photofinish, or none at all, has a view too', async () => {
  const views: PageView[] = [];
  const { presenter } = bench();
  presenter.watch(-1, (view) => views.push(view));
  await turn();
  assert.equal(views[0]?.state, 'browser-page');
});

test('a storage that fails costs the history, not the page in view, and is said', async () => {
  const views: PageView[] = [];
  const broken = async () => {
    throw new DOMException('', 'VersionError');
  };
  const { presenter, tabs, buttons } = bench({ ledger: { recordsOf: broken, newestRaces: broken } });
  tabs.set(1, recorded('d', 'h3'));
  presenter.watch(1, (view) => views.push(view));
  await turn();
  assert.equal(views[0]?.protocol, 'h3');
  assert.match(views[0]?.trouble ?? '', /VersionError/);
  assert.equal(buttons.length, 1);
});

test('whoever watches is drawn at once and after changes, until it ends', async () => {
  const { presenter, tabs, settle, timers } = bench();
  tabs.set(1, recorded('d'));
  const seen: string[] = [];
  const endOne = presenter.watch(1, () => seen.push('one'));
  const endTwo = presenter.watch(1, () => seen.push('two'));
  await turn();
  seen.length = 0;
  presenter.refreshWatched();
  await settle();
  assert.deepEqual(seen, ['one', 'two']);
  endOne();
  presenter.refreshWatched();
  await settle();
  assert.deepEqual(seen, ['one', 'two', 'two']);
  endTwo();
  presenter.refreshWatched();
  assert.equal(timers.length, 0);
});
