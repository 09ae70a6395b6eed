// Sorts the popup's table by the selected column. Pure.

import { catalogLanguage } from '@photofinish/shared/language/catalog';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { comparisonOf } from '@photofinish/shared/race/race-pairs';
import { gainMsOf } from '@photofinish/shared/verdict/gain';
import { originParts } from '@photofinish/shared/web/origin';
import { PROTOCOLS } from '@photofinish/shared/web/protocol';
import type { OriginView } from '../../common/messages.ts';
import { requestsOf } from '../../common/page/delta.ts';
import { type ForecastScore, forecastWords } from '../ui/format.ts';
import type { SiteSummary } from './site-summary.ts';

export const SORT_KEYS = ['protocol', 'origin', 'requests', 'forecast', 'race'] as const;
export type SortKey = (typeof SORT_KEYS)[number];
export interface Sorting {
  readonly key: SortKey;
  readonly direction: 'ascending' | 'descending';
}
/** The sort value of a row; null: none, which comes last in either direction. */
export type Rank = number | string | null;

const FORECAST_ORDER: readonly ForecastScore['result'][] = ['wrong', 'open', 'none', 'right'];

/** By the clear gain of HTTP/3; unclear ones count as zero. */
function raceRank(race: OriginRace): Rank {
  const comparison = comparisonOf(race);
  return comparison === null ? null : (gainMsOf(comparison) ?? 0);
}

/** The sort value of an origin. */
export function originRank(view: OriginView, key: SortKey): Rank {
  switch (key) {
    case 'origin':
      return originParts(view.origin).host;
    case 'protocol':
      return PROTOCOLS.indexOf(view.protocol);
    case 'requests':
      return requestsOf(view);
    case 'forecast':
      return FORECAST_ORDER.indexOf(forecastWords(view).result);
    case 'race':
      return view.race === null ? null : raceRank(view.race);
  }
}

/** The sort value of a folded site's row: what it shows. */
export function siteRank(summary: SiteSummary, key: SortKey): Rank {
  switch (key) {
    case 'origin':
      return summary.site;
    case 'protocol':
      return PROTOCOLS.indexOf(summary.protocol);
    case 'requests':
      return summary.requests;
    case 'forecast':
      return FORECAST_ORDER.indexOf(summary.forecast);
    case 'race':
      return null;
  }
}

/** Items in the requested order. The sort is stable. */
export function sortBy<Item>(
  items: readonly Item[],
  { key, direction }: Sorting,
  rankOf: (item: Item, key: SortKey) => Rank,
): Item[] {
  const sign = direction === 'ascending' ? 1 : -1;
  const { compare } = new Intl.Collator(catalogLanguage());
  return items
    .map((item) => ({ item, by: rankOf(item, key) }))
    .sort((a, b) => {
      if (a.by === null || b.by === null) return Number(a.by === null) - Number(b.by === null);
      return sign * (typeof a.by === 'string' ? compare(a.by, String(b.by)) : a.by - Number(b.by));
    })
    .map(({ item }) => item);
}

/** The sorting after a click on a column's header: first descending for numbers, ascending for text. */
export function nextSorting(current: Sorting | null, key: SortKey): Sorting {
  if (current?.key === key)
    return { key, direction: current.direction === 'ascending' ? 'descending' : 'ascending' };
  return { key, direction: key === 'requests' || key === 'race' ? 'descending' : 'ascending' };
}
