// What is counted in one step: how it is grouped by records and days, and how a site is kept within its quota: new
// origins for which their site has no room are combined as its others, so that every request is still counted.
import type { Observation, ObservationMode } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { OTHER_ORIGINS, roomOf } from '@photofinish/shared/web/site-quota';
import { dayOf } from '../common/records/schema.ts';
import type { WriteTransaction } from './transaction.ts';

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
  /** Whether the answers of an origin came through a proxy; those of which the browser does not say are missing. */
  readonly proxied?: ReadonlyMap<Origin, boolean>;
}

/** The observations of each record. */
export function groupByRecord(observations: readonly Observation[]) {
  const groups = new Map<string, [Observation, ...Observation[]]>();
  for (const o of observations) {
    const key = `${o.origin} ${o.site}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [o]);
    else group.push(o);
  }
  return groups;
}

export interface DayGroup {
  readonly day: string;
  readonly site: string;
  readonly origin: Origin;
  readonly observations: Observation[];
  readonly scores: Score[];
}

/** What is added to each day's row: observations on the day they were made, scores on the day they were decided. */
export function groupByDay({ observations, scores, nowMs }: Batch): Map<string, DayGroup> {
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
  const fresh = origins.filter((origin, i) => known[i] === undefined && origin !== OTHER_ORIGINS);
  if (fresh.length === 0) return [];
  const kept = await records.index('site').count(site);
  const today = await tx.objectStore('days').index('site').count([site, day]);
  return fresh.slice(roomOf({ kept, today }));
}

/** An answer attributed to the others, for which the origin is not recorded. */
function asOther({ address: _, altSvc: __, ...observation }: Observation): Observation {
  return { ...observation, origin: OTHER_ORIGINS };
}

/** The batch with observations beyond their sites' quotas attributed to the others. */
export async function withinQuota(tx: WriteTransaction, batch: Batch): Promise<Batch> {
  const bySite = Map.groupBy(batch.observations, ({ site }) => site);
  const beyond = new Map<string, ReadonlySet<Origin>>();
  for (const [site, observations] of bySite) {
    const origins = [...new Set(observations.map(({ origin }) => origin))];
    beyond.set(site, new Set(await refused(tx, site, origins, dayOf(batch.nowMs))));
  }
  if ([...beyond.values()].every(({ size }) => size === 0)) return batch;
  const isBeyond = ({ site, origin }: { readonly site: string; readonly origin: Origin }): boolean =>
    beyond.get(site)?.has(origin) === true;
  return {
    ...batch,
    observations: batch.observations.map((o) => (isBeyond(o) ? asOther(o) : o)),
    scores: batch.scores.map((score) => (isBeyond(score) ? { ...score, origin: OTHER_ORIGINS } : score)),
  };
}
