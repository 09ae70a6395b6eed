// How rows imported from a file are merged with existing ones. The rule is idempotent: of two rows with one key, the
// one that counted more is kept; if both counted the same, the one that knows more protocols; if that is the same too,
// the existing one. Their modes are united, as those of totals and records are that contain them.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { ONLY_FULL, unitedModes } from '@photofinish/shared/web/observation';
import { emptyDay, h3Since } from '../common/records/fold.ts';
import type { DayRow, DayTotal, OriginRecord, ResponseCounts } from '../common/records/schema.ts';
import { type Database, type Store, type WriteTransaction, whole } from './database.ts';
import { type DayChange, moved, type Numbers, putDays, putRace, putRecord } from './row-changes.ts';

/** What a file contains of the ledger, in import order: each section needs those before it. */
export interface Sections {
  readonly races: OriginRace;
  readonly days: DayRow;
  readonly totals: DayTotal;
  readonly records: OriginRecord;
}
export type Section = keyof Sections;
export const SECTIONS = ['races', 'days', 'totals', 'records'] as const satisfies readonly Section[];
/** Numbers of rows. */
export type RowCounts = Readonly<Record<Section, number>>;
export const NO_ROWS: RowCounts = { races: 0, days: 0, totals: 0, records: 0 };

type LookupCounts = Partial<Pick<DayRow, 'lookups' | 'scored'>>;

/** Everything ever counted in a row. */
export function weight({
  counts,
  delivered,
  lookups = 0,
  scored = 0,
}: ResponseCounts & LookupCounts): number {
  const all = [...Object.values(counts), ...Object.values(delivered), lookups, scored];
  return all.reduce((sum, n) => sum + n, 0);
}

function countsMore(mine: ResponseCounts & LookupCounts, theirs: ResponseCounts & LookupCounts): boolean {
  const more = weight(theirs) - weight(mine);
  return more === 0 ? theirs.counts.unknown < mine.counts.unknown : more > 0;
}

/** Of two rows the one that counted more, with the modes of both; `mine` itself if `theirs` adds nothing. */
function fuller<Row extends ResponseCounts & LookupCounts>(mine: Row, theirs: Row): Row {
  const kept = countsMore(mine, theirs) ? theirs : mine;
  const modes = unitedModes(kept.modes, kept === mine ? theirs.modes : mine.modes);
  return modes === kept.modes ? kept : { ...kept, modes };
}

function sumsOf({
  counts,
  navigations,
  delivered,
  bytes,
  modes = ONLY_FULL,
}: ResponseCounts): ResponseCounts {
  return { counts, navigations, delivered, bytes, modes };
}

function earlier(mine: number | undefined, theirs: number | undefined): number | undefined {
  return mine === undefined || theirs === undefined ? (mine ?? theirs) : Math.min(mine, theirs);
}

/**
 * Merges two records of one origin on one site: the state of the newer, the sums of the fuller, the earlier beginnings;
 * `mine` itself if that changes nothing.
 */
function mergedRecord(mine: OriginRecord, theirs: OriginRecord): OriginRecord {
  const newer = theirs.lastSeenMs > mine.lastSeenMs ? theirs : mine;
  const sums = fuller(mine, theirs);
  const firstSeenMs = Math.min(mine.firstSeenMs, theirs.firstSeenMs);
  const h3SinceMs = earlier(mine.h3SinceMs, theirs.h3SinceMs ?? h3Since(theirs, null).h3SinceMs);
  const begunAsMine = mine.firstSeenMs === firstSeenMs && mine.h3SinceMs === h3SinceMs;
  if (newer === mine && sums === mine && begunAsMine) return mine;
  return { ...newer, ...sumsOf(sums), firstSeenMs, ...(h3SinceMs !== undefined && { h3SinceMs }) };
}

function notNegative<Key extends string>(numbers: Numbers<Key>): Numbers<Key> {
  const entries = Object.entries(numbers) as [Key, number][];
  return Object.fromEntries(entries.map(([key, n]) => [key, Math.max(0, n)])) as Numbers<Key>;
}

/** A record after one of its days' rows changed. Its own sums may have begun later than that row. */
function movedRecord(record: OriginRecord, { before, after }: DayChange): OriginRecord {
  return {
    ...record,
    counts: notNegative(moved(record.counts, before.counts, after.counts)),
    navigations: notNegative(moved(record.navigations, before.navigations, after.navigations)),
    delivered: notNegative(moved(record.delivered, before.delivered, after.delivered)),
    bytes: Math.max(0, record.bytes - before.bytes + after.bytes),
    modes: unitedModes(record.modes, after.modes),
  };
}

/**
 * The rows that a chunk changes, before (undefined: did not exist) and after. All are requested at once: sequentially,
 * half a million rows would take minutes.
 */
async function changesOf<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  stored: (row: Row) => Promise<Row | undefined>,
  merged: (mine: Row, theirs: Row) => Row,
): Promise<{ readonly before: Row | undefined; readonly after: Row }[]> {
  const found = await Promise.all(rows.map(async (row) => [row, await stored(row)] as const));
  const changes = new Map<string, { readonly before: Row | undefined; readonly after: Row }>();
  for (const [row, before] of found) {
    // A file may contain a row twice.
    const mine = changes.get(keyOf(row))?.after ?? before;
    const after = mine === undefined ? row : merged(mine, row);
    if (after !== mine) changes.set(keyOf(row), { before, after });
  }
  return [...changes.values()];
}

async function mergeRaces(tx: WriteTransaction, rows: readonly OriginRace[]): Promise<void> {
  const races = tx.objectStore('races');
  const changes = await changesOf(
    rows,
    (race) => `${race.origin} ${race.atMs}`,
    (race) => races.get([race.origin, race.atMs]),
    (mine) => mine,
  );
  for (const { after } of changes) await putRace(tx, after);
}

/** Days that did not exist, or counted less, also count in the existing records. */
async function mergeDays(tx: WriteTransaction, rows: readonly DayRow[]): Promise<void> {
  const days = tx.objectStore('days');
  const records = tx.objectStore('records');
  const merged = await changesOf(
    rows,
    ({ day, site, origin, network }) => `${day} ${site} ${origin} ${network}`,
    ({ day, site, origin, network }) => days.get([day, site, origin, network]),
    fuller,
  );
  const changes = merged.map(({ before, after }) => ({
    before: before ?? emptyDay(after.day, after.site, after.origin, after.network),
    after,
  }));
  await putDays(tx, changes);
  const ofRecord = Map.groupBy(changes, ({ after }) => `${after.origin} ${after.site}`);
  await Promise.all(
    [...ofRecord.values()].map(async (group) => {
      const [{ after }] = group as [DayChange, ...DayChange[]];
      const record = await records.get([after.origin, after.site]);
      if (record !== undefined) await records.put(group.reduce(movedRecord, record));
    }),
  );
}

/** Totals outlive their rows, so a total that covers more than the imported rows is kept as it is. */
async function mergeTotals(tx: WriteTransaction, rows: readonly DayTotal[]): Promise<void> {
  const totals = tx.objectStore('totals');
  const changes = await changesOf(
    rows,
    ({ day, network }) => `${day} ${network}`,
    ({ day, network }) => totals.get([day, network]),
    fuller,
  );
  await Promise.all(changes.map(async ({ after }) => totals.put(after)));
}

async function mergeRecords(tx: WriteTransaction, rows: readonly OriginRecord[]): Promise<void> {
  const records = tx.objectStore('records');
  const changes = await changesOf(
    rows,
    ({ origin, site }) => `${origin} ${site}`,
    ({ origin, site }) => records.get([origin, site]),
    mergedRecord,
  );
  await Promise.all(
    [...Map.groupBy(changes, ({ after }) => after.origin).values()].map(async (ofOrigin) => {
      for (const { before, after } of ofOrigin) await putRecord(tx, before, after);
    }),
  );
}

const MERGES: {
  readonly [S in Section]: {
    readonly stores: Store[];
    readonly merge: (tx: WriteTransaction, rows: readonly Sections[S][]) => Promise<void>;
  };
} = {
  races: { stores: ['races', 'records'], merge: mergeRaces },
  days: { stores: ['days', 'totals', 'records'], merge: mergeDays },
  totals: { stores: ['totals'], merge: mergeTotals },
  records: { stores: ['records', 'races'], merge: mergeRecords },
};

/** The import of a file, section by section. */
export function mergingOn(database: Database) {
  return {
    /** Imports rows of one section in one transaction; sections arrive in the order of SECTIONS. */
    async merge<S extends Section>(section: S, rows: readonly Sections[S][]): Promise<void> {
      const { stores, merge } = MERGES[section];
      await whole((await database()).transaction(stores, 'readwrite'), (tx) => merge(tx, rows));
    },
  };
}
