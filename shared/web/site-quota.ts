// How many origins may be stored for one site: a page that uses a new one with every request would otherwise displace
// the history of all other sites. Those beyond the limit are still counted, together and under one name.
import type { Origin } from './origin.ts';

/** Origins that a site may use per day before new ones are counted together; sites use some hundreds at most. */
export const SITE_DAY_ORIGINS = 1000;
/** Origins that may be stored for a site at a time. */
export const SITE_ORIGINS = 5000;

/** Stands for all further origins of a site: no name under `invalid` ever has an address (RFC 6761 section 6.4). */
export const OTHER_ORIGINS = 'https://other-origins.invalid' as Origin;

export interface SiteUse {
  /** Origins stored for the site. */
  readonly kept: number;
  /** Origins that it used on the day, or more if the network changed. */
  readonly today: number;
}

/** How many new origins of a site may be stored now. */
export function roomOf({ kept, today }: SiteUse): number {
  return Math.max(0, Math.min(SITE_ORIGINS - kept, SITE_DAY_ORIGINS - today));
}
