// Fills a ledger with a heavy user's year, reproducibly by seed: for benchmarks, specs and tests. Runs in Node over
// fake-indexeddb and in a page of the extension; it imports nothing from Node.

import { attempt, trial, verdictSaying } from '@photofinish/shared/testing/race-samples';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import '../common/catalog.ts';
import type { OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { compareTrials, MAX_PAIRS } from '@photofinish/shared/race/statistics';
import { addCounts, NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { gainMsOf } from '@photofinish/shared/verdict/gain';
import { type ObservationModes, ONLY_FULL, unitedModes } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { openDB, unwrap } from 'idb';
import { emptyDay, emptyRecord } from '../common/records/fold.ts';
import {
  DAY_MS,
  type DayRow,
  type DayTotal,
  dayOf,
  LEDGER_NAME,
  type LedgerSchema,
  NOTHING_DELIVERED,
  type OriginRecord,
  type ResponseCounts,
} from '../common/records/schema.ts';
import { verdictOfRecord } from '../common/verdict.ts';
import { openLedger } from '../ledger/ledger.ts';
import { type RowCounts, SECTIONS, type Section, type Sections } from '../ledger/merge.ts';
import { emptyTotal, movedTotal } from '../ledger/row-changes.ts';

export interface Filling {
  readonly seed: number;
  /** Origins of the sites' own; in addition each site uses one of CDNS. */
  readonly origins: number;
  readonly sites: number;
  /** The days up to `nowMs` over which they were seen. */
  readonly days: number;
  /** Days on which an origin was seen on its site, on average. */
  readonly daysPerOrigin: number;
  /** Origins that were raced, one to three times each. */
  readonly raced: number;
  readonly nowMs: number;
}

/** A heavy user's year: under the ledger's limits, and close to them. */
export const HEAVY: Omit<Filling, 'nowMs'> = {
  seed: 1,
  origins: 100_000,
  sites: 20_000,
  days: 400,
  daysPerOrigin: 4,
  raced: 2000,
};

const CDNS = 200;
const NETWORKS = ['home', 'work', 'unknown'];
const CHUNK_ROWS = 5000;
const H3_ADVERT = 'h3=":443"; ma=86400';

/** An origin's characteristics: whether it hides its protocol, and its share of HTTP/3. */
interface OriginTraits {
  readonly hides: boolean;
  readonly h3Share: number;
  readonly advertises: boolean;
}

function traitsOf(random: () => number): OriginTraits {
  const h3Share = random() < 0.4 ? random() : 0;
  return { hides: random() < 0.2, h3Share, advertises: h3Share > 0 || random() < 0.1 };
}

function countsOf(requests: number, { hides, h3Share }: OriginTraits): ProtocolCounts {
  if (hides) return { ...NO_REQUESTS, unknown: requests };
  const h3 = Math.round(requests * h3Share);
  const old = requests - h3;
  return { ...NO_REQUESTS, h3, h2: old - Math.floor(old / 8), 'http/1.1': Math.floor(old / 8) };
}

function navigationsOf(counts: ProtocolCounts): ProtocolCounts {
  const { h3, h2, unknown } = counts;
  return { ...NO_REQUESTS, h3: Math.min(h3, 1), h2: Math.min(h2, 1), unknown: Math.min(unknown, 1) };
}

function dayRow(empty: DayRow, traits: OriginTraits, main: boolean, random: () => number): DayRow {
  const requests = 1 + Math.floor(random() ** 3 * 40);
  const counts = countsOf(requests, traits);
  const lookups = main ? 1 + Math.floor(random() * 12) : 0;
  const scored = traits.hides ? 0 : 1 + Math.floor(random() * 3);
  return {
    ...empty,
    counts,
    navigations: main ? navigationsOf(counts) : NO_REQUESTS,
    delivered: { ...NOTHING_DELIVERED, 'http-cache': Math.floor(random() * 6) },
    bytes: requests * Math.floor(500 + random() * 40_000),
    lookups,
    hits: Math.floor(lookups * (0.6 + random() * 0.4)),
    scored,
    right: random() < 0.9 ? scored : 0,
    modes: ONLY_FULL,
  };
}

/** What several rows of days count together. */
export function sumsOf(rows: readonly DayRow[]): Required<ResponseCounts> {
  const sum = (number: (row: DayRow) => number) => rows.reduce((total, row) => total + number(row), 0);
  return {
    counts: rows.map((row) => row.counts).reduce(addCounts, NO_REQUESTS),
    navigations: rows.map((row) => row.navigations).reduce(addCounts, NO_REQUESTS),
    delivered: {
      'http-cache': sum((row) => row.delivered['http-cache']),
      'service-worker': sum((row) => row.delivered['service-worker']),
      prefetch: sum((row) => row.delivered.prefetch),
    },
    bytes: sum((row) => row.bytes),
    modes: rows.map((row) => row.modes).reduce<ObservationModes>(unitedModes, []),
  };
}

function recordOf(rows: readonly DayRow[], traits: OriginTraits): OriginRecord {
  const [first, last] = [rows[0], rows.at(-1)] as [DayRow, DayRow];
  const sums = sumsOf(rows);
  const { counts } = sums;
  const lastSeenMs = Date.parse(last.day) + last.bytes;
  const known = counts.h3 + counts.h2 + counts['http/1.1'] > 0;
  return {
    ...emptyRecord(first.origin, first.site, Date.parse(first.day)),
    lastSeenMs,
    protocol: known ? (last.counts.h3 > 0 ? 'h3' : 'h2') : null,
    protocolAtMs: known ? lastSeenMs : null,
    reason: known ? null : 'no-timing-allow-origin',
    address: '192.0.2.1',
    ...sums,
    altSvc: traits.advertises ? H3_ADVERT : null,
    advertisedSinceMs: traits.advertises ? Date.parse(first.day) : null,
    visitsSinceAdvertised: traits.advertises && last.counts.h3 === 0 ? rows.length : 0,
    visitsNetwork: last.network,
  };
}

function trialOf(protocol: 'h3' | 'h2', establishedMs: number): Trial {
  const firstByteMs = establishedMs * 1.5;
  return trial([attempt({ protocol, outcome: 'adopted', establishedMs, firstByteMs })], protocol);
}

/** A comparison of seven pairs, which is enough to decide it. */
function raceOf(origin: Origin, atMs: number, random: () => number): OriginRace {
  const rttMs = 5 + random() * 80;
  const trials = Array.from({ length: 7 }, () => [
    trialOf('h3', rttMs * (1 + random() / 5)),
    trialOf('h2', rttMs * (2 + random() / 2)),
  ]).flat();
  const comparison = compareTrials(trials);
  return {
    origin,
    network: NETWORKS[Math.floor(random() * 2)] ?? 'home',
    mode: 'compare',
    memory: 'none',
    startDelayMs: 0,
    atMs,
    trials,
    summary: {
      trials: trials.length,
      adoption: { h3: 7, h2: 7, 'http/1.1': 0 },
      failed: 0,
      gainMs: comparison && gainMsOf(comparison),
      ...(comparison && { comparison: { ...comparison, most: MAX_PAIRS } }),
      establishedMs: null,
    },
    discovered: { altSvc: H3_ADVERT, knownRoot: true },
    verdict: verdictSaying('h3-available', 'Supports HTTP/3 on this network.'),
  };
}

type Row = { readonly store: Section; readonly value: Sections[Section] };

/** Every row of the filling, origin by origin, with the totals at the end. */
function* rowsOf(filling: Filling): Generator<Row> {
  const random = seededRandom(filling.seed);
  const totals = new Map<string, DayTotal>();
  const perSite = Math.ceil(filling.origins / filling.sites);
  const racedEvery = Math.max(1, Math.floor(filling.origins / Math.max(1, filling.raced)));
  let made = 0;

  function* one(origin: Origin, site: string, main: boolean): Generator<Row> {
    const traits = traitsOf(random);
    const wanted = 1 + Math.floor(random() * (2 * filling.daysPerOrigin - 1));
    const ages = new Set<number>();
    for (let i = 0; i < wanted; i += 1) ages.add(Math.floor(random() ** 2 * filling.days));
    const rows = [...ages]
      .toSorted((a, b) => b - a)
      .map((age) => {
        const day = dayOf(filling.nowMs - age * DAY_MS);
        const network = NETWORKS[Math.floor(random() * NETWORKS.length)] ?? 'home';
        const before = emptyDay(day, site, origin, network);
        const after = dayRow(before, traits, main, random);
        const key = `${day} ${network}`;
        totals.set(key, movedTotal(totals.get(key) ?? emptyTotal(day, network), { before, after }));
        return after;
      });
    for (const value of rows) yield { store: 'days', value };
    const record = recordOf(rows, traits);
    const races: OriginRace[] = [];
    if (main && filling.raced > 0 && made % racedEvery < perSite)
      for (let i = 0; i < 1 + (made % 3); i += 1)
        races.push(raceOf(origin, record.lastSeenMs - (3 - i) * 3_600_000, random));
    for (const value of races) yield { store: 'races', value };
    yield { store: 'records', value: { ...record, verdict: verdictOfRecord(record, races.at(-1)).code } };
  }

  for (let s = 0; s < filling.sites && made < filling.origins; s += 1) {
    const site = `site${s}.test`;
    yield* one(`https://cdn${s % CDNS}.example` as Origin, site, false);
    for (let i = 0; i < perSite && made < filling.origins; i += 1, made += 1)
      yield* one((i === 0 ? `https://${site}` : `https://s${i}.${site}`) as Origin, site, i === 0);
  }
  for (const value of totals.values()) yield { store: 'totals', value };
}

/** Adds the filling to a ledger, which must not contain any of its rows; returns the number of rows by store. */
export async function fillLedger(filling: Filling, name: string = LEDGER_NAME): Promise<RowCounts> {
  const ledger = openLedger(name);
  await ledger.countRows();
  const db = await openDB<LedgerSchema>(name);
  const rows = rowsOf(filling);
  for (let { value: row, done } = rows.next(); !done; ) {
    const tx = db.transaction(SECTIONS, 'readwrite');
    // A promise for each of half a million rows takes longer than the rows themselves.
    const plain = unwrap(tx);
    for (let i = 0; i < CHUNK_ROWS && !done; i += 1) {
      if (row) plain.objectStore(row.store).put(row.value);
      ({ value: row, done } = rows.next());
    }
    await tx.done;
  }
  db.close();
  const counts = await ledger.countRows();
  await ledger.close();
  return counts;
}
