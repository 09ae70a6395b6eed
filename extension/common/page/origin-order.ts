// The default order of a page's origins; the popup keeps it while deltas arrive.
import { adoptionByRequest } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import type { OriginView } from '../messages.ts';

/** Network answers of one origin, hidden ones included. */
export function requestsOf({ counts }: Pick<OriginView, 'counts'>): number {
  const { known, hidden } = adoptionByRequest(counts);
  return known + hidden;
}

/** The page's own origin first, then by number of requests, then by name. */
export function byUse(own: Origin | null): (a: OriginView, b: OriginView) => number {
  return (a, b) => {
    if (a.origin === own || b.origin === own) return a.origin === own ? -1 : 1;
    return requestsOf(b) - requestsOf(a) || (a.origin < b.origin ? -1 : 1);
  };
}
