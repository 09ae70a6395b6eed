// Everything that is counted, each in one atomic transaction, so the service worker may be terminated at any point; a
// batch that was counted is recognised by its key and never counted again.
import type { Forecast } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { type Observation, type ObservationMode, unitedModes } from '@photofinish/shared/web/observation';
import { type Origin, OTHER_ORIGINS, roomOf } from '@photofinish/shared/web/origin';
import {
  type Backfill,
  type BackfillBatch,
  backfilledRecord,
  backfilledRow,
  countResponse,
  emptyDay,
  emptyRecord,
  foldRecord,
  hiddenOf,
  notAhead,
} from '../common/records/fold.ts';
import { type DayRow, dayOf, MAX_OUTBOX_ROWS } from '../common/records/schema.ts';
import { type Database, type Store, type WriteTransaction, whole } from './database.ts';
import { AFTER_ALL, putDays, putEndedRace, putRecord } from './row-changes.ts';

const RECORDING: Store[] = ['records', 'days', 'totals', 'races', 'outbox', 'batches'];
const RACING: Store[] = ['races', 'records'];
const LOOKING_UP: Store[] = ['days', 'totals'];
const BACKFILLING: Store[] = ['records', 'days', 'totals', 'races', 'batches'];

/** Records that a batch is counted; false if it was before. */
async function claim(tx: WriteTransaction, key: string, nowMs: number): Promise<boolean> {
  const batches = tx.objectStore('batches');
  if ((await batches.getKey(key)) !== undefined) return false;
  await batches.put({ key, atMs: nowMs });
  return true;
}

async function foldRecords(tx: WriteTransaction, batch: Batch): Promise<void> {
  const records = tx.objectStore('records');
  const { pageBegunMs: begunMs, network } = batch;
  await Promise.all(
    [...Map.groupBy(batch.observations, ({ origin }) => origin)].map(async ([origin, ofOrigin]) => {
      for (const [site, group] of Map.groupBy(ofOrigin, ({ site }) => site)) {
        const before = await records.get([origin, site]);
        const oldestMs = Math.min(...group.map((o) => o.atMs));
        let record = notAhead(before ?? emptyRecord(origin, site, oldestMs), oldestMs, batch.nowMs);
        const page = { begunMs, network, proxied: batch.proxied?.get(origin) ?? null };
        for (const o of group) record = foldRecord(record, o, page);
        await putRecord(tx, before, { ...record, modes: unitedModes(record.modes, [batch.mode]) });
      }
    }),
  );
}

async function foldDays(tx: WriteTransaction, batch: Batch): Promise<void> {
  const { network, mode } = batch;
  const days = tx.objectStore('days');
  const changes = await Promise.all(
    [...groupByDay(batch).values()].map(async ({ day, site, origin, observations, scores }) => {
      const before = (await days.get([day, site, origin, network])) ?? emptyDay(day, site, origin, network);
      const folded = observations.reduce(countResponse<DayRow>, before);
      const right = folded.right + scores.filter((s) => s.right).length;
      const modes = unitedModes(folded.modes, observations.length === 0 ? [] : [mode]);
      return { before, after: { ...folded, modes, scored: folded.scored + scores.length, right } };
    }),
  );
  await putDays(tx, changes);
}

async function tellHelper(tx: WriteTransaction, observations: readonly Observation[]): Promise<void> {
  const reportable = isWorthReporting(observations);
  if (reportable.length === 0) return;
  const outbox = tx.objectStore('outbox');
  const key = await outbox.add({ observations: reportable });
  if (key > MAX_OUTBOX_ROWS) await outbox.delete(IDBKeyRange.upperBound(key - MAX_OUTBOX_ROWS));
}

/** Applies one backfill, at most what is unknown on its day; returns the number moved. */
async function backfillOne(tx: WriteTransaction, backfill: Backfill): Promise<number> {
  const { origin, site } = backfill;
  const record = await tx.objectStore('records').get([origin, site]);
  if (record === undefined) return 0;
  const day = dayOf(backfill.atMs);
  const ofDay = IDBKeyRange.bound([day, site, origin], [day, site, origin, AFTER_ALL]);
  let left = Math.min(backfill.count, hiddenOf(record, backfill.kind));
  let count = 0;
  const changes = [];
  for (const before of await tx.objectStore('days').getAll(ofDay)) {
    const here = Math.min(left, hiddenOf(before, backfill.kind));
    if (here === 0) continue;
    changes.push({ before, after: backfilledRow(before, backfill, here) });
    left -= here;
    count += here;
  }
  if (count === 0) return 0;
  await putDays(tx, changes);
  await putRecord(tx, record, backfilledRecord(record, backfill, count));
  return count;
}

/** All changes that the background makes; each is one transaction. */
export function writingOn(database: Database) {
  const write = async <Result>(
    stores: Store[],
    work: (tx: WriteTransaction) => Promise<Result>,
  ): Promise<Result> => whole((await database()).transaction(stores, 'readwrite'), work);

  return {
    /**
     * Counts a batch: records with their verdicts, days, totals, scores and outbox in one transaction. False if it had
     * been counted before. Rejects when storage fails, and then nothing of it was stored.
     */
    record(batch: Batch): Promise<boolean> {
      return write(RECORDING, async (tx) => {
        if (batch.key !== null && !(await claim(tx, batch.key, batch.nowMs))) return false;
        const kept = await withinQuota(tx, batch);
        await Promise.all([foldRecords(tx, kept), foldDays(tx, kept), tellHelper(tx, kept.observations)]);
        return true;
      });
    },

    /** Counts the look-ups that a page's forecast made, under the page's own origin. */
    countLookups(
      origin: Origin,
      site: string,
      forecasts: readonly Forecast[],
      network: string,
      nowMs: number,
    ): Promise<void> {
      return write(LOOKING_UP, async (tx) => {
        const day = dayOf(nowMs);
        const key: [string, string, Origin, string] = [day, site, origin, network];
        const before = (await tx.objectStore('days').get(key)) ?? emptyDay(day, site, origin, network);
        const hits = before.hits + forecasts.filter((f) => f.hit).length;
        await putDays(tx, [
          { before, after: { ...before, lookups: before.lookups + forecasts.length, hits } },
        ]);
      });
    },

    /**
     * Fills in the protocols of requests that were counted as unknown, in record, day and total; requests that no
     * longer exist, or were filled in before, are skipped. Returns the number moved, 0 for a batch counted before.
     */
    backfill({ key, backfills, nowMs }: BackfillBatch): Promise<number> {
      return write(BACKFILLING, async (tx) => {
        if (!(await claim(tx, key, nowMs))) return 0;
        let moved = 0;
        for (const backfill of backfills) moved += await backfillOne(tx, backfill);
        return moved;
      });
    },

    /** Stores a race that has just ended, and keeps the newest RACES_PER_ORIGIN of its origin. */
    saveRace(race: OriginRace, nowMs: number): Promise<void> {
      return write(RACING, (tx) => putEndedRace(tx, race, nowMs));
    },

    /** Deletes outbox rows once the helper has them. */
    acknowledge(keys: readonly number[]): Promise<void> {
      return write(['outbox'], async (tx) => {
        await Promise.all(keys.map(async (key) => tx.objectStore('outbox').delete(key)));
      });
    },

    /** Deletes everything. */
    async wipe(): Promise<void> {
      const stores: Store[] = [...(await database()).objectStoreNames];
      await write(stores, async (tx) => {
        await Promise.all(stores.map(async (name) => tx.objectStore(name).clear()));
      });
    },
  };
}

// Which observations the helper can learn from: those that reveal a protocol or carry an advertisement. One of each
// kind is enough for its cache; three hundred images of one origin add nothing.

/**
 * The newest observation of each batch per origin, site, protocol, advertisement and kind, network responses only: a
 * navigation is a visit, which a resource that follows it is not.
 */
export function isWorthReporting(observations: readonly Observation[]): Observation[] {
  const newest = new Map<string, Observation>();
  for (const o of observations) {
    if (o.origin === OTHER_ORIGINS || o.delivery !== 'network') continue;
    if (o.protocol === 'unknown' && o.altSvc === undefined) continue;
    const key = `${o.kind} ${o.origin} ${o.site} ${o.protocol} ${o.altSvc ?? ''}`;
    const known = newest.get(key);
    if (known === undefined || known.atMs <= o.atMs) newest.set(key, o);
  }
  return [...newest.values()];
}

// What is counted in one step: how it is grouped by days, and how a site is kept within its quota: new
// origins for which their site has no room are combined as its others, so that every request is still counted.

/** How one forecast compared with what the browser used. */
export interface Score {
  readonly origin: Origin;
  readonly site: string;
  readonly right: boolean;
}

export interface Batch {
  /** Identifies the batch across retries; null if it is never sent again. */
  readonly key: string | null;
  readonly observations: readonly Observation[];
  readonly scores: readonly Score[];
  /**
   * When the navigation to the page that the observations belong to was begun, milliseconds since the epoch; null: not
   * known, and they are no visit.
   */
  readonly pageBegunMs: number | null;
  readonly nowMs: number;
  /** The helper's label of the network, NETWORK_UNKNOWN without a helper. */
  readonly network: string;
  /** How the observations were made. */
  readonly mode: ObservationMode;
  /** Whether the responses of an origin came through a proxy; those of which the browser does not say are missing. */
  readonly proxied?: ReadonlyMap<Origin, boolean>;
}

interface DayGroup {
  readonly day: string;
  readonly site: string;
  readonly origin: Origin;
  readonly observations: Observation[];
  readonly scores: Score[];
}

/** What is added to each day's row: observations on the day they were made, scores on the day they were decided. */
function groupByDay({ observations, scores, nowMs }: Batch): Map<string, DayGroup> {
  const groups = new Map<string, DayGroup>();
  const groupOf = (day: string, site: string, origin: Origin): DayGroup => {
    const key = `${day} ${site} ${origin}`;
    const group = groups.get(key) ?? { day, site, origin, observations: [], scores: [] };
    groups.set(key, group);
    return group;
  };
  for (const o of observations) groupOf(dayOf(o.atMs), o.site, o.origin).observations.push(o);
  for (const s of scores) groupOf(dayOf(nowMs), s.site, s.origin).scores.push(s);
  return groups;
}

/** The origins among these for which the site has no room. */
async function refused(
  tx: WriteTransaction,
  site: string,
  origins: readonly Origin[],
  day: string,
): Promise<Origin[]> {
  const records = tx.objectStore('records');
  const known = await Promise.all(origins.map(async (origin) => records.getKey([origin, site])));
  const fresh = origins.filter((_, i) => known[i] === undefined);
  if (fresh.length === 0) return [];
  const kept = await records.index('site').count(site);
  const today = await tx.objectStore('days').index('site').count([site, day]);
  return fresh.slice(roomOf({ kept, today }));
}

/** A response attributed to the others, for which the origin is not recorded. */
function asOther({ address: _, altSvc: __, ...observation }: Observation): Observation {
  return { ...observation, origin: OTHER_ORIGINS };
}

/** The batch with observations beyond their sites' quotas attributed to the others. */
async function withinQuota(tx: WriteTransaction, batch: Batch): Promise<Batch> {
  const bySite = Map.groupBy(batch.observations, ({ site }) => site);
  const beyond = new Map<string, ReadonlySet<Origin>>();
  for (const [site, observations] of bySite) {
    const origins = [...new Set(observations.map(({ origin }) => origin))];
    beyond.set(site, new Set(await refused(tx, site, origins, dayOf(batch.nowMs))));
  }
  const isBeyond = ({ site, origin }: { readonly site: string; readonly origin: Origin }): boolean =>
    beyond.get(site)?.has(origin) === true;
  return {
    ...batch,
    observations: batch.observations.map((o) => (isBeyond(o) ? asOther(o) : o)),
    scores: batch.scores.map((score) => (isBeyond(score) ? { ...score, origin: OTHER_ORIGINS } : score)),
  };
}
