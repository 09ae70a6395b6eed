import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forecast } from '@photofinish/shared/port/wire';
import type { ObservationMode } from '@photofinish/shared/web/observation';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import type { InspectedRequest } from '../../common/inspected-request.ts';
import { type Page, withForecasts } from '../../common/page/model.ts';
import type { Timing, TimingBatch } from '../../common/timing.ts';
import type { Batch } from '../../ledger/writing.ts';
import { BATCH, ENDED_REQUEST, INSPECTED_REQUEST, TIMING } from '../../testing/samples.ts';
import { loadSavedMap, Pages } from '../tab/pages.ts';
import { type BackfilledObservation, createDevtoolsFeed } from './devtools.ts';
import { Recorder, type RecorderDeps } from './recorder.ts';
import { type EndedRequest, RequestTable, SETTLE_MS } from './requests.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const sender = { tabId: 1, documentId: 'doc', url: 'https://www.a.test/page' };

const timing: Timing = { ...TIMING, navigation: true, url: 'https://www.a.test/page', alpn: 'h2' };
const batch: TimingBatch = { ...BATCH, entries: [timing] };
const request: EndedRequest = {
  ...ENDED_REQUEST,
  id: '7',
  documentId: null,
  kind: 'navigation',
  firstUrl: timing.url,
  url: timing.url,
};

async function testbed(mayRecord: RecorderDeps['mayRecord'] = () => true) {
  const storage = { get: async () => ({}), set: async () => {}, remove: async () => {} };
  const pages = new Pages(await loadSavedMap(storage, 'p:'), await loadSavedMap(storage, 's:'), () => {});
  const table = new RequestTable();
  const recorded: Batch[] = [];
  const observing: { mode: ObservationMode; proxied: boolean | null } = { mode: 'full', proxied: null };
  const fail = { next: false };
  const keys = new Set<string>();
  const devtoolsFeed = createDevtoolsFeed((tabId) => tabId === 1);
  const backfilled: BackfilledObservation[] = [];
  const later: (() => void)[] = [];
  const reported: number[] = [];
  const navigated: string[] = [];
  const time = { nowMs: 20_000 };
  const recorder = new Recorder({
    table,
    pages,
    fullSinceMs: () => 0,
    network: () => 'home',
    proxied: () => observing.proxied,
    mode: () => observing.mode,
    nowMs: () => time.nowMs,
    later: (delayMs, run) =>
      void later.push(() => {
        time.nowMs += delayMs;
        run();
      }),
    mayRecord,
    onRecorded: (some) => void reported.push(some.length),
    onNavigation: ({ url }) => void navigated.push(url),
    devtoolsFeed,
    onBackfill: (some) => void backfilled.push(...some),
    ledger: {
      record: async (given) => {
        if (fail.next) {
          fail.next = false;
          throw new Error('the disk is full');
        }
        if (given.key !== null && keys.has(given.key)) return false;
        if (given.key !== null) keys.add(given.key);
        recorded.push(given);
        return true;
      },
    },
  });
  const seen = { recorded, reported, navigated, backfilled };
  return { pages, table, recorder, observing, fail, devtoolsFeed, later, time, ...seen };
}

test('both halves of a request become one observation of the page', async () => {
  const { pages, table, recorded, recorder } = await testbed();
  table.add(request);
  await recorder.record(batch, sender);
  const [o] = recorded[0]?.observations ?? [];
  assert.deepEqual([o?.site, o?.kind, o?.protocol, o?.altSvc], ['a.test', 'navigation', 'h2', 'h3=":443"']);
  assert.deepEqual([pages.shown(1)?.counts.h2, pages.shown(1)?.firstByteAtMs], [1, 1005]);
});

test('after a failure the same batch yields the same observations, joined as before', async () => {
  const { table, recorded, recorder, fail, pages } = await testbed();
  table.add(request);
  fail.next = true;
  await assert.rejects(recorder.record(batch, sender), /disk is full/);
  await recorder.record(batch, sender);
  assert.equal(recorded[0]?.observations[0]?.altSvc, 'h3=":443"');
  assert.equal(pages.shown(1)?.counts.h2, 1);
});

test('a batch sent again takes no request of a later timing', async () => {
  const { table, recorded, recorder } = await testbed();
  const image = { ...timing, navigation: false };
  const stored = { ...request, kind: 'resource', documentId: 'doc' } as const;
  table.add(stored);
  await recorder.record({ ...batch, entries: [image] }, sender);
  table.add({ ...stored, id: '8', revalidated: true });
  await recorder.record({ ...batch, entries: [image] }, sender);
  await recorder.record({ ...batch, seq: 2, entries: [image] }, sender);
  assert.deepEqual([recorded[1]?.observations[0]?.reason, recorded.length], ['revalidated', 2]);
});

test('what is new in the ledger is reported once, and a navigation over the network by itself', async () => {
  const { table, recorder, reported, navigated } = await testbed();
  await recorder.recordLeft(batch, sender.url);
  await recorder.record(batch, sender);
  await recorder.recordLeft(batch, sender.url);
  assert.deepEqual([reported, navigated], [[1], []]);
  const image = { ...timing, navigation: false };
  await recorder.record({ ...batch, seq: 2, entries: [timing, image] }, sender);
  await recorder.record({ ...batch, seq: 3, entries: [{ ...timing, transferBytes: 0 }] }, sender);
  const url = 'https://b.test/x';
  table.add({ ...request, kind: 'resource', firstUrl: url, url, atMs: 0 });
  await recorder.recordMissed();
  assert.deepEqual([reported, navigated], [[1, 2, 1, 1], [timing.url]]);
});

test('a batch that its document left behind belongs to its site, and is joined if it was before', async () => {
  const { table, recorded, recorder, fail } = await testbed();
  await recorder.recordLeft({ ...batch, topOrigin: 'https://top.test' }, sender.url);
  await recorder.recordLeft({ ...batch, seq: 2 }, 'about:blank');
  table.add(request);
  fail.next = true;
  await assert.rejects(recorder.record({ ...batch, seq: 3 }, sender), /disk is full/);
  await recorder.recordLeft({ ...batch, seq: 3 }, sender.url);
  assert.deepEqual(
    recorded.map(({ observations: [o] }) => [o?.site, o?.kind, o?.altSvc]),
    [
      ['top.test', 'resource', undefined],
      ['a.test', 'navigation', 'h3=":443"'],
    ],
  );
});

test('every batch says how it was observed', async () => {
  const { table, recorded, recorder, observing } = await testbed();
  await recorder.record(batch, sender);
  observing.mode = 'light';
  await recorder.recordLeft({ ...batch, seq: 2 }, sender.url);
  table.add({ ...request, kind: 'resource', url: 'https://b.test/x', atMs: 0 });
  await recorder.recordMissed();
  assert.deepEqual(
    recorded.map(({ mode }) => mode),
    ['full', 'light', 'light'],
  );
});

test('for a report everything that waits is recorded, after the time that timings take', async () => {
  const { pages, table, recorded, recorder, later } = await testbed();
  await recorder.record(batch, sender);
  const script = { ...ENDED_REQUEST, url: 'https://b.test/x', firstUrl: 'https://b.test/x', atMs: 19_000 };
  table.add({ ...script, documentId: sender.documentId });
  table.add({ ...script, id: '9', documentId: 'gone', tabId: -1 });
  assert.equal(recorder.pendingOf(pages.shown(1) as Page), 1);
  const settled = recorder.settle();
  let steps = 0;
  for (; later.length > 0; steps += 1) {
    assert.equal(recorded.length, 1);
    later.pop()?.();
    await turn();
  }
  await settled;
  assert.equal(steps, 30);
  assert.equal(recorded[1]?.observations.length, 2);
  assert.equal(recorder.pendingOf(pages.shown(1) as Page), 0);
  assert.equal(pages.shown(1)?.counts.unknown, 1);
});

test('a batch with two requests for one URL waits for both, and is part of a report that is made meanwhile', async () => {
  const { recorder, table, later } = await testbed();
  const late = { usuallyMs: 300, mostMs: 3000 };
  const recent = { ...timing, navigation: false, startMs: 19_700, endMs: 19_900 };
  const one = { ...request, kind: 'resource' as const, documentId: 'doc' };
  const states: string[] = [];
  table.add(one);
  const both = { ...batch, entries: [recent, recent] };
  const reported = recorder.requestsReported(both, sender, late).then(async () => {
    states.push('reported');
    await recorder.record(both, sender);
  });
  const settled = recorder.settle().then(() => states.push('settled'));
  for (let step = 0; step < 10; step += 1) {
    await turn();
    for (const run of later.splice(0)) run();
  }
  assert.deepEqual(states, []);
  table.add({ ...one, id: '8' });
  while (states.length < 2) {
    await turn();
    for (const run of later.splice(0)) run();
  }
  await Promise.all([reported, settled]);
  assert.deepEqual(states, ['reported', 'settled']);
});

test('a batch that waits when everything is deleted is not recorded', async () => {
  const { recorder, table, later } = await testbed();
  const recent = { ...batch, entries: [{ ...timing, startMs: 19_700, endMs: 19_900 }] };
  const reported = recorder.requestsReported(recent, sender, { usuallyMs: 300, mostMs: 3000 });
  table.add({ ...request, id: '8' });
  recorder.forget();
  assert.equal(table.size, 0);
  table.add(request);
  await turn();
  for (const run of later.splice(0)) run();
  assert.equal(await reported, false);
});

test('for a report no failed request is dropped, whose timing may still come', async () => {
  const { recorder, table, recorded } = await testbed();
  table.add({ ...request, kind: 'resource', documentId: 'doc', answered: false });
  await recorder.settle();
  assert.deepEqual([recorded, table.size], [[], 1]);
});

test('for a report no redirect is waited for, and nothing if nothing waits', async () => {
  const { table, recorded, recorder, later } = await testbed();
  await recorder.settle();
  table.add({ ...ENDED_REQUEST, hop: true, atMs: 19_000 });
  await recorder.settle();
  assert.deepEqual([recorded.length, later.length], [1, 0]);
});

test('what an excluded site answered on another site’s page is not recorded, however it was reported', async () => {
  const isRefused = 'https://tracker.test';
  const { table, recorded, recorder, pages } = await testbed(({ origin }) => origin !== isRefused);
  const pixel = { ...TIMING, url: 'https://tracker.test/pixel' };
  const redirected = { ...TIMING, url: 'https://b.test/to-tracker' };
  table.add(request);
  table.add({ ...ENDED_REQUEST, id: '8', firstUrl: pixel.url, url: pixel.url });
  table.add({ ...ENDED_REQUEST, id: '9', firstUrl: redirected.url, url: pixel.url });
  table.add({ ...ENDED_REQUEST, id: '10', firstUrl: `${pixel.url}2`, url: `${pixel.url}2`, atMs: 0 });
  await recorder.record({ ...batch, entries: [timing, pixel, redirected] }, sender);
  await recorder.recordLeft({ ...batch, seq: 2, entries: [pixel] }, sender.url);
  await recorder.recordMissed();
  const origins = recorded.flatMap(({ observations }) => observations.map(({ origin }) => origin));
  assert.deepEqual(origins, ['https://www.a.test']);
  assert.deepEqual(Object.keys(pages.shown(1)?.origins ?? {}), ['https://www.a.test']);
  assert.equal(pages.shown(1)?.counts.h3, 0);
});

test('a batch waits for requests whose events are late, and no longer than they may be', async () => {
  const excluded = originOfUrl('https://never.test/')?.origin;
  const { recorder, table, later, fail, time } = await testbed(({ origin }) => origin !== excluded);
  const LATE = { usuallyMs: 300, mostMs: 3000 };
  const recent = { ...timing, startMs: 19_700, endMs: 19_900 };
  const pauses = async (entry: Timing, late = LATE, each: (count: number) => void = () => {}) => {
    time.nowMs = 20_000;
    let done = false;
    const reported = recorder.requestsReported({ ...batch, entries: [entry] }, sender, late).then(() => {
      done = true;
    });
    let count = 0;
    for (await turn(); !done; await turn()) {
      count += 1;
      each(count);
      later.shift()?.();
    }
    await reported;
    return count;
  };
  const whole = 1 + (LATE.mostMs - LATE.usuallyMs) / 100;
  assert.equal(await pauses(recent), whole);
  assert.equal(await pauses({ ...recent, endMs: 30_000 }), whole, 'whatever the page says of its clock');
  assert.equal(await pauses({ ...recent, endMs: 17_000 }), 0, 'it has been long enough already');
  assert.equal(await pauses({ ...recent, transferBytes: 0 }), 1, 'a stored copy may have no event');
  assert.equal(await pauses({ ...recent, alpn: '' }), 1, 'what hides its protocol may be a stored copy');
  assert.equal(await pauses({ ...recent, worker: true }), 1, 'a service worker may have answered');
  assert.equal(await pauses({ ...recent, startMs: -1 }), 1, 'its event was before this background');
  assert.equal(await pauses({ ...recent, url: 'https://never.test/' }), 1, 'its event is not recorded');
  assert.equal(
    await pauses(recent, { usuallyMs: 0, mostMs: 0 }),
    0,
    'in a browser whose events are never late',
  );
  const arriving = await pauses(recent, LATE, (count) => {
    if (count === 5) table.add(request);
  });
  assert.equal(arriving, 5);
  assert.equal(await pauses(recent), 1, 'it is there');
  fail.next = true;
  await assert.rejects(recorder.record({ ...batch, entries: [recent] }, sender), /disk is full/);
  assert.equal(await pauses(recent), 0, 'it was found before the batch could not be stored');
});

test('in light mode no entry waits for a request that no event will report', async () => {
  const { table, recorder, observing } = await testbed();
  observing.mode = 'light';
  await recorder.record({ ...batch, entries: [TIMING] }, sender);
  table.add({ ...ENDED_REQUEST, atMs: 1005 });
  assert.equal(table.size, 1);
});

test('a frame’s batch belongs to its page’s site and page', async () => {
  const { pages, recorded, recorder } = await testbed();
  await recorder.record(batch, sender);
  pages.commitFrame('frame', 'doc');
  await recorder.record(
    {
      ...batch,
      source: '00000000-0000-4000-8000-000000000001',
      topOrigin: 'https://www.a.test',
      entries: [{ ...timing, url: 'https://ad.test/' }],
    },
    { tabId: 1, documentId: 'frame', url: 'https://ad.test/' },
  );
  const [o] = recorded[1]?.observations ?? [];
  assert.deepEqual([o?.origin, o?.site, o?.kind], ['https://ad.test', 'a.test', 'resource']);
  assert.equal(pages.shown(1)?.counts.h2, 2);
});

test('an answer without a timing is recorded once, on its page', async () => {
  const { pages, table, recorded, recorder } = await testbed();
  await recorder.record(batch, sender);
  const resource = { ...request, kind: 'resource', documentId: 'doc', atMs: 20_000 - SETTLE_MS } as const;
  table.add(resource);
  await recorder.recordMissed();
  await recorder.recordMissed();
  assert.equal(recorded.length, 2);
  assert.deepEqual([recorded[1]?.observations[0]?.reason, pages.shown(1)?.counts.unknown], ['missed', 1]);
});

test('an answer whose event arrives after its hidden timing still counts as network', async () => {
  const { pages, table, recorded, recorder } = await testbed();
  const url = 'https://hidden.test/a.js';
  const hidden = {
    ...timing,
    navigation: false,
    url,
    alpn: '',
    opaque: true,
    transferBytes: 0,
    bodyBytes: 0,
  };
  await recorder.record({ ...batch, entries: [timing, hidden] }, sender);
  assert.equal(recorded[0]?.observations[1]?.delivery, 'http-cache', 'as a stored copy looks');
  const late = { firstUrl: url, url, kind: 'resource', documentId: 'doc', protocol: 'h3', atMs: 0 } as const;
  table.add({ ...request, ...late });
  await recorder.recordMissed();
  assert.deepEqual([recorded[1]?.observations[0]?.protocol, pages.shown(1)?.counts.h3], ['h3', 1]);
});

test('an answer that takes long and whose event arrives after its timing is counted once', async () => {
  const { table, recorder } = await testbed();
  const slow = { ...timing, navigation: false, firstByteMs: 1005, endMs: 1400 };
  await recorder.record({ ...batch, entries: [slow] }, sender);
  table.add({ ...request, kind: 'resource', documentId: 'doc', atMs: 1401 });
  assert.equal(table.size, 0);
});

test('a page requested and never shown was not a navigation', async () => {
  const { pages, table, recorded, recorder } = await testbed();
  table.add({ ...request, atMs: 0 });
  await recorder.recordMissed();
  assert.equal(recorded[0]?.observations[0]?.kind, 'resource');
  pages.commit({ documentId: 'silent', tabId: 1, url: timing.url, startedMs: 0, begunMs: 0 });
  pages.show(1, 'silent');
  table.add({ ...request, atMs: 0 });
  await recorder.recordMissed();
  assert.equal(recorded[1]?.observations[0]?.kind, 'navigation');
  assert.equal(pages.shown(1)?.delivery, 'network');
});

test('a worker’s own request belongs to the site of its initiator', async () => {
  const { table, recorded, recorder } = await testbed();
  const own = { ...request, tabId: -1, kind: 'resource', initiator: 'https://www.b.test', atMs: 0 } as const;
  table.add(own);
  await recorder.recordMissed();
  assert.equal(recorded[0]?.observations[0]?.site, 'b.test');
});

test('missed answers that could not be stored are stored the next time', async () => {
  const { table, recorded, recorder, fail } = await testbed();
  table.add({ ...request, atMs: 0 });
  fail.next = true;
  await assert.rejects(recorder.recordMissed());
  await recorder.recordMissed();
  assert.equal(recorded[0]?.observations.length, 1);
});

test('missed answers are counted once, however often they are asked for while storage is slow', async () => {
  const { table, recorded, recorder } = await testbed();
  table.add({ ...request, atMs: 0 });
  const first = recorder.recordMissed();
  table.add({ ...request, id: '8', url: 'https://www.a.test/other', atMs: 0 });
  await Promise.all([first, recorder.recordMissed()]);
  await recorder.recordMissed();
  const urls = recorded.flatMap(({ observations }) => observations.map(({ id }) => id));
  assert.deepEqual(urls, ['missed:7:0', 'missed:8:0']);
});

test('what is due while another recording is under way is recorded after it', async () => {
  const { table, recorded, recorder } = await testbed();
  table.add({ ...request, atMs: 0 });
  const first = recorder.recordMissed();
  table.add({ ...request, id: '8', url: 'https://www.a.test/other', atMs: 0 });
  await Promise.all([first, recorder.recordDue()]);
  const ids = recorded.flatMap(({ observations }) => observations.map(({ id }) => id));
  assert.deepEqual(ids, ['missed:7:0', 'missed:8:0']);
});

test('what waits is pending only if it will be counted', async () => {
  for (const [isRecorded, pending] of [
    [true, 1],
    [false, 0],
  ] as const) {
    const { pages, table, recorder } = await testbed(() => isRecorded);
    pages.commit({ ...sender, startedMs: 1000, begunMs: 900 });
    pages.show(1, sender.documentId);
    const script = { ...ENDED_REQUEST, url: 'https://b.test/x', firstUrl: 'https://b.test/x' };
    table.add({ ...script, documentId: sender.documentId });
    assert.equal(recorder.pendingOf(pages.shown(1) as Page), pending);
  }
});

test('a batch that comes when its tab shows the next page is counted and leaves that page in view', async () => {
  const { pages, recorded, recorder } = await testbed();
  pages.commit({ ...sender, startedMs: 1000, begunMs: 900 });
  pages.commit({ ...sender, documentId: 'next', startedMs: 2000, begunMs: 1900 });
  pages.show(1, 'next');
  await recorder.record(batch, sender);
  assert.equal(recorded.length, 1);
  assert.equal(pages.get('doc')?.counts.h2, 1);
  assert.equal(pages.shown(1)?.documentId, 'next');
});

test('a batch that comes after its tab was closed is counted, and leaves no page behind', async () => {
  const { pages, recorded, recorder } = await testbed();
  pages.removeTab(1);
  await recorder.record(batch, sender);
  assert.deepEqual(
    recorded.map(({ observations, pageBegunMs }) => [observations[0]?.protocol, pageBegunMs]),
    [['h2', null]],
  );
  assert.deepEqual([pages.get('doc'), pages.shown(1)], [undefined, undefined]);
});

test('frames inside pages that are not visits are not recorded', async () => {
  const { recorded, recorder } = await testbed();
  await recorder.record({ ...batch, topOrigin: 'chrome-extension://abc' }, sender);
  assert.equal(recorded.length, 0);
});

test('what may not be recorded is dropped, even if no page reported it', async () => {
  const { table, recorded, recorder } = await testbed(() => false);
  table.add({ ...request, atMs: 0 });
  await recorder.recordMissed();
  assert.deepEqual([recorded.length, table.size], [0, 0]);
});

test('a page that never reports still decides its forecast if its answer names its protocol', async () => {
  const { pages, table, recorded, recorder } = await testbed();
  const page = pages.commit({ documentId: 'pdf', tabId: 1, url: timing.url, startedMs: 0, begunMs: 0 });
  assert.ok(page);
  const origin = page.origin;
  const forecast: Forecast = {
    origin,
    reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
    expected: { protocol: 'h3', basis: 'observed' },
    hit: true,
  };
  pages.update(withForecasts(page, [forecast], 5));
  pages.show(1, 'pdf');
  table.add({ ...request, protocol: 'h3', atMs: 1010 });
  await recorder.recordMissed();
  assert.deepEqual(recorded[0]?.scores, [{ origin, site: 'a.test', right: true }]);
  assert.equal(pages.shown(1)?.counts.h3, 1);
});

/** A resource of another origin that hides its timing, redirected, and what the developer tools report about it. */
const elsewhere = { navigation: false, url: 'https://b.test/go', alpn: '', transferBytes: 0, opaque: true };
const hiddenBatch: TimingBatch = { ...batch, seq: 2, entries: [{ ...timing, ...elsewhere }] };
const hiddenRequest: EndedRequest = {
  ...request,
  id: '8',
  kind: 'resource',
  documentId: 'doc',
  firstUrl: elsewhere.url,
  url: 'https://cdn.b.test/x',
};
const inspected: InspectedRequest = { ...INSPECTED_REQUEST, url: hiddenRequest.url, startMs: 1000 };

test('what the developer tools reported before is recorded with its protocol', async () => {
  const { recorded, recorder, table, devtoolsFeed } = await testbed();
  devtoolsFeed.reported(1, [inspected]);
  table.add(hiddenRequest);
  await recorder.record(hiddenBatch, sender);
  const [o] = recorded[0]?.observations ?? [];
  assert.deepEqual([o?.origin, o?.protocol, o?.reason], ['https://cdn.b.test', 'h3', undefined]);
});

test('what they report later is added to the observation and to its page', async () => {
  const { recorder, table, devtoolsFeed } = await testbed();
  await recorder.record(batch, sender);
  table.add(hiddenRequest);
  await recorder.record(hiddenBatch, sender);
  const [found] = devtoolsFeed.reported(1, [inspected]);
  assert.deepEqual([found?.documentId, found?.protocol, found?.observation.site], ['doc', 'h3', 'a.test']);
});

test('what they report while a batch is being stored is backfilled after it', async () => {
  const { recorder, table, devtoolsFeed, fail, backfilled } = await testbed();
  table.add(hiddenRequest);
  fail.next = true;
  await assert.rejects(recorder.record(hiddenBatch, sender));
  devtoolsFeed.reported(1, [inspected]);
  await recorder.record(hiddenBatch, sender);
  assert.deepEqual(
    backfilled.map(({ observation, protocol }) => [observation.protocol, protocol]),
    [['unknown', 'h3']],
  );
});

test('answers that no timing reported get their protocol from the tools, too', async () => {
  const { recorded, recorder, table, devtoolsFeed } = await testbed();
  devtoolsFeed.reported(1, [inspected]);
  table.add({ ...hiddenRequest, atMs: 20_000 - SETTLE_MS });
  await recorder.recordMissed();
  assert.equal(recorded[0]?.observations[0]?.protocol, 'h3');
});

test('a batch says whether its answers came through a proxy: of the request, or as set for the browser', async () => {
  const proxiedAs = async (set: boolean | null, ofRequest?: boolean) => {
    const { recorded, recorder, table, observing } = await testbed();
    observing.proxied = set;
    table.add({ ...request, ...(ofRequest !== undefined && { proxied: ofRequest }) });
    await recorder.record(batch, sender);
    return recorded[0]?.proxied?.get('https://www.a.test' as Origin);
  };
  assert.equal(await proxiedAs(null), undefined, 'nobody says');
  for (const proxied of [true, false]) {
    assert.equal(await proxiedAs(null, proxied), proxied);
    assert.equal(await proxiedAs(proxied), proxied);
  }
  const both = await testbed();
  for (const proxied of [true, false]) both.table.add({ ...request, id: String(proxied), proxied });
  await both.recorder.record({ ...batch, entries: [timing, timing] }, sender);
  assert.deepEqual([...(both.recorded[0]?.proxied ?? [])], [['https://www.a.test', true]]);
  const { recorded, recorder, table, observing } = await testbed();
  observing.proxied = true;
  table.add({ ...request, atMs: 20_000 - SETTLE_MS });
  await recorder.recordMissed();
  assert.deepEqual([...(recorded[0]?.proxied ?? [])], [['https://www.a.test', true]]);
});
