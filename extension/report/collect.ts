// Gathers from the ledger what a report is built of.
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import type { Report } from '@photofinish/shared/report';
import type { Ledger } from '../ledger/ledger.ts';
import { DAY_MS, dayOf, type OriginRecord, RETENTION_MS } from '../ledger/schema.ts';
import { buildReport, type ReportInput } from './build.ts';

export type Conditions = Pick<ReportInput, 'browser' | 'network'> & { readonly nowMs: number };

/** What a report is read from. */
export type ReportedLedger = Pick<Ledger, 'days' | 'records' | 'races'>;

/** What of the ledger a report is of. */
export interface ReportSelection {
  /** `null`: every site. */
  readonly sites: readonly string[] | null;
  /** UTC days such as `2026-11-21`, both included; absent: as far as the ledger goes. */
  readonly fromDay?: string | undefined;
  readonly toDay?: string | undefined;
}

/** What is read of each site, or of all at once. */
async function ofSites<Row>(
  sites: readonly string[] | null,
  read: (site: string | null) => Promise<Row[]>,
): Promise<Row[]> {
  if (sites === null) return read(null);
  return (await Promise.all([...new Set(sites)].map(read))).flat();
}

async function racesOf(
  ledger: ReportedLedger,
  origins: ReadonlySet<Origin>,
): Promise<Map<Origin, readonly OriginRace[]>> {
  return new Map(
    await Promise.all([...origins].map(async (origin) => [origin, await ledger.races(origin)] as const)),
  );
}

/** When the ledger begins to know of what is reported: a race may begin just before its page is recorded. */
function beginning(
  records: readonly OriginRecord[],
  races: ReadonlyMap<Origin, readonly OriginRace[]>,
  nowMs: number,
): number {
  const seen = records.reduce((first, { firstSeenMs }) => Math.min(first, firstSeenMs), nowMs);
  return [...races.values()].flat().reduce((first, { atMs }) => Math.min(first, atMs), seen);
}

/**
 * The report on the sites selected, or on every site, over the days selected of what the ledger still has. Its period
 * is what is covered: it never begins before the first thing known nor ends after now.
 */
export async function collectReport(
  ledger: ReportedLedger,
  { sites, fromDay, toDay }: ReportSelection,
  { browser, network, nowMs }: Conditions,
): Promise<Report> {
  const kept = dayOf(nowMs - RETENTION_MS);
  const firstDay = fromDay === undefined || fromDay < kept ? kept : fromDay;
  const [days, records] = await Promise.all([
    ofSites(sites, (site) => ledger.days(site, firstDay, toDay)),
    ofSites(sites, (site) => ledger.records(site)),
  ]);
  const races = await racesOf(ledger, new Set(days.map((row) => row.origin)));
  const toMs = toDay === undefined ? nowMs : Math.min(nowMs, Date.parse(toDay) + DAY_MS);
  const fromMs = Math.max(beginning(records, races, nowMs), Date.parse(firstDay));
  return buildReport({ days, records, races, browser, network, fromMs: Math.min(fromMs, toMs), toMs });
}
