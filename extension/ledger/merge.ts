// How rows that come from a file meet those that are there. The rule gives the same however often it is followed:
// of two rows with one key the one that counted more stays, whole; where both counted the same, the one that knows
// more protocols; where that is the same, the one that was there.
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import type { IDBPDatabase } from 'idb';
import { emptyDay } from './fold.ts';
import { putDays, putRace, putRecord } from './rows.ts';
import type { DayRow, DayTotal, LedgerSchema, OriginRecord } from './schema.ts';
import { type DayChange, moved } from './totals.ts';
import { type Store, type Writing, whole } from './transaction.ts';

/** What a file holds of the ledger, in the order in which it is brought in: each section needs those before it. */
export interface Sections {
  readonly races: OriginRace;
  readonly days: DayRow;
  readonly totals: DayTotal;
  readonly records: OriginRecord;
}
export type Section = keyof Sections;
export const SECTIONS = ['races', 'days', 'totals', 'records'] as const satisfies readonly Section[];

type Sums = Pick<OriginRecord, 'counts' | 'navigations' | 'delivered' | 'bytes'>;
type Asked = Partial<Pick<DayRow, 'lookups' | 'scored'>>;

/** Everything that was ever counted into a row. */
function weight({ counts, delivered, lookups = 0, scored = 0 }: Sums & Asked): number {
  const all = [...Object.values(counts), ...Object.values(delivered), lookups, scored];
  return all.reduce((sum, n) => sum + n, 0);
}

/** The row of the two that counted more, `mine` where they are equal. */
export function fuller<Row extends Sums & Asked>(mine: Row, theirs: Row): Row {
  const more = weight(theirs) - weight(mine);
  if (more !== 0) return more > 0 ? theirs : mine;
  return theirs.counts.unknown < mine.counts.unknown ? theirs : mine;
}

function sumsOf({ counts, navigations, delivered, bytes }: Sums): Sums {
  return { counts, navigations, delivered, bytes };
}

/** Two records of one origin on one site: the state of the newer, the sums of the fuller, the earlier beginning. */
export function mergedRecord(mine: OriginRecord, theirs: OriginRecord): OriginRecord {
  return {
    ...(theirs.lastSeenMs > mine.lastSeenMs ? theirs : mine),
    ...sumsOf(fuller(mine, theirs)),
    firstSeenMs: Math.min(mine.firstSeenMs, theirs.firstSeenMs),
  };
}

type Numbers<Key extends string> = Readonly<Record<Key, number>>;

function notNegative<Key extends string>(numbers: Numbers<Key>): Numbers<Key> {
  const entries = Object.entries(numbers) as [Key, number][];
  return Object.fromEntries(entries.map(([key, n]) => [key, Math.max(0, n)])) as Numbers<Key>;
}

/** A record after a row of its days became another. Its own sums may be younger than that row. */
function movedRecord(record: OriginRecord, { before, after }: DayChange): OriginRecord {
  return {
    ...record,
    counts: notNegative(moved(record.counts, before.counts, after.counts)),
    navigations: notNegative(moved(record.navigations, before.navigations, after.navigations)),
    delivered: notNegative(moved(record.delivered, before.delivered, after.delivered)),
    bytes: Math.max(0, record.bytes - before.bytes + after.bytes),
  };
}

async function mergeRaces(tx: Writing, races: readonly OriginRace[]): Promise<void> {
  for (const race of races)
    if ((await tx.objectStore('races').getKey([race.origin, race.atMs])) === undefined)
      await putRace(tx, race);
}

/** Days that were not there, or counted less, also count in the records that are there. */
async function mergeDays(tx: Writing, rows: readonly DayRow[]): Promise<void> {
  const days = tx.objectStore('days');
  const records = tx.objectStore('records');
  const changes = new Map<string, DayChange>();
  for (const row of rows) {
    const { day, site, origin, network } = row;
    const key = `${day} ${site} ${origin} ${network}`;
    const change = changes.get(key);
    const mine = change?.after ?? (await days.get([day, site, origin, network]));
    const after = mine === undefined ? row : fuller(mine, row);
    const before = change?.before ?? mine ?? emptyDay(day, site, origin, network);
    if (after !== mine) changes.set(key, { before, after });
  }
  await putDays(tx, [...changes.values()]);
  for (const change of changes.values()) {
    const { origin, site } = change.after;
    const record = await records.get([origin, site]);
    if (record !== undefined) await records.put(movedRecord(record, change));
  }
}

/** Totals outlive their rows, so one of more than the rows brought in is kept as it is. */
async function mergeTotals(tx: Writing, totals: readonly DayTotal[]): Promise<void> {
  const store = tx.objectStore('totals');
  for (const total of totals) {
    const mine = await store.get([total.day, total.network]);
    const merged = mine === undefined ? total : fuller(mine, total);
    if (merged !== mine) await store.put(merged);
  }
}

async function mergeRecords(tx: Writing, records: readonly OriginRecord[]): Promise<void> {
  for (const record of records) {
    const key: [Origin, string] = [record.origin, record.site];
    const mine = await tx.objectStore('records').get(key);
    await putRecord(tx, mine === undefined ? record : mergedRecord(mine, record));
  }
}

const MERGES: {
  readonly [S in Section]: {
    readonly stores: Store[];
    readonly merge: (tx: Writing, rows: readonly Sections[S][]) => Promise<void>;
  };
} = {
  races: { stores: ['races', 'records'], merge: mergeRaces },
  days: { stores: ['days', 'totals', 'records'], merge: mergeDays },
  totals: { stores: ['totals'], merge: mergeTotals },
  records: { stores: ['records', 'races'], merge: mergeRecords },
};

export function mergesOn(database: () => Promise<IDBPDatabase<LedgerSchema>>) {
  return {
    /** Brings rows of one section in, in one transaction; sections come in the order of SECTIONS. */
    async merge<S extends Section>(section: S, rows: readonly Sections[S][]): Promise<void> {
      const { stores, merge } = MERGES[section];
      await whole((await database()).transaction(stores, 'readwrite'), (tx) => merge(tx, rows));
    },
  };
}
