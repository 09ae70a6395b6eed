// Which rows the popup's table has, and in which order: one for each origin, and on pages with many origins one for
// each site that has several of them. Pure.
import type { Origin } from '@photofinish/shared/web/origin';
import type { OriginView } from '../../common/messages.ts';
import { requestsOf } from '../../common/page/delta.ts';
import { originLabel } from '../ui/format.ts';
import { type SiteSummary, summaryOf } from './site-summary.ts';
import { originRank, type Sorting, siteRank, sortBy } from './sorting.ts';

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
  readonly sorting: Sorting | null;
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
  const requests = (head: Head) => (isSite(head) ? head.requests : requestsOf(head));
  if (sorting !== null)
    return sortBy<Each>(heads, sorting, (head, key) =>
      isSite(head) ? siteRank(head, key) : originRank(head, key),
    );
  const isOwn = (head: Head) => Number(!isSite(head) && head.origin === own);
  return heads.toSorted((a, b) => isOwn(b) - isOwn(a) || requests(b) - requests(a));
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
