// What pages read of the ledger: all of it, in steps where it may be much.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Origin } from '@photofinish/shared/web/origin';
import { DAY_MS, type DayRow, type DayTotal, dayOf, type OriginRecord } from '../common/records/schema.ts';
import { chunksOf, eachChunk } from './chunks.ts';
import type { Database } from './database.ts';
import { SECTIONS, type Section, type Sections } from './merge.ts';
import { AFTER_ALL, racesOf } from './row-changes.ts';

/** How many rows each store has. */
export interface RowCounts {
  readonly records: number;
  readonly days: number;
  readonly totals: number;
  readonly races: number;
}

/** UTC days, both included; without `toDay` there is no end. */
export interface DaySpan {
  readonly fromDay: string;
  readonly toDay?: string | undefined;
}

type RowSink<Row> = (rows: readonly Row[]) => void | Promise<void>;

/** Every day from the first to the last, both included. */
function daysBetween(first: string, last: string): string[] {
  const days = [];
  for (let atMs = Date.parse(first); atMs <= Date.parse(last); atMs += DAY_MS) days.push(dayOf(atMs));
  return days;
}

/** Whatever pages ask of the ledger: one short query after another, so the length is no course to be followed. */
export function browsesOn(database: Database) {
  return {
    /** The records of a site, or of every site. */
    async records(site: string | null): Promise<OriginRecord[]> {
      const db = await database();
      return site === null ? db.getAll('records') : db.getAllFromIndex('records', 'site', site);
    },

    /** The records seen most lately, newest first. */
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

    /** Hands over every record, by origin and site, in chunks: see `eachChunk`. */
    async eachRecord(take: RowSink<OriginRecord>, chunkRows?: number): Promise<void> {
      const db = await database();
      const after = ({ origin, site }: OriginRecord) => IDBKeyRange.lowerBound([origin, site], true);
      await eachChunk((last, most) => db.getAll('records', last && after(last), most), take, chunkRows);
    },

    /** Hands over the days' rows of every site from a UTC day up to and with another, in chunks: see `eachChunk`. */
    async eachDay(
      { fromDay, toDay = AFTER_ALL }: DaySpan,
      take: RowSink<DayRow>,
      chunkRows?: number,
    ): Promise<void> {
      const db = await database();
      const end = [toDay, AFTER_ALL];
      const after = ({ day, site, origin, network }: DayRow) =>
        IDBKeyRange.bound([day, site, origin, network], end, true);
      const first = IDBKeyRange.bound([fromDay], end);
      await eachChunk((last, most) => db.getAll('days', last ? after(last) : first, most), take, chunkRows);
    },

    /** Hands over every race, by origin and oldest first, in chunks: see `eachChunk`. */
    async eachRace(take: RowSink<OriginRace>, chunkRows?: number): Promise<void> {
      const db = await database();
      const after = ({ origin, atMs }: OriginRace) => IDBKeyRange.lowerBound([origin, atMs], true);
      await eachChunk((last, most) => db.getAll('races', last && after(last), most), take, chunkRows);
    },

    /** How many rows the days' store has from a UTC day up to and with another. */
    async countDays({ fromDay, toDay = AFTER_ALL }: DaySpan): Promise<number> {
      return (await database()).count('days', IDBKeyRange.bound([fromDay], [toDay, AFTER_ALL]));
    },

    /** The days' rows from a UTC day on, up to and with `toDay`, of a site or of every site. */
    async days(site: string | null, fromDay: string, toDay: string = AFTER_ALL): Promise<DayRow[]> {
      const db = await database();
      if (site === null) return db.getAll('days', IDBKeyRange.bound([fromDay], [toDay, AFTER_ALL]));
      return db.getAllFromIndex('days', 'site', IDBKeyRange.bound([site, fromDay], [site, toDay]));
    },

    /** Every row of an origin on a site, oldest first; a day has one for each network. */
    async daysOf(origin: Origin, site: string): Promise<DayRow[]> {
      const { store } = (await database()).transaction('days');
      const ofSite = IDBKeyRange.bound([site, ''], [site, AFTER_ALL]);
      const [first, last] = await Promise.all([
        store.index('site').openKeyCursor(ofSite),
        store.index('site').openKeyCursor(ofSite, 'prev'),
      ]);
      if (first === null || last === null) return [];
      // One small read for each day costs less than the site's hundred other origins would.
      const days = daysBetween(first.key[1], last.key[1]);
      const rows = await Promise.all(
        days.map((day) =>
          store.getAll(IDBKeyRange.bound([day, site, origin], [day, site, origin, AFTER_ALL])),
        ),
      );
      return rows.flat();
    },

    /** The totals from a UTC day up to and with another, oldest first; a day has one for each network. */
    async totals(fromDay: string, toDay: string): Promise<DayTotal[]> {
      return (await database()).getAll('totals', IDBKeyRange.bound([fromDay], [toDay, AFTER_ALL]));
    },

    /** The races of an origin, oldest first. */
    async races(origin: Origin): Promise<OriginRace[]> {
      return (await database()).getAll('races', racesOf(origin));
    },

    /**
     * The newest races of all origins begun before `beforeMs`, newest first. Races of one instant stay together, so
     * the last one's `atMs` leads to the rest: there may be a few more than `limit`.
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
     * Hands over everything that is exported, section by section in their order, as it is at one moment: nothing is
     * recorded until it is through, so `take` waits for nothing.
     */
    async snapshot(
      take: <S extends Section>(section: S, rows: readonly Sections[S][]) => void,
    ): Promise<void> {
      const tx = (await database()).transaction(SECTIONS);
      for (const section of SECTIONS)
        for await (const rows of chunksOf(tx.objectStore(section))) take(section, rows as never);
      await tx.done;
    },

    async countRows(): Promise<RowCounts> {
      const db = await database();
      const [records, days, totals, races] = await Promise.all([
        db.count('records'),
        db.count('days'),
        db.count('totals'),
        db.count('races'),
      ]);
      return { records, days, totals, races };
    },
  };
}
