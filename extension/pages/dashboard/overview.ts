// Converts the ledger's totals to what the overview draws: shares by day, and the sums over the period with their
// denominators. Pure: takes rows and a period, returns series. A day without rows is null, never zero.
import {
  type Adoption,
  addAdoption,
  addCounts,
  adoptionByOrigin,
  adoptionByRequest,
  NO_ADOPTION,
  NO_REQUESTS,
  requestsIn,
} from '@photofinish/shared/report/adoption';
import { type ObservationModes, unitedModes } from '@photofinish/shared/web/observation';
import { type DayRow, type DayTotal, daysBetween } from '../../common/records/schema.ts';
import type { ShareDay } from '../charts/share-chart.ts';
import type { Basis, Period } from './state.ts';

/** A ratio as its two counts. */
export interface Ratio {
  readonly hits: number;
  readonly of: number;
}

interface DayOverview {
  readonly modes: ObservationModes;
  readonly adoption: Readonly<Record<Basis, Adoption>>;
  /** Forecast look-ups that found a fresh entry. */
  readonly hitRatio: Ratio;
  /** Forecasts that were right. */
  readonly accuracy: Ratio;
}

export interface Overview {
  /** Every UTC day of the period. */
  readonly days: readonly string[];
  /** By day; null: nothing was recorded. */
  readonly values: readonly (DayOverview | null)[];
  readonly sum: DayOverview;
  readonly recordedDays: number;
}

type SummedTotals = Pick<
  DayTotal,
  'counts' | 'navigations' | 'origins' | 'lookups' | 'hits' | 'scored' | 'right' | 'modes'
>;

const NOTHING: DayOverview = {
  modes: [],
  adoption: { request: NO_ADOPTION, origin: NO_ADOPTION, navigation: NO_ADOPTION },
  hitRatio: { hits: 0, of: 0 },
  accuracy: { hits: 0, of: 0 },
};

function overviewOfDay(total: SummedTotals): DayOverview {
  return {
    modes: unitedModes([], total.modes),
    adoption: {
      request: adoptionByRequest(total.counts),
      origin: total.origins,
      navigation: adoptionByRequest(total.navigations),
    },
    hitRatio: { hits: total.hits, of: total.lookups },
    accuracy: { hits: total.right, of: total.scored },
  };
}

function addRatio(a: Ratio, b: Ratio): Ratio {
  return { hits: a.hits + b.hits, of: a.of + b.of };
}

function plus(a: DayOverview, b: DayOverview): DayOverview {
  return {
    modes: unitedModes(a.modes, b.modes),
    adoption: {
      request: addAdoption(a.adoption.request, b.adoption.request),
      origin: addAdoption(a.adoption.origin, b.adoption.origin),
      navigation: addAdoption(a.adoption.navigation, b.adoption.navigation),
    },
    hitRatio: addRatio(a.hitRatio, b.hitRatio),
    accuracy: addRatio(a.accuracy, b.accuracy),
  };
}

/** The totals of the period, over one network or (null) over all. */
export function overviewOf(
  totals: readonly (SummedTotals & Pick<DayTotal, 'day' | 'network'>)[],
  { fromDay, toDay }: Period,
  network: string | null,
): Overview {
  const byDay = new Map<string, DayOverview>();
  for (const total of totals) {
    if (network !== null && total.network !== network) continue;
    byDay.set(total.day, plus(byDay.get(total.day) ?? NOTHING, overviewOfDay(total)));
  }
  const days = daysBetween(fromDay, toDay);
  const values = days.map((day) => byDay.get(day) ?? null);
  const recorded = values.filter((value) => value !== null);
  return { days, values, sum: recorded.reduce(plus, NOTHING), recordedDays: recorded.length };
}

/** The same totals computed from individual rows, for parts of the ledger without totals: one site, one origin. */
export function totalsOfRows(rows: readonly DayRow[]): (SummedTotals & Pick<DayTotal, 'day' | 'network'>)[] {
  const groups = Map.groupBy(rows, ({ day, network }) => `${day} ${network}`);
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const sum = (field: 'lookups' | 'hits' | 'scored' | 'right') =>
      own.reduce((total, row) => total + row[field], 0);
    return [
      {
        day: first.day,
        network: first.network,
        counts: own.map((row) => row.counts).reduce(addCounts, NO_REQUESTS),
        navigations: own.map((row) => row.navigations).reduce(addCounts, NO_REQUESTS),
        origins: adoptionByOrigin(own.map((row) => row.counts)),
        lookups: sum('lookups'),
        hits: sum('hits'),
        scored: sum('scored'),
        right: sum('right'),
        modes: own.map((row) => row.modes).reduce<ObservationModes>(unitedModes, []),
      },
    ];
  });
}

/**
 * Adoption as a day of the chart: HTTP/3, older and hidden as shares of all responses, the line at HTTP/3 of the known.
 */
export function adoptionDay({ h3, known, hidden }: Adoption): ShareDay | null {
  const of = known + hidden;
  if (of === 0) return null;
  return { parts: [h3, known - h3, hidden], of, line: known === 0 ? null : h3 / known };
}

/** A ratio as a day of the chart. */
export function ratioDay({ hits, of }: Ratio): ShareDay | null {
  return of === 0 ? null : { parts: [hits], of, line: null };
}

/** The networks in the totals, the most used first. */
export function networksOf(totals: readonly Pick<DayTotal, 'network' | 'counts'>[]): string[] {
  const requests = new Map<string, number>();
  for (const { network, counts } of totals)
    requests.set(network, (requests.get(network) ?? 0) + requestsIn(counts));
  return [...requests].sort((a, b) => b[1] - a[1]).map(([network]) => network);
}
