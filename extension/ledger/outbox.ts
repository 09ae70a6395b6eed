// Which observations the helper can learn from: those that tell a protocol or carry an advertisement. One of a kind
// is enough for its cache; three hundred images of one origin teach it no more than one.

import type { Observation } from '@photofinish/shared/web/observation';
import { OTHER_ORIGINS } from '@photofinish/shared/web/site-quota';

/** Of each batch the newest observation per origin, site, protocol and advertisement, network answers only. */
export function worthTelling(observations: readonly Observation[]): Observation[] {
  const newest = new Map<string, Observation>();
  for (const o of observations) {
    if (o.origin === OTHER_ORIGINS || o.delivery !== 'network') continue;
    if (o.protocol === 'unknown' && o.altSvc === undefined) continue;
    const key = `${o.origin} ${o.site} ${o.protocol} ${o.altSvc ?? ''}`;
    const known = newest.get(key);
    if (known === undefined || known.atMs <= o.atMs) newest.set(key, o);
  }
  return [...newest.values()];
}
