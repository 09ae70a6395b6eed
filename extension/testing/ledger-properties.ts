// Random but valid input for property tests of the ledger, few names and days so that rows collide, and the invariants
// of every ledger from which nothing was pruned, recomputed from its rows.
import assert from 'node:assert/strict';
import type { Forecast } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { addAdoption, adoptionByOrigin, NO_ADOPTION } from '@photofinish/shared/report/adoption';
import { OBSERVATION_MODES, type Observation, unitedModes } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { DELIVERIES, KNOWN_PROTOCOLS, PROTOCOLS } from '@photofinish/shared/web/protocol';
import fc from 'fast-check';
import type { Backfill } from '../common/records/fold.ts';
import { DAY_MS, type DayRow, type DayTotal } from '../common/records/schema.ts';
import { judgedRace, verdictOfRecord } from '../common/verdict.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Section, Sections } from '../ledger/merge.ts';
import type { Batch } from '../ledger/writing.ts';
import { sumsOf } from './filled-ledger.ts';
import { aRace } from './samples.ts';

const START_MS = Date.UTC(2026, 10, 18);
const ORIGINS = ['https://a.test', 'https://b.test', 'https://c.test'] as Origin[];
const SITES = ['a.test', 'b.test'];
const NETWORKS = ['home', 'work', 'unknown'];

const origin = fc.constantFrom(...ORIGINS);
const site = fc.constantFrom(...SITES);
const atMs = fc.integer({ min: START_MS, max: START_MS + 3 * DAY_MS });
const kind = fc.constantFrom('navigation', 'resource');

const observation: fc.Arbitrary<Observation> = fc
  .record({
    origin,
    site,
    atMs,
    kind,
    delivery: fc.constantFrom(...DELIVERIES, 'network', 'network'),
    protocol: fc.constantFrom(...PROTOCOLS),
    bytes: fc.option(fc.nat(5000)),
    altSvc: fc.constantFrom(undefined, 'h3=":443"; ma=60', 'clear'),
    read: fc.boolean(),
  })
  .map(({ altSvc, protocol, read, ...rest }) => ({
    id: '1',
    ...rest,
    protocol,
    ...(protocol === 'unknown' && { reason: 'no-timing-allow-origin' as const }),
    ...(altSvc !== undefined && { altSvc }),
    ...(read && { altSvcRead: true as const }),
  }));

const batch: fc.Arbitrary<Batch> = fc.record({
  key: fc.constantFrom('1', '2', '3', '4', '5', '6'),
  observations: fc.array(observation, { maxLength: 6 }),
  scores: fc.array(fc.record({ origin, site, right: fc.boolean() }), { maxLength: 3 }),
  pageBegunMs: atMs,
  nowMs: atMs,
  network: fc.constantFrom(...NETWORKS),
  mode: fc.constantFrom(...OBSERVATION_MODES),
});

const backfill: fc.Arbitrary<Backfill> = fc.record({
  origin,
  site,
  atMs,
  kind,
  protocol: fc.constantFrom(...KNOWN_PROTOCOLS),
  count: fc.integer({ min: 1, max: 4 }),
});

const race: fc.Arbitrary<OriginRace> = fc
  .record({ origin, atMs, altSvc: fc.constantFrom(null, 'h3=":443"'), isRun: fc.boolean() })
  .map(({ altSvc, isRun, ...more }) =>
    aRace({
      ...more,
      discovered: { altSvc, knownRoot: true },
      ...(!isRun && { trials: [], error: { code: 'dns-failed', message: 'no such host' } }),
    }),
  );

const forecast: fc.Arbitrary<Forecast> = fc.record({ origin, hit: fc.boolean() }).map((more) => ({
  ...more,
  reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
  expected: { protocol: 'h3', basis: 'observed' },
}));

/** One operation on a ledger. */
export interface Step {
  /** Whether a repetition counts nothing, so that it can be retried after a failure with unknown outcome. */
  readonly known: boolean;
  readonly run: (ledger: Ledger) => Promise<unknown>;
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: batch.map((b): Step => ({ known: true, run: (l) => l.record(b) })) },
  fc
    .record({
      key: fc.constantFrom('r1', 'r2'),
      backfills: fc.array(backfill, { maxLength: 4 }),
      nowMs: atMs,
    })
    .map((b): Step => ({ known: true, run: (l) => l.backfill(b) })),
  race.map((r): Step => ({ known: true, run: (l) => l.saveRace(r, r.atMs) })),
  fc
    .tuple(origin, site, fc.array(forecast, { maxLength: 4 }), fc.constantFrom(...NETWORKS), atMs)
    .map((args): Step => ({ known: false, run: (l) => l.countLookups(...args) })),
);

/** A sequence of operations on a ledger. */
export const steps: fc.Arbitrary<Step[]> = fc.array(step, { maxLength: 12 });

export type Dump = { readonly [S in Section]: Sections[S][] };

/** Every row of a ledger, in key order. */
export async function dump(ledger: Pick<Ledger, 'snapshot'>): Promise<Dump> {
  const all: Dump = { races: [], days: [], totals: [], records: [] };
  await ledger.snapshot((section, rows) => (all[section] as object[]).push(...rows));
  return all;
}

function sumOf(rows: readonly DayRow[], number: (row: DayRow) => number): number {
  return rows.reduce((sum, row) => sum + number(row), 0);
}

function totalOf(rows: readonly DayRow[]): DayTotal {
  const [{ day, network }] = rows as [DayRow, ...DayRow[]];
  return {
    day,
    network,
    ...sumsOf(rows),
    origins: rows.map((row) => adoptionByOrigin([row.counts])).reduce(addAdoption, NO_ADOPTION),
    lookups: sumOf(rows, (row) => row.lookups),
    hits: sumOf(rows, (row) => row.hits),
    scored: sumOf(rows, (row) => row.scored),
    right: sumOf(rows, (row) => row.right),
  };
}

/** Throws unless totals are the sums of days, records the sums of their days, and verdicts match the races. */
export function checkInvariants({ records, days, totals, races }: Dump): void {
  const expected = [...Map.groupBy(days, (row) => `${row.day} ${row.network}`).values()].map(totalOf);
  const byKey = (a: DayTotal, b: DayTotal) => (`${a.day} ${a.network}` < `${b.day} ${b.network}` ? -1 : 1);
  assert.deepEqual(totals.toSorted(byKey), expected.toSorted(byKey));
  const raced = Map.groupBy(races, ({ origin }) => origin);
  const ofRecord = Map.groupBy(days, (row) => `${row.origin} ${row.site}`);
  for (const record of records) {
    const { counts, navigations, delivered, bytes } = record;
    const modes = unitedModes(record.modes, []);
    const own = sumsOf(ofRecord.get(`${record.origin} ${record.site}`) ?? []);
    assert.deepEqual({ counts, navigations, delivered, bytes, modes }, own);
    assert.equal(record.verdict, verdictOfRecord(record, judgedRace(raced.get(record.origin) ?? [])).code);
  }
  for (const { counts, navigations } of [...days, ...records])
    for (const protocol of PROTOCOLS)
      assert.ok(navigations[protocol] >= 0 && navigations[protocol] <= counts[protocol]);
}
