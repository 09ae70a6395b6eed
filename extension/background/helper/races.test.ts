import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import { NETWORK_CHANGED, WIRE_ERRORS } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Origin } from '@photofinish/shared/web/origin';
import { HelperError } from '../../common/helper/state.ts';
import type { RaceRequest } from '../../common/messages.ts';
import { emptyRecord } from '../../common/records/fold.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../common/settings.ts';
import { aRace, racedOnce } from '../../testing/samples.ts';
import type { DocumentVisit } from '../edition/edition.ts';
import { comparison, type RaceOrder } from './helper.ts';
import { createVisits, Races } from './races.ts';

const origins = Array.from({ length: RACES_AT_ONCE + 2 }, (_, i) => `https://o${i}.test` as Origin);

function testbed() {
  const running = new Map<Origin, { resolve: (race: OriginRace) => void; reject: (e: Error) => void }>();
  const begun: RaceOrder[] = [];
  const done: Origin[] = [];
  const failed: string[] = [];
  const words: string[] = [];
  const alarms: (() => void)[] = [];
  const clock = { nowMs: 1_000_000 };
  let asked: readonly RaceRequest[] = [];
  /** Origins that were listed as racing after their failure was reported. */
  const revived: Origin[] = [];
  const races = new Races({
    race: (order) => {
      const { origin } = order;
      begun.push(order);
      return {
        result: new Promise((resolve, reject) => running.set(origin, { resolve, reject })),
        cancel: () => running.get(origin)?.reject(new HelperError('cancelled', 'cancelled')),
      };
    },
    onProgress: () => {},
    onDone: (race) => done.push(race.origin),
    onFailed: (origin, code, message) => {
      failed.push(`${origin} ${code}`);
      words.push(message);
    },
    onRequestsChanged: (now) => {
      asked = now;
      for (const { origin, state } of now)
        if (state !== 'over' && failed.some((words) => words.startsWith(`${origin} `))) revived.push(origin);
    },
    clock: {
      nowMs: () => clock.nowMs,
      later(delayMs, run) {
        const dueMs = clock.nowMs + delayMs;
        alarms.push(() => {
          clock.nowMs = Math.max(clock.nowMs, dueMs);
          run();
        });
        return () => {};
      },
    },
  });
  const finish = async (origin: Origin) => {
    running.get(origin)?.resolve(aRace({ origin }));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { races, running, begun, done, failed, words, alarms, clock, revived, asked: () => asked, finish };
}

test('no more races at once than the helper’s budget allows; the next follows when one ends', async () => {
  const { races, running, done, finish } = testbed();
  for (const origin of origins) races.start(comparison(origin));
  assert.equal(running.size, RACES_AT_ONCE);
  await finish(origins[0] as Origin);
  assert.deepEqual(done, [origins[0]]);
  assert.equal(running.size, RACES_AT_ONCE + 1);
});

test('no more races begin per minute than the helper accepts, and the others follow automatically', async () => {
  const { races, begun, failed, alarms, clock, asked, finish } = testbed();
  const many = Array.from({ length: 2 * RACES_PER_MINUTE }, (_, i) => `https://many${i}.test` as Origin);
  const beganMs = clock.nowMs;
  races.start(...many.map(comparison));
  for (const origin of many.slice(0, RACES_PER_MINUTE)) await finish(origin);
  assert.equal(begun.length, RACES_PER_MINUTE);
  assert.equal(asked().filter(({ state }) => state === 'over').length, RACES_PER_MINUTE);
  assert.equal(asked().length, many.length);
  assert.equal(alarms.length, 1);
  clock.nowMs = beganMs + 60_400;
  races.start(comparison(many.at(-1) as Origin));
  assert.equal(begun.length, RACES_PER_MINUTE, 'the helper may have received them later');
  alarms[0]?.();
  assert.equal(clock.nowMs, beganMs + 60_500);
  for (const { origin } of begun) await finish(origin);
  assert.deepEqual([begun.length, alarms.length, failed], [many.length, 1, []]);
  races.start(comparison(many[0] as Origin));
  assert.deepEqual([begun.length, alarms.length], [many.length, 2], 'nothing had to wait before');
  clock.nowMs = beganMs;
  races.start(comparison(many[1] as Origin));
  assert.equal(begun.length, many.length + 2, 'after the clock was set back');
});

test('a race requested on its own goes before the many that wait', async () => {
  const { races, begun, finish } = testbed();
  const [first, second, third, many, last] = [...origins.slice(0, 3), ...origins.slice(-2)] as [
    Origin,
    Origin,
    Origin,
    Origin,
    Origin,
  ];
  for (const origin of origins.slice(0, RACES_AT_ONCE)) races.start(comparison(origin));
  races.start(comparison(many), comparison(last));
  const alone = 'https://alone.test' as Origin;
  races.start(comparison(alone));
  races.start(comparison(many), comparison(alone));
  await finish(first);
  assert.equal(begun.at(-1)?.origin, alone, 'although it was one of many afterwards');
  races.start(comparison(last));
  await finish(second);
  assert.equal(begun.at(-1)?.origin, last, 'although it was one of many before');
  await finish(third);
  assert.equal(begun.at(-1)?.origin, many);
});

test('stopping ends running and waiting races, and later requests are counted from zero', async () => {
  const { races, running, failed, asked } = testbed();
  races.start(...origins.map(comparison));
  races.stop();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(running.size, RACES_AT_ONCE);
  assert.equal(failed.length, origins.length);
  assert.ok(asked().every(({ state }) => state === 'over'));
  races.start(comparison(origins[0] as Origin));
  assert.deepEqual(asked(), [{ origin: origins[0], state: 'racing' }]);
});

/** The order that a first visit triggers. */
const onVisit = (origin: Origin): RaceOrder => ({
  ...comparison(origin),
  mode: 'race',
  reason: 'navigation',
  share: true,
});

test('an origin is not raced twice, except that a user’s race follows that of a visit', async () => {
  const [origin] = origins as [Origin];
  for (const orders of [
    [comparison(origin), comparison(origin)],
    [comparison(origin), onVisit(origin)],
    [onVisit(origin), onVisit(origin)],
  ] as const) {
    const { races, begun, finish } = testbed();
    for (const order of orders) races.start(order);
    await finish(origin);
    assert.deepEqual(begun, [orders[0]]);
  }
});

test('a visit’s race is no request of a user, nor does it change one or end with them', async () => {
  const { races, running, failed, asked, finish } = testbed();
  const [one, two, three] = origins as [Origin, Origin, Origin];
  races.start(comparison(one));
  await finish(one);
  races.start(onVisit(one));
  races.start(onVisit(two));
  assert.deepEqual(asked(), [{ origin: one, state: 'over' }]);
  assert.deepEqual(races.requests, asked());
  races.start(comparison(three));
  races.stop();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([running.size, failed], [3, [`${three} cancelled`]]);
});

test('requests are counted until the last one ends', async () => {
  const { races, asked, finish } = testbed();
  const [one, two, three] = origins as [Origin, Origin, Origin];
  races.start(comparison(one), comparison(two));
  await finish(one);
  races.start(comparison(three));
  assert.deepEqual(
    asked().map(({ state }) => state),
    ['over', 'racing', 'racing'],
  );
});

test('a visit does not replace the comparison that a user requested, and stopping ends that one', async () => {
  const { races, begun, failed, asked, finish } = testbed();
  const [first, compared, stopped] = [origins[0], origins.at(-2), origins.at(-1)] as [Origin, Origin, Origin];
  races.start(...origins.map(comparison));
  races.start(onVisit(compared));
  races.start(onVisit(stopped));
  await finish(first);
  assert.deepEqual(begun.at(-1), comparison(compared));
  races.stop();
  assert.ok(failed.includes(`${stopped} cancelled`));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(asked().every(({ state }) => state === 'over'));
  assert.equal(begun.length, RACES_AT_ONCE + 1);
});

test('a user’s request replaces the race that a visit triggered', async () => {
  const { races, begun, asked, finish } = testbed();
  const [first, visited] = [origins[0], origins.at(-1)] as [Origin, Origin];
  for (const origin of origins.slice(0, RACES_AT_ONCE)) races.start(comparison(origin));
  races.start(onVisit(visited));
  races.start(comparison(visited));
  assert.deepEqual(asked().at(-1), { origin: visited, state: 'waiting' });
  await finish(first);
  assert.deepEqual(begun.at(-1), comparison(visited));
});

test('a user’s request follows the race of a visit that is running', async () => {
  const { races, begun, asked, finish } = testbed();
  const [visited] = origins as [Origin];
  races.start(onVisit(visited));
  races.start(comparison(visited));
  races.start(onVisit(visited));
  assert.deepEqual(asked().at(-1), { origin: visited, state: 'waiting' });
  await finish(visited);
  assert.deepEqual(begun, [onVisit(visited), comparison(visited)]);
});

test('a waiting race is cancelled here, a running one by the helper', async () => {
  const { races, failed } = testbed();
  for (const origin of origins) races.start(comparison(origin));
  races.cancel(origins.at(-1) as Origin);
  races.cancel(origins[0] as Origin);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(failed, [`${origins.at(-1)} cancelled`, `${origins[0]} cancelled`]);
});

test('waiting races are withdrawn when no longer wanted; running ones continue', async () => {
  const { races, running, failed, finish } = testbed();
  for (const origin of origins) races.start(comparison(origin));
  const [first, kept, withdrawn] = [origins[0], origins.at(-2), origins.at(-1)] as [Origin, Origin, Origin];
  races.withdraw(({ origin }) => origin !== kept);
  assert.deepEqual(failed, [`${withdrawn} cancelled`]);
  await finish(first);
  assert.ok(running.has(kept));
  assert.equal(running.has(withdrawn), false);
});

test('the results of races that run while everything is deleted are dropped', async () => {
  const { races, running, done, failed, finish } = testbed();
  for (const origin of origins) races.start(comparison(origin));
  const [first] = origins as [Origin];
  // It has ended, and is not reported yet.
  running.get(first)?.resolve(aRace({ origin: first }));
  races.discard();
  assert.equal(failed.length, origins.length - running.size, 'those that waited are cancelled');
  // Asked for again before the old one has ended.
  races.start(comparison(first));
  await finish(first);
  assert.deepEqual(done, []);
  assert.ok(failed.includes(`${first} cancelled`), 'pages must not show it as running');
  await finish(first);
  assert.deepEqual(done, [first]);
  assert.equal(failed.length, origins.length, 'those that ran are cancelled too');
});

test('an exhausted budget is reported in words that say when to retry', async () => {
  const { races, running, words } = testbed();
  races.start(comparison(origins[0] as Origin));
  running
    .get(origins[0] as Origin)
    ?.reject(new HelperError('too-many-races', 'the budget of races is used up'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(words[0] ?? '', /30 races per minute.*Try again/);
});

test('a failure has words in the reader’s language, with the cause', async () => {
  const { races, running, failed, words } = testbed();
  const fail = async (...error: ConstructorParameters<typeof HelperError>) => {
    races.start(comparison(origins[0] as Origin));
    running.get(origins[0] as Origin)?.reject(new HelperError(...error));
    await new Promise((resolve) => setImmediate(resolve));
    return words.at(-1) ?? '';
  };
  for (const code of ['blocked', 'cancelled', 'internal', 'cache-unavailable'] as const)
    assert.notEqual(await fail(code, WIRE_ERRORS[code]), WIRE_ERRORS[code]);
  assert.notEqual(await fail('helper-timeout', 'in English'), 'in English');
  assert.equal(await fail('duplicate-id', 'in English'), 'in English', 'only a defect causes it');
  assert.match(await fail('cancelled', NETWORK_CHANGED), /network changed\. Race again/);
  assert.equal(failed.at(-1), `${origins[0]} network-changed`);
});

test('when many races fail at once, none is listed as racing after its failure', async () => {
  const { races, running, failed, revived } = testbed();
  const both = origins.slice(0, 2);
  races.start(...both.map(comparison));
  for (const origin of both)
    running.get(origin)?.reject(new HelperError('helper-disconnected', 'the helper stopped'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([failed.length, revived], [2, []]);
});

test('a race beyond the queue’s limit is rejected, not silently dropped', () => {
  const { races, failed } = testbed();
  for (let i = 0; i < 600; i += 1) races.start(comparison(`https://many${i}.test` as Origin));
  assert.equal(failed.length, 600 - RACES_AT_ONCE - 500);
  assert.equal(failed[0], `https://many${RACES_AT_ONCE + 500}.test too-many-races`);
  assert.equal(races.requests.length, RACES_AT_ONCE + 500);
  races.start(comparison(`https://many${RACES_AT_ONCE}.test` as Origin));
  assert.equal(failed.length, 600 - RACES_AT_ONCE - 500, 'it waits already');
});

// Races on first visits: off unless enabled, and forbidden by any doubt.

const ORIGIN = 'https://a.test' as Origin;
const VISIT: DocumentVisit = {
  tabId: 1,
  url: `${ORIGIN}/`,
  atMs: 1,
  byPage: false,
  privateWindow: false,
  container: false,
  proxied: false,
};

interface VisitState {
  ready?: boolean;
  readonly known?: boolean;
  readonly pageInitiated?: boolean;
  readonly privateTab?: boolean;
  readonly recordable?: boolean;
  readonly gesture?: boolean;
  readonly firstSeenMs?: number;
}

function visitTestbed(settings: Partial<Settings> = {}, state: VisitState = {}) {
  const { firstSeenMs, known = false } = state;
  const records = firstSeenMs === undefined ? [] : [emptyRecord(ORIGIN, 'a.test', firstSeenMs)];
  const orders: RaceOrder[] = [];
  const visited = createVisits({
    settings: () => ({ ...DEFAULT_SETTINGS, raceWhen: 'first-visit', ...settings }),
    gestures: { had: () => state.gesture === true },
    recordable: {
      mayRecord: () => state.recordable !== false,
      isPrivateTab: () => state.privateTab === true,
    },
    ledger: async () => ({
      recordsOf: async () => new Map(records.map((record) => [record.origin, record])),
      newestRaces: async () => new Map(known ? [[ORIGIN, racedOnce(aRace())]] : []),
    }),
    helperReady: async () => state.ready !== false,
    mayRacePageInitiated: async () => state.pageInitiated === true,
    race: (order) => orders.push(order),
  });
  return { visited, orders };
}

test('a first visit is raced once, in the chosen mode and with the chosen start delay', async () => {
  const { visited, orders } = visitTestbed({ raceMode: 'v3', startDelayMs: 40 });
  await visited(VISIT);
  await visited({ ...VISIT, atMs: 2 });
  assert.deepEqual(orders, [
    { origin: ORIGIN, mode: 'v3', reason: 'navigation', startDelayMs: 40, share: true },
  ]);
});

test('unless a start delay was chosen, the helper decides from what it knows about the host', async () => {
  const { visited, orders } = visitTestbed();
  await visited(VISIT);
  assert.deepEqual(
    orders.map(({ startDelayMs }) => startDelayMs),
    [null],
  );
});

test('by default, and if only clicks may race, no visit starts a race', async () => {
  for (const raceWhen of ['never', 'click'] as const) {
    const { visited, orders } = visitTestbed({ raceWhen });
    await visited(VISIT);
    assert.deepEqual(orders, []);
  }
  assert.equal(DEFAULT_SETTINGS.raceWhen, 'click');
});

test('a page that navigated by itself is raced only within its quota, and the user’s own visit always', async () => {
  const { visited, orders } = visitTestbed();
  await visited({ ...VISIT, byPage: true });
  assert.deepEqual(orders, []);
  await visited(VISIT);
  assert.equal(orders.length, 1);
  const within = visitTestbed({}, { pageInitiated: true });
  await within.visited({ ...VISIT, byPage: true });
  assert.equal(within.orders.length, 1);
});

const FORBIDDEN: readonly (readonly [string, Partial<DocumentVisit>])[] = [
  ['a private window', { privateWindow: true }],
  ['a container', { container: true }],
  ['a proxy', { proxied: true }],
  ['a browser that does not say whether there is a proxy', { proxied: null }],
];
for (const [what, doubt] of FORBIDDEN)
  test(`${what} forbids it, and a later visit without it may race`, async (t) => {
    const settings = { get: async () => ({ value: { mode: 'system' } }) };
    Object.assign(globalThis, { chrome: { proxy: { settings } } });
    t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
    const { visited, orders } = visitTestbed();
    await visited({ ...VISIT, ...doubt });
    assert.deepEqual(orders, []);
    await visited(VISIT);
    assert.equal(orders.length, 1);
  });

test('no race starts for a known origin, without a helper, or for a page that is not recorded', async () => {
  const atMs = 100_000;
  const states = [{ known: true }, { firstSeenMs: atMs - 60_001 }, { ready: false }, { recordable: false }];
  for (const state of states) {
    const { visited, orders } = visitTestbed({}, state);
    await visited({ ...VISIT, atMs });
    assert.deepEqual(orders, []);
  }
  for (const url of ['http://a.test/', 'about:blank']) {
    const { visited, orders } = visitTestbed();
    await visited({ ...VISIT, url });
    assert.deepEqual(orders, []);
  }
});

test('a record of this visit, a user’s action on the page and no proxy allow it', async (t) => {
  const settings = { get: async () => ({ value: { mode: 'direct' } }) };
  Object.assign(globalThis, { chrome: { proxy: { settings } } });
  t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
  const atMs = 100_000;
  const { visited, orders } = visitTestbed({}, { firstSeenMs: atMs - 60_000, gesture: true });
  await visited({ ...VISIT, atMs, byPage: true, proxied: null });
  assert.equal(orders.length, 1);
});

test('a visit is not raced if the setting changes before the helper answers', async () => {
  const settings: { raceWhen?: Settings['raceWhen'] } = {};
  const { visited, orders } = visitTestbed(settings);
  const visiting = visited(VISIT);
  settings.raceWhen = 'click';
  await visiting;
  assert.deepEqual(orders, []);
});

test('an origin is raced at a later visit if no helper answered at the first', async () => {
  const state = { ready: false };
  const { visited, orders } = visitTestbed({}, state);
  await visited(VISIT);
  assert.deepEqual(orders, []);
  state.ready = true;
  await visited(VISIT);
  assert.equal(orders.length, 1);
});

test('a tab of a private window forbids it where the browser does not say so of the request', async () => {
  const { visited, orders } = visitTestbed({}, { privateTab: true });
  await visited({ ...VISIT, privateWindow: null });
  assert.deepEqual(orders, []);
});
