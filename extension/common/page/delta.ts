// The origins of a page's view: their default order, and what changed between two views, to keep messages to a watcher
// small while a page loads. Pure: one function makes a delta in the background, the other applies it in the popup.

import { requestsIn } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import type { OriginView, PageDelta, PageView } from '../messages.ts';

/**
 * The page's own origin first, then by number of requests, then by name; the popup keeps this order while deltas arrive.
 */
export function byUse(own: Origin | null): (a: OriginView, b: OriginView) => number {
  return (a, b) => {
    if (a.origin === own || b.origin === own) return a.origin === own ? -1 : 1;
    return requestsIn(b.counts) - requestsIn(a.counts) || (a.origin < b.origin ? -1 : 1);
  };
}

/** Whether two values have the same JSON; the order of properties does not matter. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  const other = b as Readonly<Record<string, unknown>>;
  return Object.entries(a).every(([key, value]) => key in other && same(value, other[key]));
}

/** The delta from one view to the other; null if they are the same. */
export function deltaOf(before: PageView, after: PageView): PageDelta | null {
  const { origins: _, ...now } = after;
  const fields = Object.fromEntries(
    Object.entries(now).filter(([name, value]) => !same(before[name as keyof PageView], value)),
  );
  const known = new Map(before.origins.map((view) => [view.origin, view]));
  const changed = after.origins.filter((view) => !same(known.get(view.origin), view));
  for (const { origin } of after.origins) known.delete(origin);
  const removed = [...known.keys()];
  if (Object.keys(fields).length + changed.length + removed.length === 0) return null;
  return { fields, changed, removed };
}

/** The view after a delta. Origins that did not change remain the same objects. */
export function withDelta(before: PageView, { fields, changed, removed }: PageDelta): PageView {
  const after = { ...before, ...fields };
  if (changed.length + removed.length === 0 && after.origin === before.origin) return after;
  const origins = new Map<string, OriginView>(before.origins.map((view) => [view.origin, view]));
  for (const origin of removed) origins.delete(origin);
  for (const view of changed) origins.set(view.origin, view);
  return { ...after, origins: [...origins.values()].sort(byUse(after.origin)) };
}
