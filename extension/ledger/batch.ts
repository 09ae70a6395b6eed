// What is counted in one step, and how it is grouped by records and days.
import type { Observation, ObservationMode } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { dayOf } from '../common/records/schema.ts';

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
  /** When the page that the observations belong to began, milliseconds since the epoch. */
  readonly pageStartedMs: number;
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
