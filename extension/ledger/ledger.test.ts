import 'fake-indexeddb/auto';
import '../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { IDBFactory, IDBObjectStore } from 'fake-indexeddb';
import fc from 'fast-check';
import {
  BATCH_RETENTION_MS,
  DAY_MS,
  dayOf,
  MAX_OUTBOX_ROWS,
  MAX_TOTALS,
  RACES_PER_ORIGIN,
  RETENTION_MS,
} from '../common/records/schema.ts';
import { checkInvariants, dump, type Step, steps } from '../testing/ledger-properties.ts';
import { aRace } from '../testing/samples.ts';
import { failAt } from '../testing/storage.ts';
import { openDatabase } from './database.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { emptyTotal } from './row-changes.ts';
import type { Batch } from './writing.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;
const NOW_MS = Date.UTC(2026, 10, 21, 12);

function observation(more: Partial<Observation> = {}): Observation {
  return {
    id: '1',
    origin: A,
    site: 'a.test',
    kind: 'resource',
    delivery: 'network',
    atMs: NOW_MS,
    bytes: 100,
    protocol: 'h2',
    ...more,
  };
}

function batch(key: string | null, observations: readonly Observation[], more: Partial<Batch> = {}): Batch {
  return {
    key,
    observations,
    scores: [],
    pageBegunMs: NOW_MS - 1000,
    nowMs: NOW_MS,
    network: 'home',
    mode: 'full',
    ...more,
  };
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

test('what was reached over HTTP/3 on one site has no private-root warning on another', async () => {
  const ledger = await openLedger();
  const sites = ['a.test', 'b.test'];
  const verdicts = async () =>
    (await Promise.all(sites.map((site) => ledger.records(site)))).map(([record]) => record?.verdict);
  const race = aRace({ origin: A, atMs: NOW_MS });
  await ledger.saveRace({ ...race, discovered: { ...race.discovered, knownRoot: false } }, NOW_MS);
  const on = (site: string, protocol: 'h3' | 'h2') =>
    ledger.record(batch(null, [observation({ site, protocol })]));
  const hidden = { protocol: 'unknown', reason: 'no-timing-allow-origin' } as const;
  for (const site of sites) await ledger.record(batch(null, [observation({ site, ...hidden })]));
  assert.deepEqual(await verdicts(), ['h3-private-root', 'h3-private-root']);
  await on('b.test', 'h3');
  assert.deepEqual(await verdicts(), ['h3-available', 'h3-used']);
  await ledger.record(batch(null, [observation({ site: 'a.test', ...hidden })]));
  sites.push('c.test', 'd.test');
  await ledger.record(
    batch(
      null,
      ['c.test', 'd.test'].map((site) => observation({ site, ...hidden })),
    ),
  );
  assert.deepEqual(await verdicts(), ['h3-available', 'h3-used', 'h3-available', 'h3-available']);
});

test('a batch is folded into records, days and the outbox', async () => {
  const ledger = await openLedger();
  const told = [
    observation({ kind: 'navigation' }),
    observation(),
    observation({ origin: B, protocol: 'h3' }),
  ];
  assert.equal(await ledger.record(batch('x:1', told)), true);
  const [a, b] = await ledger.records('a.test');
  assert.deepEqual([a?.counts.h2, a?.navigations.h2, a?.bytes, b?.protocol], [2, 1, 200, 'h3']);
  const days = await ledger.days(null, '2026-11-21');
  assert.deepEqual(
    days.map((d) => [d.day, d.origin, d.counts.h2]),
    [
      ['2026-11-21', A, 2],
      ['2026-11-21', B, 0],
    ],
  );
  await ledger.record(batch('x:2', [observation({ delivery: 'http-cache' })]));
  assert.deepEqual(
    (await ledger.outbox(10)).map((row) => row.observations.length),
    [3],
    'the helper learns nothing from a cached response',
  );
});

test('an origin is first seen with its oldest response, in whichever order a batch has them', async () => {
  const ledger = openLedger();
  await ledger.record(batch(null, [observation(), observation({ atMs: NOW_MS - 5 })]));
  const [record] = await ledger.records('a.test');
  assert.deepEqual([record?.firstSeenMs, record?.lastSeenMs], [NOW_MS - 5, NOW_MS]);
});

test('rows say by which modes they were counted', async () => {
  const ledger = openLedger();
  const modes = async () => {
    const rows = [
      await ledger.records(null),
      await ledger.days(null, '2026'),
      await ledger.totals('2026', '2027'),
    ];
    return rows.map((some) => some.map((row) => row.modes));
  };
  await ledger.countLookups(A, 'a.test', [], 'home', NOW_MS);
  assert.deepEqual(await modes(), [[], [[]], [[]]], 'nothing was observed');
  await ledger.record(batch(null, [observation(), observation({ origin: B })], { mode: 'light' }));
  assert.deepEqual(await modes(), [[['light'], ['light']], [['light'], ['light']], [['light']]]);
  await ledger.record(batch(null, [observation()]));
  assert.deepEqual(await modes(), [
    [['full', 'light'], ['light']],
    [['full', 'light'], ['light']],
    [['full', 'light']],
  ]);
});

test('a record of a clock that was ahead is as old as the oldest response of the next batch, and knows its page', async () => {
  const ledger = openLedger();
  const ahead = NOW_MS + 365 * DAY_MS;
  await ledger.record(batch(null, [observation({ atMs: ahead })], { nowMs: ahead, pageBegunMs: ahead }));
  const seen = [NOW_MS - 1, NOW_MS - 2].map((atMs) => observation({ atMs, kind: 'navigation' }));
  await ledger.record(batch(null, seen));
  const [record] = await ledger.records('a.test');
  assert.deepEqual([record?.firstSeenMs, record?.lastSeenMs], [NOW_MS - 2, NOW_MS - 1]);
  assert.equal(record?.newestPageMs, NOW_MS - 1000);
  await ledger.record(batch(null, [observation({ altSvc: 'h3=":443"' })]));
  const next = observation({ atMs: NOW_MS + 1500, kind: 'navigation' });
  await ledger.record(
    batch(null, [next], { pageBegunMs: NOW_MS + 1000, nowMs: NOW_MS + 2000, proxied: new Map([[A, true]]) }),
  );
  const [visited] = await ledger.records('a.test');
  assert.deepEqual(
    [visited?.visitsSinceAdvertised, visited?.visitsNetwork, visited?.proxied],
    [1, 'home', true],
  );
  for (const pageBegunMs of [NOW_MS + 1100, NOW_MS + 1200])
    await ledger.record(batch(null, [next], { pageBegunMs, nowMs: NOW_MS + 2000 }));
  const [again] = await ledger.records('a.test');
  assert.equal(again?.visitsSinceAdvertised, 2, 'of those for which the browser names no proxy');
});

test('a batch sent again counts once', async () => {
  const ledger = await openLedger();
  await ledger.record(batch('x:1', [observation()]));
  assert.equal(await ledger.record(batch('x:1', [observation()])), false);
  const [record] = await ledger.records(null);
  assert.equal(record?.counts.h2, 1);
  assert.equal((await ledger.outbox(10)).length, 1);
});

test('two copies of a batch at the same time count once', async () => {
  const ledger = await openLedger();
  const results = await Promise.all([1, 2].map(() => ledger.record(batch('x:1', [observation()]))));
  assert.deepEqual(results.toSorted(), [false, true]);
  assert.equal((await ledger.records(null))[0]?.counts.h2, 1);
});

test('a failure in mid-transaction leaves nothing, and the batch can be sent again', async (t) => {
  const ledger = await openLedger();
  await ledger.record(batch('x:1', [observation()]));
  const { put } = IDBObjectStore.prototype;
  const failing = t.mock.method(
    IDBObjectStore.prototype,
    'put',
    function (this: IDBObjectStore, value: unknown) {
      if (this.name === 'days') throw new Error('the disk is full');
      return put.call(this, value);
    },
  );
  await assert.rejects(ledger.record(batch('x:2', [observation()])), /disk is full/);
  failing.mock.restore();
  assert.equal((await ledger.records(null))[0]?.counts.h2, 1);
  assert.equal((await ledger.outbox(10)).length, 1);
  assert.equal(await ledger.record(batch('x:2', [observation()])), true);
  assert.equal((await ledger.records(null))[0]?.counts.h2, 2);
});

test('what was committed survives the termination of the service worker', async () => {
  await (await openLedger()).record(batch('x:1', [observation()]));
  const again = await openLedger();
  assert.equal(await again.record(batch('x:1', [observation()])), false);
  assert.equal((await again.records(null))[0]?.counts.h2, 1);
});

test('scores and look-ups are counted by day', async () => {
  const ledger = await openLedger();
  const scores = [
    { origin: A, site: 'a.test', right: true },
    { origin: A, site: 'a.test', right: true },
    { origin: B, site: 'a.test', right: false },
  ];
  await ledger.record(batch('x:1', [observation()], { scores }));
  const forecast = {
    origin: A,
    reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
    expected: { protocol: 'h3', basis: 'observed' },
  } as const;
  await ledger.countLookups(
    A,
    'a.test',
    [
      { ...forecast, hit: true },
      { ...forecast, hit: false },
    ],
    'home',
    NOW_MS,
  );
  const days = await ledger.days('a.test', '2026-11-21');
  assert.deepEqual(
    days.map((d) => [d.origin, d.scored, d.right, d.lookups, d.hits]),
    [
      [A, 2, 2, 2, 1],
      [B, 1, 0, 0, 0],
    ],
  );
});

test('the newest races of an origin are kept', async () => {
  const ledger = await openLedger();
  for (let i = 1; i <= RACES_PER_ORIGIN + 5; i += 1)
    await ledger.saveRace(aRace({ origin: A, atMs: i }), NOW_MS);
  await ledger.saveRace(aRace({ origin: B, atMs: 1 }), NOW_MS);
  const races = await ledger.races(A);
  assert.deepEqual([races.length, races[0]?.atMs], [RACES_PER_ORIGIN, 6]);
  const newest = await ledger.newestRaces([A, B, 'https://c.test' as Origin]);
  assert.deepEqual(
    [newest.get(A)?.newest.atMs, newest.get(B)?.newest.atMs, newest.size],
    [RACES_PER_ORIGIN + 5, 1, 2],
  );
});

test('a race that could not be run leaves the verdict that the one before it led to', async () => {
  const ledger = await openLedger();
  await ledger.record(batch(null, [observation()]));
  const verdict = async () => (await ledger.records(null))[0]?.verdict;
  const error = { code: 'dns-failed', message: 'no such host' } as const;
  const failedAt = (atMs: number) => aRace({ origin: A, atMs, trials: [], error });
  await ledger.saveRace(failedAt(NOW_MS), NOW_MS);
  assert.equal(await verdict(), 'unknown');
  const race = aRace({ origin: A, atMs: NOW_MS + 1 });
  const silent = { code: 'udp-timeout', message: 'no reply' } as const;
  const trials = race.trials.map((trial) => ({
    ...trial,
    attempts: trial.attempts.map((attempt) =>
      attempt.protocol === 'h3'
        ? { ...attempt, establishedMs: null, firstByteMs: null, outcome: 'failed' as const, error: silent }
        : attempt,
    ),
  }));
  await ledger.saveRace({ ...race, trials }, NOW_MS);
  assert.equal(await verdict(), 'h3-advertised-unreachable');
  await ledger.saveRace(failedAt(NOW_MS + 2), NOW_MS);
  assert.equal(await verdict(), 'h3-advertised-unreachable');
  await ledger.record(batch(null, [observation()]));
  assert.equal(await verdict(), 'h3-advertised-unreachable');
  const raced = (await ledger.newestRaces([A])).get(A);
  assert.deepEqual([raced?.newest.atMs, raced?.judged.atMs], [NOW_MS + 2, NOW_MS + 1]);
});

test('races of a clock that was ahead are older than the next one', async () => {
  const ledger = await openLedger();
  const save = (atMs: number, nowMs: number) =>
    ledger.saveRace(aRace({ origin: A, atMs, network: `${atMs - NOW_MS}` }), nowMs);
  const instants = async () => (await ledger.races(A)).map(({ atMs }) => atMs - NOW_MS);
  const [day, year] = [86_400_000, 365 * 86_400_000];
  await save(NOW_MS - 1, NOW_MS);
  await save(NOW_MS + year, NOW_MS + year);
  await save(NOW_MS + year + day, NOW_MS + year + day);
  assert.deepEqual(await instants(), [-1, year, year + day]);
  await save(NOW_MS, NOW_MS);
  assert.deepEqual(await instants(), [-3, -2, -1, 0]);
  assert.deepEqual(
    (await ledger.races(A)).map(({ network }) => Number(network)),
    [year, year + day, -1, 0],
    'in the order in which they ran, as far as is known',
  );
  await save(NOW_MS + 60_000, NOW_MS);
  await save(NOW_MS + year, NOW_MS + 70_000);
  assert.deepEqual(await instants(), [-3, -2, -1, 0, 60_000, 70_000], 'corrected during the race');
  const raced = (await ledger.newestRaces([A])).get(A);
  assert.equal(raced?.newest.atMs, NOW_MS + 70_000);
});

test('the outbox returns the oldest first, deletes what is acknowledged, and is bounded', async () => {
  const ledger = await openLedger();
  for (let i = 1; i <= MAX_OUTBOX_ROWS + 3; i += 1)
    await ledger.record(batch(null, [observation({ id: String(i) })]));
  const [first] = await ledger.outbox(1);
  assert.equal(first?.observations[0]?.id, '4');
  await ledger.acknowledge(first ? [first.key] : []);
  assert.equal((await ledger.outbox(1))[0]?.observations[0]?.id, '5');
  assert.equal((await ledger.outbox(1, 5))[0]?.observations[0]?.id, '6');
  assert.equal((await ledger.outbox(10_000)).length, MAX_OUTBOX_ROWS - 1);
});

test('pruning deletes what is too old, in steps, and nothing else', async () => {
  const ledger = await openLedger();
  const oldMs = NOW_MS - RETENTION_MS - 86_400_000;
  for (let i = 0; i < 600; i += 1) {
    const origin = `https://o${i}.test` as Origin;
    await ledger.record(batch(`old:${i}`, [observation({ origin, atMs: oldMs })], { nowMs: oldMs }));
  }
  await ledger.record(batch('new:1', [observation()]));
  // The rows of each origin and day, the one total, and the batches' keys.
  assert.equal(await ledger.prune(NOW_MS, 400), 600 + 600 + 1 + 600);
  assert.equal(await ledger.prune(NOW_MS, 400), 0);
  assert.deepEqual(
    (await ledger.records(null)).map((r) => r.origin),
    [A],
  );
  assert.deepEqual(
    (await ledger.days(null, '2000-01-01')).map((d) => d.day),
    ['2026-11-21'],
  );
  assert.equal(await ledger.record(batch('new:1', [observation()])), false);
});

test('pruning keeps what is as old as the retention, and deletes what is a millisecond older', async () => {
  const ledger = await openLedger();
  const [cutMs, batchCutMs] = [NOW_MS - 30 * DAY_MS, NOW_MS - BATCH_RETENTION_MS];
  for (const [origin, ageMs] of [
    [A, 0],
    [B, 1],
  ] as const) {
    const seen = [observation({ origin, atMs: cutMs - ageMs })];
    await ledger.record(batch(origin, seen, { nowMs: batchCutMs - ageMs }));
    await ledger.saveRace(aRace({ origin, atMs: cutMs - ageMs }), NOW_MS);
  }
  // A record, a race and a batch: the days and their total are of the same day as the cut.
  assert.equal(await ledger.prune(NOW_MS, 30), 3);
  const { records, days, races } = await dump(ledger);
  assert.deepEqual([records.map((r) => r.origin), races.map((r) => r.origin), days.length], [[A], [A], 2]);
});

test('of more rows than the limit, pruning deletes the oldest, in steps', async () => {
  const db = await openDatabase()();
  const surplus = 600;
  const networks = Array.from({ length: MAX_TOTALS + surplus }, (_, i) => String(i).padStart(5, '0'));
  // A transaction for all of them would take several times as long.
  for (let from = 0; from < networks.length; from += 1000) {
    const tx = db.transaction('totals', 'readwrite');
    for (const network of networks.slice(from, from + 1000))
      void tx.store.put(emptyTotal(dayOf(NOW_MS), network));
    await tx.done;
  }
  assert.equal(await openLedger().prune(NOW_MS, 30), surplus);
  const kept = (await db.getAllKeys('totals')).map(([, network]) => network);
  assert.deepEqual(kept, networks.slice(surplus));
});

test('the origins of a site come most recently seen first, at most as many as requested', async () => {
  const ledger = await openLedger();
  await ledger.record(batch(null, [observation({ atMs: 1 }), observation({ origin: B, atMs: 2 })]));
  assert.deepEqual(await ledger.originsOfSite('a.test', 10), [B, A]);
  assert.deepEqual(await ledger.originsOfSite('a.test', 1), [B]);
  assert.deepEqual(await ledger.originsOfSite('b.test', 10), []);
});

// Invariants of a ledger under any operations, in any order and with any failures: totals are the sums of days, records
// those of their days, verdicts match the races, and a batch counts once.

const RUNS = 60;

async function filled(all: readonly Step[]) {
  globalThis.indexedDB = new IDBFactory();
  const ledger = openLedger();
  for (const step of all) await step.run(ledger);
  return ledger;
}

/** The outbox as well as what is exported. */
async function everything(ledger: Ledger) {
  const told = (await ledger.outbox(100)).map((row) => row.observations);
  return { ...(await dump(ledger)), told };
}

test('totals, records and verdicts agree with the days and races, whatever was recorded', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => checkInvariants(await dump(await filled(all)))),
    { numRuns: RUNS },
  );
});

test('a failure at any operation leaves nothing, and a retry counts once', async () => {
  const failure = fc.record({
    nth: fc.integer({ min: 1, max: 12 }),
    how: fc.constantFrom('throws', 'aborts'),
  });
  await fc.assert(
    fc.asyncProperty(steps, fc.array(failure, { minLength: 12, maxLength: 12 }), async (all, failures) => {
      const expected = await everything(await filled(all));
      globalThis.indexedDB = new IDBFactory();
      const ledger = openLedger();
      for (const [i, step] of all.entries()) {
        const { nth, how } = failures[i] ?? { nth: 1, how: 'throws' };
        const before = await everything(ledger);
        const failing = failAt(nth, how);
        const failed = await step.run(ledger).then(
          () => false,
          () => true,
        );
        failing.restore();
        assert.equal(failed, failing.reached());
        if (failed) {
          assert.deepEqual(await everything(ledger), before);
          await step.run(ledger);
        }
        // The answer may be lost after everything was stored.
        if (step.known) await step.run(ledger);
      }
      assert.deepEqual(await everything(ledger), expected);
    }),
    { numRuns: RUNS },
  );
});

test('the service worker may be terminated after each step: the next one finds everything', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const expected = await everything(await filled(all));
      globalThis.indexedDB = new IDBFactory();
      for (const step of all) {
        const ledger = openLedger();
        await step.run(ledger);
        await ledger.close();
      }
      assert.deepEqual(await everything(openLedger()), expected);
    }),
    { numRuns: RUNS / 2 },
  );
});
