// What pages read from the ledger: everything, in chunks where it may be large.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Origin } from '@photofinish/shared/web/origin';
import { type DayRow, type DayTotal, daysBetween, type OriginRecord } from '../common/records/schema.ts';
import { chunksOf, type Database, eachChunk } from './database.ts';
import { NO_ROWS, type RowCounts, SECTIONS, type Section, type Sections } from './merge.ts';
import { AFTER_ALL, racesOf } from './row-changes.ts';

/** UTC days, both included; open-ended without `toDay`. */
export interface DaySpan {
  readonly fromDay: string;
  readonly toDay?: string | undefined;
}

type RowSink<Row> = (rows: readonly Row[]) => void | Promise<void>;

/**
 * All queries that pages run on the ledger: a list of short, independent methods, so the function's length does no
 * harm.
 */
export function browsingOn(database: Database) {
  return {
    ...countingOn(database),

    /** The records of a site, or of every site. */
    async records(site: string | null): Promise<OriginRecord[]> {
      const db = await database();
      return site === null ? db.getAll('records') : db.getAllFromIndex('records', 'site', site);
    },

    /** The most recently seen records, newest first. */
    async newestRecords(limit: number): Promise<OriginRecord[]> {
      const newest: OriginRecord[] = [];
      const tx = (await database()).transaction('records');
      let cursor = await tx.store.index('lastSeenMs').openCursor(null, 'prev');
      while (cursor !== null && newest.length < limit) {
        newest.push(cursor.value);
        cursor = await cursor.continue();
      }
      return newest;
    },

    /** Passes on every record, by origin and site, in chunks: see `eachChunk`. */
    async eachRecord(take: RowSink<OriginRecord>, chunkRows?: number): Promise<void> {
      const db = await database();
      const after = ({ origin, site }: OriginRecord) => IDBKeyRange.lowerBound([origin, site], true);
      await eachChunk((last, most) => db.getAll('records', last && after(last), most), take, chunkRows);
    },

    /** Passes on the days' rows of every site between two UTC days, both included, in chunks: see `eachChunk`. */
    async eachDay({ fromDay, toDay = AFTER_ALL }: DaySpan, take: RowSink<DayRow>): Promise<void> {
      const db = await database();
      const end = [toDay, AFTER_ALL];
      const after = ({ day, site, origin, network }: DayRow) =>
        IDBKeyRange.bound([day, site, origin, network], end, true);
      const first = IDBKeyRange.bound([fromDay], end);
      await eachChunk((last, most) => db.getAll('days', last ? after(last) : first, most), take);
    },

    /** Passes on every race, by origin and oldest first, in chunks: see `eachChunk`. */
    async eachRace(take: RowSink<OriginRace>): Promise<void> {
      const db = await database();
      const after = ({ origin, atMs }: OriginRace) => IDBKeyRange.lowerBound([origin, atMs], true);
      await eachChunk((last, most) => db.getAll('races', last && after(last), most), take);
    },

    /** The first UTC day of which anything is still kept; null if there is none. */
    oldestDay: async () => (await (await database()).getAllKeys('days', null, 1))[0]?.[0] ?? null,

    /** The days' rows between two UTC days, both included, of a site or of every site. */
    async days(site: string | null, fromDay: string, toDay: string = AFTER_ALL): Promise<DayRow[]> {
      const db = await database();
      if (site === null) return db.getAll('days', IDBKeyRange.bound([fromDay], [toDay, AFTER_ALL]));
      return db.getAllFromIndex('days', 'site', IDBKeyRange.bound([site, fromDay], [site, toDay]));
    },

    /** Every row of an origin on a site, oldest first; there is one for each day and network. */
    async daysOf(origin: Origin, site: string): Promise<DayRow[]> {
      const { store } = (await database()).transaction('days');
      const ofSite = IDBKeyRange.bound([site, ''], [site, AFTER_ALL]);
      const [first, last] = await Promise.all([
        store.index('site').openKeyCursor(ofSite),
        store.index('site').openKeyCursor(ofSite, 'prev'),
      ]);
      if (first === null || last === null) return [];
      // One small read per day costs less than reading a hundred other origins of the site.
      const days = daysBetween(first.key[1], last.key[1]);
      const rows = await Promise.all(
        days.map((day) =>
          store.getAll(IDBKeyRange.bound([day, site, origin], [day, site, origin, AFTER_ALL])),
        ),
      );
      return rows.flat();
    },

    /** The totals between two UTC days, both included, oldest first; there is one for each day and network. */
    async totals(fromDay: string, toDay: string): Promise<DayTotal[]> {
      return (await database()).getAll('totals', IDBKeyRange.bound([fromDay], [toDay, AFTER_ALL]));
    },

    /** The races of an origin, oldest first. */
    async races(origin: Origin): Promise<OriginRace[]> {
      return (await database()).getAll('races', racesOf(origin));
    },

    /**
     * The newest races of all origins begun before `beforeMs`, newest first. Races with the same time are not
     * separated, so the last one's `atMs` can be used to continue: there may be a few more than `limit`.
     */
    async recentRaces(limit: number, beforeMs: number = Number.POSITIVE_INFINITY): Promise<OriginRace[]> {
      const recent: OriginRace[] = [];
      const tx = (await database()).transaction('races');
      let cursor = await tx.store.index('atMs').openCursor(IDBKeyRange.upperBound(beforeMs, true), 'prev');
      while (cursor !== null && (recent.length < limit || cursor.key === recent.at(-1)?.atMs)) {
        recent.push(cursor.value);
        cursor = await cursor.continue();
      }
      return recent;
    },

    /**
     * Passes on everything that is exported, section by section in order, as a consistent snapshot: nothing is recorded
     * until it is done, so `take` must not wait for anything.
     */
    async snapshot(
      take: <S extends Section>(section: S, rows: readonly Sections[S][]) => void,
    ): Promise<void> {
      const tx = (await database()).transaction(SECTIONS);
      for (const section of SECTIONS)
        for await (const rows of chunksOf(tx.objectStore(section))) take(section, rows as never);
      await tx.done;
    },
  };
}

function countingOn(database: Database) {
  return {
    /** How many rows a store has; counting the days, by far the most, can take a second. */
    async count(store: Section): Promise<number> {
      return (await database()).count(store);
    },

    /** The number of rows between two UTC days, both included. */
    async countDays({ fromDay, toDay = AFTER_ALL }: DaySpan): Promise<number> {
      return (await database()).count('days', IDBKeyRange.bound([fromDay], [toDay, AFTER_ALL]));
    },

    async countRows(): Promise<RowCounts> {
      const db = await database();
      const counts = await Promise.all(SECTIONS.map(async (store) => [store, await db.count(store)]));
      return { ...NO_ROWS, ...Object.fromEntries(counts) };
    },
  };
}
