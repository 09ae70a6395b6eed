// The totals of all origins for a day and network. Pure: a total changes by what a row of its day changed, so the two
// always agree, whatever is folded, backfilled or imported.
import { adoptionByOrigin, NO_ADOPTION, NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { unitedModes } from '@photofinish/shared/web/observation';
import { type DayRow, type DayTotal, NOTHING_DELIVERED } from '../common/records/schema.ts';

/** A row of a day before and after a change. */
export interface DayChange {
  readonly before: DayRow;
  readonly after: DayRow;
}

export function emptyTotal(day: string, network: string): DayTotal {
  return {
    day,
    network,
    counts: NO_REQUESTS,
    navigations: NO_REQUESTS,
    origins: NO_ADOPTION,
    delivered: NOTHING_DELIVERED,
    bytes: 0,
    modes: [],
    lookups: 0,
    hits: 0,
    scored: 0,
    right: 0,
  };
}

type Numbers<Key extends string> = Readonly<Record<Key, number>>;

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
