import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import {
  type DevtoolsMessage,
  type InspectedEvent,
  type InspectedRequest,
  MAX_INSPECTED_AT_ONCE,
} from '../../common/inspected-request.ts';
import { DAY_MS } from '../../common/records/schema.ts';
import { INSPECTED_REQUEST, pagePort } from '../../testing/samples.ts';
import { backfillsOf, createDevtoolsFeed, createInspection, type RecordedObservation } from './devtools.ts';

const request: InspectedRequest = { ...INSPECTED_REQUEST, url: 'https://a.test/' };

function testbed(refused: readonly number[] = [], excluded = new Set<Origin>()) {
  const told: [number, readonly InspectedRequest[]][] = [];
  const closed: number[] = [];
  const inspection = createInspection({
    inOrder: (run) => run(),
    mayRecord: (tabId, origin) => !refused.includes(tabId) && (origin === undefined || !excluded.has(origin)),
    onRequests: (tabId, requests) => void told.push([tabId, requests]),
    onClosed: (tabId) => void closed.push(tabId),
  });
  const { port, send, close } = pagePort();
  inspection.accept(port);
  return {
    inspection,
    told,
    closed,
    say: (word: DevtoolsMessage) => send(word),
    send,
    close,
  };
}

function watched({ inspection }: ReturnType<typeof testbed>, tabId: number): InspectedEvent[] {
  const events: InspectedEvent[] = [];
  inspection.watch(tabId, (event) => events.push(event));
  return events;
}

test('a watcher receives existing requests, new ones, and that the tools closed', () => {
  const tools = testbed();
  tools.say({ type: 'begin', tabId: 3 });
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: false });
  const events = watched(tools, 3);
  tools.say({ type: 'requests', tabId: 3, requests: [request, request], again: false });
  tools.say({ type: 'begin', tabId: 3 });
  tools.close();
  assert.deepEqual(
    events.map(({ requests, anew, inspected }) => [requests.length, anew, inspected]),
    [
      [1, true, true],
      [2, false, true],
      [0, true, true],
      [0, true, false],
    ],
  );
  assert.deepEqual(tools.closed, [3]);
  assert.equal(tools.inspection.isInspected(3), false);
});

test('requests reported before fill the list and are not passed on again', () => {
  const tools = testbed();
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: true });
  assert.deepEqual(tools.told, []);
  assert.equal(watched(tools, 3)[0]?.requests.length, 1);
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: false });
  assert.deepEqual(tools.told, [[3, [request]]]);
});

test('of an excluded site nothing is listed or passed on, nor what was listed before it was excluded', () => {
  const excluded = new Set(['https://tracker.test' as Origin]);
  const tools = testbed([], excluded);
  const pixel = { ...request, url: 'https://tracker.test/pixel' };
  tools.say({ type: 'begin', tabId: 3 });
  tools.say({ type: 'requests', tabId: 3, requests: [pixel], again: false });
  tools.say({ type: 'requests', tabId: 3, requests: [request, pixel], again: false });
  assert.deepEqual(tools.told, [[3, [request]]]);
  const events = watched(tools, 3);
  excluded.add('https://a.test' as Origin);
  tools.inspection.reconsider();
  assert.deepEqual(
    events.map(({ requests, anew }) => [requests, anew]),
    [
      [[request], true],
      [[], true],
    ],
  );
});

test('nothing is reported for a tab that may not be recorded', () => {
  const tools = testbed([3]);
  tools.say({ type: 'begin', tabId: 3 });
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: false });
  assert.deepEqual([tools.told, watched(tools, 3)[0]?.requests], [[], []]);
});

test('forgetting empties the lists of those tabs, whose tools stay open', () => {
  const tools = testbed();
  for (const tabId of [3, 4]) tools.say({ type: 'requests', tabId, requests: [request], again: false });
  tools.inspection.forget([3, 5]);
  assert.deepEqual(watched(tools, 3)[0], { requests: [], anew: true, inspected: true });
  assert.equal(watched(tools, 4)[0]?.requests.length, 1);
  assert.equal(tools.inspection.isInspected(5), false);
  tools.inspection.forget();
  assert.equal(watched(tools, 4)[0]?.requests.length, 0);
});

test('invalid messages are dropped with a warning', () => {
  const complaints = mock.method(console, 'error', () => {});
  const tools = testbed();
  const tooMany = Array.from({ length: MAX_INSPECTED_AT_ONCE + 1 }, () => request);
  for (const message of [
    null,
    { type: 'requests', tabId: -1, requests: [request], again: false },
    { type: 'requests', tabId: 3, requests: [{ ...request, url: 'http://a.test/' }], again: false },
    { type: 'requests', tabId: 3, requests: [{ ...request, tookMs: Number.NaN }], again: false },
    { type: 'requests', tabId: 3, requests: tooMany, again: false },
  ])
    tools.send(message);
  assert.equal(complaints.mock.callCount(), 5);
  assert.deepEqual(tools.told, []);
  complaints.mock.restore();
});

const URL_A = 'https://a.test/x';
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const hidden: Observation = {
  id: '1',
  origin: 'https://a.test' as Origin,
  site: 'b.test',
  kind: 'resource',
  delivery: 'network',
  atMs: NOW_MS,
  bytes: null,
  protocol: 'unknown',
  reason: 'no-timing-allow-origin',
};
const { reason: _, ...base } = hidden;
const known: Observation = { ...base, protocol: 'h2' };
const recorded: RecordedObservation = { tabId: 1, url: URL_A, documentId: 'd', observation: hidden };
const inspected: InspectedRequest = { ...INSPECTED_REQUEST, url: URL_A, startMs: NOW_MS };

const feedOfTab1 = () => createDevtoolsFeed((tabId) => tabId === 1);

test('reported before: the observation is complete at once, and only the next one waits', () => {
  const devtoolsFeed = feedOfTab1();
  assert.deepEqual(devtoolsFeed.reported(1, [inspected]), []);
  assert.deepEqual(devtoolsFeed.complete(1, URL_A, hidden), { ...base, protocol: 'h3' });
  assert.equal(devtoolsFeed.complete(1, URL_A, hidden), hidden);
});

test('recorded before: what it was is reported once', () => {
  const devtoolsFeed = feedOfTab1();
  assert.deepEqual(devtoolsFeed.recorded([recorded]), []);
  assert.deepEqual(devtoolsFeed.reported(1, [inspected, inspected]), [{ ...recorded, protocol: 'h3' }]);
});

test('reported while it was being recorded', () => {
  const devtoolsFeed = feedOfTab1();
  devtoolsFeed.complete(1, URL_A, hidden);
  devtoolsFeed.reported(1, [inspected]);
  assert.deepEqual(devtoolsFeed.recorded([recorded]), [{ ...recorded, protocol: 'h3' }]);
});

test('what a page may see consumes its own report, and keeps its protocol', () => {
  const devtoolsFeed = feedOfTab1();
  devtoolsFeed.reported(1, [inspected]);
  assert.equal(devtoolsFeed.complete(1, URL_A, known), known);
  assert.equal(devtoolsFeed.complete(1, URL_A, hidden), hidden);
});

test('caches, revalidated copies and preflights are ignored', () => {
  const devtoolsFeed = feedOfTab1();
  devtoolsFeed.reported(1, [
    { ...inspected, method: 'OPTIONS' },
    { ...inspected, protocol: null },
  ]);
  assert.equal(devtoolsFeed.complete(1, URL_A, hidden), hidden);
  devtoolsFeed.reported(1, [inspected]);
  const cached: Observation = { ...hidden, delivery: 'http-cache' };
  const confirmed: Observation = { ...hidden, reason: 'revalidated' };
  assert.equal(devtoolsFeed.complete(1, URL_A, cached), cached);
  assert.equal(devtoolsFeed.complete(1, URL_A, confirmed), confirmed);
  assert.deepEqual(devtoolsFeed.recorded([{ ...recorded, observation: confirmed }]), []);
  assert.deepEqual(devtoolsFeed.reported(1, [inspected]), []);
});

test('other tabs, other addresses and closed tools reveal nothing', () => {
  const devtoolsFeed = feedOfTab1();
  devtoolsFeed.reported(1, [inspected]);
  assert.equal(devtoolsFeed.complete(1, `${URL_A}y`, hidden), hidden);
  assert.equal(devtoolsFeed.complete(2, URL_A, hidden), hidden);
  devtoolsFeed.recorded([{ ...recorded, url: `${URL_A}z` }]);
  devtoolsFeed.forget(1);
  assert.equal(devtoolsFeed.complete(1, URL_A, hidden), hidden);
  assert.deepEqual(devtoolsFeed.reported(1, [{ ...inspected, url: `${URL_A}z` }]), []);
});

test('waiting entries are bounded, and the oldest is dropped', () => {
  const devtoolsFeed = feedOfTab1();
  const many = Array.from({ length: 5001 }, (_, i) => ({ ...inspected, url: `https://a.test/${i}` }));
  devtoolsFeed.reported(1, many);
  assert.equal(devtoolsFeed.complete(1, 'https://a.test/0', hidden), hidden);
  assert.notEqual(devtoolsFeed.complete(1, 'https://a.test/1', hidden), hidden);
});

test('backfills of one kind are combined, day by day', () => {
  const backfilled = { ...recorded, protocol: 'h3' } as const;
  const at = (atMs: number) => ({ ...backfilled, observation: { ...hidden, atMs } });
  const { origin, site, kind } = hidden;
  assert.deepEqual(
    backfillsOf([at(NOW_MS), at(NOW_MS + 5), at(NOW_MS - DAY_MS), { ...backfilled, protocol: 'h2' }]),
    [
      { origin, site, kind, protocol: 'h3', atMs: NOW_MS + 5, count: 2 },
      { origin, site, kind, protocol: 'h3', atMs: NOW_MS - DAY_MS, count: 1 },
      { origin, site, kind, protocol: 'h2', atMs: NOW_MS, count: 1 },
    ],
  );
});
