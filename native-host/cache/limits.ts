// Limits on the size of the host cache, and which records are deleted beyond them. With expiry alone one page could
// fill a disk with generated names: beyond the limits, records of the site that added the most are deleted, oldest
// first.
import type { Origin } from '@photofinish/shared/web/origin';
import { forgetOrigin, isUsed, type Statements } from './rows.ts';

export interface CacheLimits {
  /** Records of hosts and of browsers' uses. */
  readonly rows: number;
  /** Size of the file's content, without free pages. */
  readonly bytes: number;
  /** Ids of observations, used to recognise repeated ones. */
  readonly folded: number;
  /** Per site and day. */
  readonly newOrigins: number;
}

export const LIMITS: CacheLimits = {
  rows: 3_000_000,
  bytes: 1024 * 1024 * 1024,
  folded: 500_000,
  // Far more than any real site names in a day; the busiest news pages reach a few hundred.
  newOrigins: 2000,
};

/** Rows deleted by one write beyond the limits: few enough to be fast, more than a batch adds. */
const TRIM_ROWS = 2000;
/**
 * A site with fewer new origins than this over all its days is no flood: the oldest of all records are deleted instead.
 */
const FLOOD_ORIGINS = 1000;
/** How long the counts per site are kept. */
const FLOOD_DAYS = 30;

const DAY_MS = 24 * 3_600_000;

/** The UTC day of an instant, counted from the epoch. */
function dayOf(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS);
}

function counted(s: Statements, name: string): number {
  return Number(s.counter.get(name)?.value ?? 0);
}

/** Counts an origin added by a site; false: it has added too many today, and this one must not be recorded. */
export function admitOrigin(
  s: Statements,
  site: string,
  nowMs: number,
  { newOrigins }: CacheLimits,
): boolean {
  const day = dayOf(nowMs);
  const added = Number(s.newcomers.get(site, day)?.origins ?? 0);
  if (added >= newOrigins) {
    s.count.run('refused', 1);
    return false;
  }
  s.putNewcomer.run(site, day);
  return true;
}

/** Deletes a site's oldest records, and what is known of the hosts that no other site uses. */
function trimSite(s: Statements, site: string): number {
  const uses = s.oldestUsesOf.all(site, TRIM_ROWS) as unknown as { rowId: string; origin: Origin }[];
  for (const { rowId } of uses) s.count.run('rows', -Number(s.dropRow.run(rowId).changes));
  for (const origin of new Set(uses.map((use) => use.origin)))
    if (!isUsed(s, origin)) forgetOrigin(s, origin);
  if (uses.length === 0) s.dropNewcomer.run(site);
  return uses.length;
}

function trimOldest(s: Statements): void {
  const rows = s.oldestRows.all(TRIM_ROWS, TRIM_ROWS) as unknown as { origin: Origin }[];
  for (const origin of new Set(rows.slice(0, TRIM_ROWS).map((row) => row.origin))) forgetOrigin(s, origin);
}

/** Enforces the limits, a part at a time; called in every write. */
export function trim(s: Statements, nowMs: number, limits: CacheLimits): void {
  s.expireNewcomers.run(dayOf(nowMs) - FLOOD_DAYS);
  const folded = counted(s, 'folded') - limits.folded;
  if (folded > 0) s.count.run('folded', -Number(s.oldestFolded.run(folded).changes));
  const bytes = Number(s.bytes.get()?.bytes ?? 0);
  if (counted(s, 'rows') <= limits.rows && bytes <= limits.bytes) return;
  const flood = s.largestNewcomer.get() as { site: string; origins: number } | undefined;
  const most = Math.min(FLOOD_ORIGINS, limits.newOrigins / 2);
  if (flood === undefined || flood.origins < most || trimSite(s, flood.site) === 0) trimOldest(s);
}
