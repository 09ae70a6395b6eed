// Invariants of every ledger from which nothing was pruned, recomputed from its rows: for tests.
import assert from 'node:assert/strict';
import {
  addAdoption,
  addCounts,
  adoptionByOrigin,
  NO_ADOPTION,
  NO_REQUESTS,
} from '@photofinish/shared/report/adoption';
import { type ObservationModes, unitedModes } from '@photofinish/shared/web/observation';
import { PROTOCOLS } from '@photofinish/shared/web/protocol';
import type { DayRow, DayTotal } from '../common/records/schema.ts';
import { judgedRace, verdictOfRecord } from '../common/verdict.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Section, Sections } from '../ledger/merge.ts';

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

function sums(rows: readonly DayRow[]) {
  return {
    counts: rows.map((row) => row.counts).reduce(addCounts, NO_REQUESTS),
    navigations: rows.map((row) => row.navigations).reduce(addCounts, NO_REQUESTS),
    delivered: {
      'http-cache': sumOf(rows, (row) => row.delivered['http-cache']),
      'service-worker': sumOf(rows, (row) => row.delivered['service-worker']),
      prefetch: sumOf(rows, (row) => row.delivered.prefetch),
    },
    bytes: sumOf(rows, (row) => row.bytes),
    modes: rows.map((row) => row.modes).reduce<ObservationModes>(unitedModes, []),
  };
}

function totalOf(rows: readonly DayRow[]): DayTotal {
  const [{ day, network }] = rows as [DayRow, ...DayRow[]];
  return {
    day,
    network,
    ...sums(rows),
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
    const own = sums(ofRecord.get(`${record.origin} ${record.site}`) ?? []);
    assert.deepEqual({ counts, navigations, delivered, bytes, modes }, own);
    assert.equal(record.verdict, verdictOfRecord(record, judgedRace(raced.get(record.origin) ?? [])).code);
  }
  for (const { counts, navigations } of [...days, ...records])
    for (const protocol of PROTOCOLS)
      assert.ok(navigations[protocol] >= 0 && navigations[protocol] <= counts[protocol]);
}
