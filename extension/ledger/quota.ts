// Keeps a site within its quota: in a batch, new origins for which their site has no room are combined as its others,
// so that every request is still counted.

import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { OTHER_ORIGINS, roomOf } from '@photofinish/shared/web/site-quota';
import { dayOf } from '../common/records/schema.ts';
import type { Batch } from './batch.ts';
import type { WriteTransaction } from './transaction.ts';

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
