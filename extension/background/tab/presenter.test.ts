import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import type { PageView } from '../../common/messages.ts';
import { withDelta } from '../../common/page/delta.ts';
import { applyBatch, newPage, type Page } from '../../common/page/model.ts';
import { emptyRecord } from '../../common/records/fold.ts';
import { aRace, observation, racedOnce } from '../../testing/samples.ts';
import { Presenter, type PresenterDeps, type Watcher } from './presenter.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;
const failures: unknown[][] = [];
console.error = (...words) => void failures.push(words);
afterEach(() => assert.deepEqual(failures.splice(0), [], 'every tab could be drawn'));

const turn = () => new Promise((resolve) => setImmediate(resolve));

function recorded(documentId: string, protocol: 'h2' | 'h3' = 'h2', tabId = 1): Page {
  const page = newPage({ documentId, tabId, origin: A, site: 'a.test', startedMs: 0, begunMs: 0 });
  return applyBatch(page, 'x:1', [observation({ id: documentId, kind: 'navigation', protocol })], null).page;
}

/** A watcher like the popup, with every view it displayed and every event it received. */
function watcher() {
  const views: PageView[] = [];
  const events: Parameters<Watcher>[0][] = [];
  const tell: Watcher = (event) => {
    events.push(event);
    if (event.type === 'page') views.push(event.page);
    else views.push(withDelta(views.at(-1) as PageView, event.delta));
  };
  return { tell, views, events };
}

function testbed(more: Partial<PresenterDeps> = {}) {
  const tabs = new Map<number, Page>();
  const timers: (() => void)[] = [];
  const buttons: string[] = [];
  const presenter = new Presenter({
    ledger: { recordsOf: async () => new Map(), newestRaces: async () => new Map() },
    shown: (tabId) => tabs.get(tabId),
    documentOf: async () => null,
    helperState: () => ({ state: 'missing' }),
    mode: () => 'full',
    trouble: () => null,
    pending: () => 0,
    steer: null,
    setToolbar: async (tabId, protocol, verdict) => void buttons.push(`${tabId} ${protocol} ${verdict}`),
    resetToolbar: async (tabId) => void buttons.push(`${tabId} reset`),
    later: (_delayMs, run) => void timers.push(run),
    ...more,
  });
  /** Advances time until everything that was due is drawn. */
  const settle = async () => {
    for (const run of timers.splice(0)) run();
    await turn();
  };
  return { presenter, tabs, timers, buttons, settle };
}

test('a watcher learns how many responses are not counted yet', async () => {
  const { presenter, tabs, settle } = testbed({ pending: ({ documentId }) => (documentId === 'd' ? 2 : 0) });
  tabs.set(1, recorded('d'));
  const { tell, views } = watcher();
  presenter.watch(1, tell);
  await settle();
  assert.deepEqual(
    views.map(({ pending }) => pending),
    views.map(() => 2),
  );
  assert.ok(views.length > 0);
});

test('a burst of changes is drawn once', async () => {
  const { presenter, tabs, timers, buttons, settle } = testbed();
  tabs.set(1, recorded('d'));
  for (let i = 0; i < 50; i += 1) presenter.refresh(1);
  assert.equal(timers.length, 1);
  await settle();
  assert.equal(buttons.length, 1);
  assert.match(buttons[0] ?? '', /^1 h2 Reached over HTTP\/2/);
});

test('the button is set again for a new document, as browsers reset it, and otherwise only for changes', async () => {
  const { presenter, tabs, buttons, settle } = testbed();
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
  const cached = newPage({ documentId: 'f', tabId: 1, origin: A, site: 'a.test', startedMs: 0, begunMs: 0 });
  await draw(applyBatch(cached, 'x:1', [observation({ origin: B })], null).page);
  assert.equal(buttons.at(-1), '1 unknown null', 'only others have answered');
});

test('a page that has reported nothing yet is looked up only if it is watched', async () => {
  let lookUps = 0;
  const { presenter, tabs, buttons, settle } = testbed({
    ledger: {
      recordsOf: async () => {
        lookUps += 1;
        return new Map();
      },
      newestRaces: async () => new Map(),
    },
    documentOf: async () => {
      lookUps += 1;
      return null;
    },
  });
  presenter.refresh(2);
  tabs.set(1, newPage({ documentId: 'd', tabId: 1, origin: A, site: 'a.test', startedMs: 0, begunMs: 0 }));
  presenter.refresh(1);
  await settle();
  assert.equal(lookUps, 0);
  const { tell, views } = watcher();
  presenter.watch(1, tell);
  await turn();
  assert.deepEqual([lookUps, views.at(-1)?.complete, views.at(-1)?.state], [2, true, 'loading']);
  assert.deepEqual(buttons, []);
});

test('a page restored after one without a record gets its button back', async () => {
  const { presenter, tabs, buttons, settle } = testbed();
  for (const page of [recorded('d'), undefined, recorded('d')]) {
    if (page) tabs.set(1, page);
    else tabs.delete(1);
    presenter.refresh(1);
    await settle();
  }
  assert.equal(buttons.length, 2);
  tabs.delete(1);
  presenter.refresh(1);
  await settle();
  tabs.set(1, recorded('d'));
  const { tell, views } = watcher();
  presenter.watch(1, tell);
  assert.equal(views[0]?.complete, false, 'what the ledger had about it is asked for again');
});

test('of a deleted page nothing stays on the button, and the same page gets it back', async () => {
  const { presenter, tabs, buttons, settle } = testbed();
  const { tell, views } = watcher();
  tabs.set(1, recorded('d'));
  presenter.watch(1, tell);
  await turn();
  tabs.delete(1);
  presenter.forget([1]);
  assert.equal(buttons.at(-1), '1 reset');
  await settle();
  assert.deepEqual([views.at(-1)?.state, views.at(-1)?.verdict], ['browser-page', null]);
  tabs.set(1, recorded('d'));
  presenter.refresh(1);
  await settle();
  assert.match(buttons.at(-1) ?? '', /^1 h2 /);
  presenter.forget([1]);
  const again = watcher();
  presenter.watch(1, again.tell);
  assert.equal(again.views[0]?.complete, false);
  await settle();
  assert.match(buttons.at(-1) ?? '', /^1 h2 /, 'restored before it was drawn without a page');
});

test('a page restored after one that had not reported yet gets its button back', async () => {
  const { presenter, tabs, buttons, settle } = testbed();
  const unreported = newPage({
    documentId: 'e',
    tabId: 1,
    origin: A,
    site: 'a.test',
    startedMs: 0,
    begunMs: 0,
  });
  for (const page of [recorded('d'), unreported, recorded('d')]) {
    tabs.set(1, page);
    presenter.refresh(1);
    await settle();
  }
  assert.equal(buttons.length, 2);
});

test('a tab opened before Photofinish, or none at all, has a view too', async () => {
  const { tell, views } = watcher();
  const { presenter } = testbed();
  presenter.watch(-1, tell);
  await turn();
  assert.equal(views[0]?.state, 'browser-page');
});

test('every view says how requests are observed at present', async () => {
  const { tell, views } = watcher();
  const { presenter, tabs } = testbed({ mode: () => 'light' });
  presenter.watch(1, tell);
  await turn();
  tabs.set(2, recorded('d', 'h3', 2));
  presenter.watch(2, tell);
  assert.deepEqual(
    views.map(({ mode, protocol }) => [mode, protocol]),
    [
      ['light', 'unknown'],
      ['light', 'h3'],
    ],
  );
});

test('a failing storage costs the history, not the page in view, and is reported', async () => {
  const { tell, views } = watcher();
  const broken = async () => {
    throw new DOMException('', 'VersionError');
  };
  const { presenter, tabs, buttons } = testbed({ ledger: { recordsOf: broken, newestRaces: broken } });
  tabs.set(1, recorded('d', 'h3'));
  presenter.watch(1, tell);
  await turn();
  assert.equal(views.at(-1)?.protocol, 'h3');
  assert.equal(views.at(-1)?.complete, true);
  assert.match(views.at(-1)?.trouble ?? '', /VersionError/);
  assert.equal(buttons.length, 1);
});

test('a watcher receives the view at once, from memory, and then what the ledger adds', async () => {
  const record = { ...emptyRecord(A, 'a.test', 5), navigations: { ...NO_REQUESTS, h2: 3 } };
  const { presenter, tabs } = testbed({
    ledger: {
      recordsOf: async () => new Map([[A, record]]),
      newestRaces: async () => new Map([[A, racedOnce(aRace())]]),
    },
  });
  tabs.set(1, recorded('d'));
  const { tell, views, events } = watcher();
  presenter.watch(1, tell);
  assert.deepEqual([views.length, views[0]?.protocol, views[0]?.complete], [1, 'h2', false]);
  await turn();
  assert.deepEqual([views.at(-1)?.complete, views.at(-1)?.visits?.navigations.h2], [true, 3]);
  assert.equal(views.at(-1)?.origins[0]?.race?.summary.gainMs, 21);
  assert.deepEqual(
    events.map((event) => event.type),
    ['page', 'page-delta'],
  );
});

test('what the toolbar read from the ledger is in the popup’s first view', async () => {
  const { presenter, tabs, settle } = testbed({
    ledger: { recordsOf: async () => new Map(), newestRaces: async () => new Map([[A, racedOnce(aRace())]]) },
  });
  tabs.set(1, recorded('d'));
  presenter.refresh(1);
  await settle();
  const { tell, views } = watcher();
  presenter.watch(1, tell);
  assert.deepEqual([views[0]?.complete, views[0]?.origins[0]?.race?.summary.gainMs], [true, 21]);
  tabs.set(1, recorded('e'));
  const other = watcher();
  presenter.watch(1, other.tell);
  assert.equal(other.views[0]?.complete, false, 'another document was not asked for');
});

test('a watcher receives only changes; a new one receives the whole view', async () => {
  const { presenter, tabs, settle } = testbed();
  const page = recorded('d');
  tabs.set(1, page);
  const one = watcher();
  presenter.watch(1, one.tell);
  await turn();
  const before = one.events.length;
  presenter.refresh(1);
  await settle();
  assert.equal(one.events.length, before, 'nothing changed');
  const hidden = observation({ id: 'd2', origin: B, protocol: 'h2' });
  tabs.set(1, applyBatch(page, 'x:2', [hidden], null).page);
  presenter.refresh(1);
  await settle();
  const last = one.events.at(-1);
  assert.ok(last?.type === 'page-delta');
  assert.deepEqual(
    last.delta.changed.map((view) => view.origin),
    [B],
  );
  const two = watcher();
  presenter.watch(1, two.tell);
  assert.deepEqual([two.events[0]?.type, two.views[0]], ['page', one.views.at(-1)]);
});

test('a page for which the ledger took too long is not drawn over its successor', async () => {
  let answer = (): void => {};
  const slow = () =>
    new Promise<Map<Origin, never>>((resolve) => {
      answer = () => resolve(new Map<Origin, never>());
    });
  const { presenter, tabs } = testbed({ ledger: { recordsOf: slow, newestRaces: async () => new Map() } });
  tabs.set(1, recorded('d'));
  const { tell, views } = watcher();
  presenter.watch(1, tell);
  tabs.set(1, recorded('e', 'h3'));
  answer();
  await turn();
  assert.equal(views.length, 1);
});

test('what a tab without a page shows is not drawn over the page that follows, nor for nobody', async () => {
  const answers: (() => void)[] = [];
  const documentOf = () => new Promise<null>((resolve) => answers.push(() => resolve(null)));
  const { presenter, tabs } = testbed({ documentOf });
  const { tell, events } = watcher();
  presenter.watch(1, tell);
  presenter.watch(2, tell)();
  tabs.set(1, recorded('d'));
  for (const answer of answers) answer();
  await turn();
  assert.deepEqual([answers.length, events], [2, []]);
});

test('a page that failed shows the race since then, and a failing storage is reported', async () => {
  for (const broken of [false, true]) {
    const newestRaces = async () => {
      if (broken) throw new DOMException('', 'VersionError');
      return new Map([[A, racedOnce(aRace())]]);
    };
    const { presenter } = testbed({
      ledger: { recordsOf: async () => new Map(), newestRaces },
      documentOf: async () => ({
        documentId: 'd',
        url: `${A}/`,
        failed: true,
        failure: null,
        withheld: null,
      }),
    });
    const { tell, views } = watcher();
    presenter.watch(1, tell);
    await turn();
    const [view] = views;
    assert.deepEqual(
      [view?.state, view?.complete, view?.origins[0]?.race?.summary.gainMs, view?.helper, view?.mode],
      ['failed', !broken, broken ? undefined : 21, { state: 'missing' }, 'full'],
    );
    assert.equal(/VersionError/.test(view?.trouble ?? ''), broken);
  }
});

test('the toolbar needs the history of the page’s own origin, a watcher that of all it uses', async () => {
  const asked: unknown[] = [];
  const { presenter, tabs, settle } = testbed({
    ledger: {
      recordsOf: async (origins) => {
        asked.push(origins);
        return new Map();
      },
      newestRaces: async () => new Map(),
    },
    pending: () => asked.push('pending'),
  });
  tabs.set(1, applyBatch(recorded('d'), 'x:2', [observation({ origin: B })], null).page);
  presenter.refresh(1);
  await settle();
  assert.deepEqual(asked.splice(0), [[A]]);
  presenter.watch(1, () => {});
  await turn();
  assert.deepEqual(asked, ['pending', [A, B], 'pending']);
});

test('a newer race is shown, and the views of origins without one are not made again', async () => {
  let races = [aRace(), aRace({ origin: B })];
  const { presenter, tabs, settle } = testbed({
    ledger: {
      recordsOf: async () => new Map(),
      newestRaces: async () => new Map(structuredClone(races).map((race) => [race.origin, racedOnce(race)])),
    },
  });
  tabs.set(1, applyBatch(recorded('d'), 'x:2', [observation({ origin: B })], null).page);
  presenter.watch(1, () => {});
  await turn();
  const origins = () => {
    const { tell, views } = watcher();
    presenter.watch(1, tell)();
    return views[0]?.origins ?? [];
  };
  const before = origins();
  races = [aRace({ atMs: 99 }), aRace({ origin: B })];
  presenter.refresh(1);
  await settle();
  const after = origins();
  assert.deepEqual([after[0]?.race?.atMs, after.length], [99, 2]);
  assert.equal(after[1], before[1]);
});

test('a page that may not be recorded says so instead of loading forever', async () => {
  const { presenter, tabs, settle } = testbed({
    documentOf: async () => ({
      documentId: 'd',
      url: 'https://a.test/',
      failed: false,
      failure: null,
      withheld: 'no-access',
    }),
  });
  tabs.set(1, newPage({ documentId: 'd', tabId: 1, origin: A, site: 'a.test', startedMs: 0, begunMs: 0 }));
  const { tell, views } = watcher();
  presenter.watch(1, tell);
  assert.equal(views[0]?.state, 'loading');
  await turn();
  assert.equal(views.at(-1)?.state, 'no-access');
  tabs.set(1, recorded('d'));
  presenter.refreshWatched();
  await settle();
  assert.equal(views.at(-1)?.state, 'recorded', 'it was recorded while it was allowed');
});

test('the source view of a page, of which only the request was seen, is distinguished from the page', async () => {
  const { presenter, tabs } = testbed({
    documentOf: async () => ({
      documentId: 'd',
      url: 'view-source:https://a.test/',
      failed: false,
      failure: null,
      withheld: null,
    }),
  });
  const missed = observation({ id: 'd', kind: 'navigation', protocol: 'unknown', reason: 'missed' });
  const page = newPage({ documentId: 'd', tabId: 1, origin: A, site: 'a.test', startedMs: 0, begunMs: 0 });
  tabs.set(1, applyBatch(page, 'x:1', [missed], null).page);
  const { tell, views } = watcher();
  presenter.watch(1, tell);
  await turn();
  await turn();
  const { state, origin, origins, verdict } = views.at(-1) as PageView;
  assert.deepEqual([state, origin, origins, verdict], ['source', A, [], null]);
});

test('every watcher of a tab is updated after changes, until it ends', async () => {
  const { presenter, tabs, settle, timers } = testbed();
  const seen: string[] = [];
  const endOne = presenter.watch(1, () => seen.push('one'));
  const endTwo = presenter.watch(1, () => seen.push('two'));
  await turn();
  assert.deepEqual(seen, ['one', 'two'], 'once each, although both were drawn twice');
  tabs.set(1, recorded('d'));
  presenter.refreshWatched();
  await settle();
  assert.deepEqual(seen, ['one', 'two', 'one', 'two']);
  endOne();
  tabs.set(1, recorded('d', 'h3'));
  presenter.refreshWatched();
  await settle();
  assert.deepEqual(seen.at(-1), 'two');
  assert.equal(seen.length, 5);
  endTwo();
  presenter.refreshWatched();
  assert.equal(timers.length, 0);
});
