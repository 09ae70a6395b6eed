// Adds up days by site and origin while reading, so that a year's half million rows are never in memory at once.
import { addCounts, NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { type ObservationModes, unitedModes } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import type { DayRow } from '../../common/records/schema.ts';

export interface OriginSum {
  counts: ProtocolCounts;
  bytes: number;
  modes: ObservationModes;
}

export interface SiteSum {
  readonly origins: Map<Origin, OriginSum>;
  navigations: ProtocolCounts;
  lookups: number;
  hits: number;
  scored: number;
  right: number;
}

/** The sums of days' rows; rows may be added in any order. */
export interface DaySums {
  readonly sites: Map<string, SiteSum>;
  readonly networks: Set<string>;
}

export function noDays(): DaySums {
  return { sites: new Map(), networks: new Set() };
}

function emptySite(): SiteSum {
  return { origins: new Map(), navigations: NO_REQUESTS, lookups: 0, hits: 0, scored: 0, right: 0 };
}

function found<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}

/** Adds rows. */
export function addDays(sums: DaySums, rows: readonly DayRow[]): void {
  for (const row of rows) {
    sums.networks.add(row.network);
    const site = found(sums.sites, row.site, emptySite);
    const origin = found(site.origins, row.origin, () => ({ counts: NO_REQUESTS, bytes: 0, modes: [] }));
    origin.counts = addCounts(origin.counts, row.counts);
    origin.bytes += row.bytes;
    origin.modes = unitedModes(origin.modes, row.modes);
    site.navigations = addCounts(site.navigations, row.navigations);
    for (const count of ['lookups', 'hits', 'scored', 'right'] as const) site[count] += row[count];
  }
}

/** The rows' sums. */
export function sumsOf(rows: readonly DayRow[]): DaySums {
  const sums = noDays();
  addDays(sums, rows);
  return sums;
}
