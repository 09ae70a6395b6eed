// Which rows the popup's table has, and in which order: one for each origin, and on pages with many origins one for
// each site that has several of them, sorted by the selected column. Pure.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import { comparisonOf } from '@photofinish/shared/race/statistics';
import { addCounts, NO_REQUESTS, type ProtocolCounts, requestsIn } from '@photofinish/shared/report/adoption';
import { shownGainMs } from '@photofinish/shared/verdict/gain';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { KNOWN_PROTOCOLS, PROTOCOLS, type Protocol } from '@photofinish/shared/web/protocol';
import type { OriginView } from '../../common/messages.ts';
import { type ForecastScore, forecastText, originLabel } from '../ui/format.ts';
import { type Rank, type SortOrder, sortBy } from '../ui/sorting.ts';

/**
 * From this number of origins on, a page has too many rows to take in at once: sites are folded, and there is a filter.
 */
export const MANY_ORIGINS = 12;
/** Folding two origins into one row would save only one row. */
const FOLDED_ORIGINS = 3;

interface OriginLine {
  readonly view: OriginView;
  /** Whether it is beneath the row of its site. */
  readonly within: boolean;
}
export interface SiteLine {
  readonly summary: SiteSummary;
  readonly open: boolean;
}
export type Line = OriginLine | SiteLine;

export interface LineOptions {
  /** The page's own origin, which is never folded. */
  readonly own: Origin | null;
  /** What a host must contain, in lower case; empty: all. */
  readonly query: string;
  readonly sorting: SortOrder<SortKey> | null;
  /** Sites that the user opened. */
  readonly opened: ReadonlySet<string>;
}

type Head = OriginView | SiteSummary;

const isSite = (head: Head): head is SiteSummary => 'views' in head;

/** The origins that pass the filter. */
export function matching(origins: readonly OriginView[], query: string): readonly OriginView[] {
  return query === '' ? origins : origins.filter(({ origin }) => originLabel(origin).includes(query));
}

function fold(origins: readonly OriginView[], own: Origin | null): Head[] {
  const sites = Map.groupBy(origins, ({ origin, site }) => (origin === own ? null : site));
  const folded = new Set<string>();
  return origins.flatMap((view): Head[] => {
    const { site } = view;
    const views = view.origin === own ? [] : (sites.get(site) ?? []);
    if (views.length < FOLDED_ORIGINS) return [view];
    if (folded.has(site)) return [];
    folded.add(site);
    return [summaryOf(site, views)];
  });
}

function inOrder<Each extends Head>(heads: readonly Each[], { sorting, own }: LineOptions): Each[] {
  if (sorting !== null) return sortBy<Each, SortKey>(heads, sorting, rankOf);
  const isOwn = (head: Head) => Number(!isSite(head) && head.origin === own);
  return heads.toSorted((a, b) => isOwn(b) - isOwn(a) || requestsIn(b.counts) - requestsIn(a.counts));
}

/** The table's rows, top to bottom. With a filter the user is looking for an origin, so nothing is folded. */
export function linesOf(origins: readonly OriginView[], options: LineOptions): Line[] {
  const { own, query, opened } = options;
  const folds = origins.length >= MANY_ORIGINS && query === '';
  const heads: readonly Head[] = folds ? fold(origins, own) : matching(origins, query);
  return inOrder(heads, options).flatMap((head): Line[] => {
    if (!isSite(head)) return [{ view: head, within: false }];
    const open = opened.has(head.site);
    const within = open ? inOrder(head.views, options).map((view) => ({ view, within: true })) : [];
    return [{ summary: head, open }, ...within];
  });
}

export const SORT_KEYS = ['protocol', 'origin', 'requests', 'forecast', 'race'] as const;
export type SortKey = (typeof SORT_KEYS)[number];
/** Columns of numbers, in which the highest are of interest. */
export const NUMBER_KEYS: readonly SortKey[] = ['requests', 'race'];

const FORECAST_ORDER: readonly ForecastScore['result'][] = ['wrong', 'open', 'none', 'right'];

/** By the clear gain of HTTP/3; unclear ones count as zero. */
function raceRank(race: OriginRace): Rank {
  const comparison = comparisonOf(race);
  return comparison === null ? null : shownGainMs(comparison);
}

/** The sort value of an origin's row, or a folded site's: what it shows. */
export function rankOf(head: Head, key: SortKey): Rank {
  switch (key) {
    case 'origin':
      return isSite(head) ? head.site : originParts(head.origin).host;
    case 'protocol':
      return PROTOCOLS.indexOf(head.protocol);
    case 'requests':
      return requestsIn(head.counts);
    case 'forecast':
      return FORECAST_ORDER.indexOf(isSite(head) ? head.forecast : forecastText(head).result);
    case 'race':
      return isSite(head) || head.race === null ? null : raceRank(head.race);
  }
}

/** All origins of a folded site. */
export interface SiteSummary {
  readonly site: string;
  readonly views: readonly OriginView[];
  readonly counts: ProtocolCounts;
  /** The one that carried the most requests; `unknown` if none is known. */
  readonly protocol: Protocol;
  readonly reason: OriginView['reason'];
  /** The worst of its forecasts: a wrong one deserves attention. */
  readonly forecast: ForecastScore['result'];
  readonly raced: number;
}

const WORST_FIRST: readonly ForecastScore['result'][] = ['wrong', 'right', 'open', 'none'];

/** The row of a site, from these of its origins. */
function summaryOf(site: string, views: readonly OriginView[]): SiteSummary {
  const counts = views.map((view) => view.counts).reduce(addCounts, NO_REQUESTS);
  const most = KNOWN_PROTOCOLS.reduce((best, each) => (counts[each] > counts[best] ? each : best));
  const results = new Set(views.map((view) => forecastText(view).result));
  return {
    site,
    views,
    counts,
    protocol: counts[most] > 0 ? most : 'unknown',
    reason: views.find(({ reason }) => reason !== null)?.reason ?? null,
    forecast: WORST_FIRST.find((result) => results.has(result)) ?? 'none',
    raced: views.filter(({ race }) => race !== null).length,
  };
}
