// Changes of rows inside a transaction, together with what depends on them: totals change with days, verdicts with
// records and races. All changes of these rows go through here.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { adoptionByOrigin, NO_ADOPTION } from '@photofinish/shared/report/adoption';
import { unitedModes } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { isAhead } from '@photofinish/shared/web/untrusted';
import type { IDBPObjectStore } from 'idb';
import {
  type DayRow,
  type DayTotal,
  type LedgerSchema,
  NO_FORECASTS,
  NO_RESPONSES,
  type OriginRecord,
  RACES_PER_ORIGIN,
} from '../common/records/schema.ts';
import { type NewestRaces, verdictOfRecord, wasRun } from '../common/verdict.ts';
import type { Store, WriteTransaction } from './database.ts';

/** Stores changed rows of days and adjusts the totals accordingly. */
export async function putDays(tx: WriteTransaction, changes: readonly DayChange[]): Promise<void> {
  const days = tx.objectStore('days');
  const totals = tx.objectStore('totals');
  const byTotal = Map.groupBy(changes, ({ after }) => `${after.day} ${after.network}`);
  await Promise.all([
    // Async, so that a synchronous rejection is handled together with those of pending requests.
    ...changes.map(async ({ after }) => void (await days.put(after))),
    ...[...byTotal.values()].map(async (group) => {
      const [{ after }] = group as [DayChange, ...DayChange[]];
      const { day, network } = after;
      const total = (await totals.get([day, network])) ?? emptyTotal(day, network);
      await totals.put(group.reduce(movedTotal, total));
    }),
  ]);
}

type RaceStore = Pick<IDBPObjectStore<LedgerSchema, Store[], 'races', IDBTransactionMode>, 'openCursor'>;

/** The newest races of an origin; undefined: it was never raced. */
export async function newestRacesOf(store: RaceStore, origin: Origin): Promise<NewestRaces | undefined> {
  let cursor = await store.openCursor(racesOf(origin), 'prev');
  const newest = cursor?.value;
  while (cursor !== null && !wasRun(cursor.value)) cursor = await cursor.continue();
  return newest === undefined ? undefined : { newest, judged: cursor?.value ?? newest };
}

/**
 * Stores a record (`before`: as it was stored) with the verdict that follows from it and its origin's races. The first
 * response over HTTP/3 is noted in the origin's records on every site. Records of one origin must be stored one after
 * the other.
 */
export async function putRecord(
  tx: WriteTransaction,
  before: OriginRecord | undefined,
  record: OriginRecord,
): Promise<void> {
  const { origin, site, counts } = record;
  const records = tx.objectStore('records');
  const race = (await newestRacesOf(tx.objectStore('races'), origin))?.judged;
  const put = async (row: OriginRecord): Promise<void> => {
    await records.put({ ...row, verdict: verdictOfRecord(row, race).code });
  };
  if (before?.reachedOverH3) return put({ ...record, reachedOverH3: true });
  if (counts.h3 === 0 && before !== undefined) return put(record);
  const others = (await records.getAll(recordsOf(origin))).filter((other) => other.site !== site);
  if (counts.h3 > 0)
    for (const other of others) if (!other.reachedOverH3) await put({ ...other, reachedOverH3: true });
  const reachedOverH3 = counts.h3 > 0 || others.some((other) => other.reachedOverH3 || other.counts.h3 > 0);
  await put(reachedOverH3 ? { ...record, reachedOverH3 } : record);
}

/**
 * Stores a race, keeps the newest RACES_PER_ORIGIN of its origin, and updates the verdicts of the origin's records on
 * every site.
 */
export async function putRace(tx: WriteTransaction, race: OriginRace): Promise<void> {
  const races = tx.objectStore('races');
  await races.put(race);
  const keys = await races.getAllKeys(racesOf(race.origin));
  for (const key of keys.slice(0, -RACES_PER_ORIGIN)) await races.delete(key);
  const judged = (await newestRacesOf(races, race.origin))?.judged;
  const records = tx.objectStore('records');
  for (const record of await records.getAll(recordsOf(race.origin))) {
    const verdict = verdictOfRecord(record, judged).code;
    if (verdict !== record.verdict) await records.put({ ...record, verdict });
  }
}

/**
 * Stores a race that has just ended. Races recorded while the clock was ahead of `nowMs` would be the newest until that
 * time comes again, so they are dated before it: they were stored before it.
 */
export async function putEndedRace(tx: WriteTransaction, race: OriginRace, nowMs: number): Promise<void> {
  const races = tx.objectStore('races');
  const ended = isAhead(race.atMs, nowMs) ? { ...race, atMs: nowMs } : race;
  const instants = (await races.getAllKeys(racesOf(race.origin))).map(([, atMs]) => atMs);
  let { atMs } = ended;
  for (const ahead of instants.filter((instant) => isAhead(instant, nowMs)).toReversed()) {
    const stored = await races.get([race.origin, ahead]);
    do atMs -= 1;
    while (instants.includes(atMs));
    if (stored !== undefined) await races.put({ ...stored, atMs });
    await races.delete([race.origin, ahead]);
  }
  await putRace(tx, ended);
}

// Key ranges that several modules of the ledger use.

/** Sorts after every stored string. */
export const AFTER_ALL = '\uffff';

/** The races of an origin, oldest first. */
export function racesOf(origin: Origin): IDBKeyRange {
  return IDBKeyRange.bound([origin, 0], [origin, Number.POSITIVE_INFINITY]);
}

/** The records of an origin on every site. */
export function recordsOf(origin: Origin): IDBKeyRange {
  return IDBKeyRange.bound([origin, ''], [origin, AFTER_ALL]);
}

// The totals of all origins for a day and network. Pure: a total changes by what a row of its day changed, so the two
// always agree, whatever is folded, backfilled or imported.

/** A row of a day before and after a change. */
export interface DayChange {
  readonly before: DayRow;
  readonly after: DayRow;
}

export function emptyTotal(day: string, network: string): DayTotal {
  return { day, network, origins: NO_ADOPTION, ...NO_RESPONSES, ...NO_FORECASTS };
}

export type Numbers<Key extends string> = Readonly<Record<Key, number>>;

/** `sum - before + after`, field by field. */
export function moved<Key extends string>(
  sum: Numbers<Key>,
  before: Numbers<Key>,
  after: Numbers<Key>,
): Numbers<Key> {
  const keys = Object.keys(sum) as Key[];
  return Object.fromEntries(keys.map((key) => [key, sum[key] - before[key] + after[key]])) as Numbers<Key>;
}

/** `total` after a part of it changed. */
function changedTotal(total: DayTotal, before: DayTotal, after: DayTotal): DayTotal {
  return {
    ...total,
    counts: moved(total.counts, before.counts, after.counts),
    navigations: moved(total.navigations, before.navigations, after.navigations),
    delivered: moved(total.delivered, before.delivered, after.delivered),
    origins: moved(total.origins, before.origins, after.origins),
    bytes: total.bytes - before.bytes + after.bytes,
    modes: unitedModes(total.modes, after.modes),
    lookups: total.lookups - before.lookups + after.lookups,
    hits: total.hits - before.hits + after.hits,
    scored: total.scored - before.scored + after.scored,
    right: total.right - before.right + after.right,
  };
}

function totalOfRow(row: DayRow): DayTotal {
  return { ...row, origins: adoptionByOrigin([row.counts]) };
}

/** The total of a day and network after one of its rows changed. */
export function movedTotal(total: DayTotal, { before, after }: DayChange): DayTotal {
  return changedTotal(total, totalOfRow(before), totalOfRow(after));
}

/** What is left of a total without a part of it; negative where the part was not contained. */
export function totalWithout(total: DayTotal, part: DayTotal): DayTotal {
  return changedTotal(total, part, emptyTotal(total.day, total.network));
}
