// How many origins one site may have kept: a page that asks for a new one with every request would else displace the
// history of all other sites. What is beyond is counted all the same, together and under one name.
import type { Origin } from './origin.ts';

/** Origins that a site may use on a day before what is new to it is counted together; sites use some hundreds at most. */
export const SITE_DAY_ORIGINS = 1000;
/** Origins that a site may have kept at a time. */
export const SITE_ORIGINS = 5000;

/** Stands for all further origins of a site: no name under `invalid` ever has an address (RFC 6761 section 6.4). */
export const OTHER_ORIGINS = 'https://other-origins.invalid' as Origin;

export interface SiteUse {
  /** Origins kept of the site. */
  readonly kept: number;
  /** Origins that it used on the day, or more where networks changed. */
  readonly today: number;
}

/** How many origins that are new to a site may be kept now. */
export function roomOf({ kept, today }: SiteUse): number {
  return Math.max(0, Math.min(SITE_ORIGINS - kept, SITE_DAY_ORIGINS - today));
}
