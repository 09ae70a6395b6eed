// Races on first visits: off unless enabled, and forbidden by any doubt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { DEFAULT_SETTINGS, type Settings } from '../../common/settings.ts';
import type { RaceOrder } from './helper.ts';
import { createFirstVisitRaces, type Visit } from './visits.ts';

const VISIT: Visit = {
  origin: 'https://a.test' as Origin,
  site: 'a.test',
  startedMs: 1,
  tabId: 1,
  pageInitiated: false,
  privateWindow: false,
  container: false,
  proxied: false,
};

function testbed(
  settings: Partial<Settings> = {},
  { ready = true, known = false, pageInitiated = false } = {},
) {
  const orders: RaceOrder[] = [];
  const visited = createFirstVisitRaces({
    settings: () => ({ ...DEFAULT_SETTINGS, raceWhen: 'first-visit', ...settings }),
    helperReady: async () => ready,
    known: async () => known,
    mayRacePageInitiated: async () => pageInitiated,
    race: (order) => orders.push(order),
  });
  return { visited, orders };
}

test('a first visit is raced once, in the chosen mode and with the chosen start delay', async () => {
  const { visited, orders } = testbed({ raceMode: 'v3', startDelayMs: 40 });
  await visited(VISIT);
  await visited({ ...VISIT, startedMs: 2 });
  assert.deepEqual(orders, [
    { origin: VISIT.origin, mode: 'v3', reason: 'navigation', startDelayMs: 40, share: true },
  ]);
});

test('unless a start delay was chosen, the helper decides from what it knows about the host', async () => {
  const { visited, orders } = testbed();
  await visited(VISIT);
  assert.deepEqual(
    orders.map(({ startDelayMs }) => startDelayMs),
    [null],
  );
});

test('by default, and if only clicks may race, no visit starts a race', async () => {
  for (const raceWhen of ['never', 'click'] as const) {
    const { visited, orders } = testbed({ raceWhen });
    await visited(VISIT);
    assert.deepEqual(orders, []);
  }
  assert.equal(DEFAULT_SETTINGS.raceWhen, 'click');
});

test('a page that navigated by itself is raced only within its quota, and the user’s own visit always', async () => {
  const { visited, orders } = testbed();
  await visited({ ...VISIT, pageInitiated: true });
  assert.deepEqual(orders, []);
  await visited(VISIT);
  assert.equal(orders.length, 1);
  const within = testbed({}, { pageInitiated: true });
  await within.visited({ ...VISIT, pageInitiated: true });
  assert.equal(within.orders.length, 1);
});

const FORBIDDEN: readonly (readonly [string, Partial<Visit>])[] = [
  ['a private window', { privateWindow: true }],
  ['a container', { container: true }],
  ['a proxy', { proxied: true }],
  ['a browser that does not say whether there is a proxy', { proxied: null }],
];
for (const [what, doubt] of FORBIDDEN)
  test(`${what} forbids it, and a later visit without it may race`, async () => {
    const { visited, orders } = testbed();
    await visited({ ...VISIT, ...doubt });
    assert.deepEqual(orders, []);
    await visited(VISIT);
    assert.equal(orders.length, 1);
  });

test('neither a known origin nor a missing helper starts a race', async () => {
  for (const state of [{ known: true }, { ready: false }]) {
    const { visited, orders } = testbed({}, state);
    await visited(VISIT);
    assert.deepEqual(orders, []);
  }
});
