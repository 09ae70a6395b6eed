// Gathers from the ledger what a report is built of.
import type { Origin } from '@photofinish/shared/origin';
import type { Report } from '@photofinish/shared/report';
import type { Ledger } from '../ledger/ledger.ts';
import { dayOf, RETENTION_MS } from '../ledger/schema.ts';
import { buildReport, type ReportInput } from './build.ts';

export type Conditions = Pick<ReportInput, 'browser' | 'network'> & { readonly nowMs: number };

/** The report on a site, or on every site, over everything the ledger still has. */
export async function collectReport(
  ledger: Pick<Ledger, 'days' | 'records' | 'races'>,
  site: string | null,
  { browser, network, nowMs }: Conditions,
): Promise<Report> {
  const [days, records] = await Promise.all([
    ledger.days(site, dayOf(nowMs - RETENTION_MS)),
    ledger.records(site),
  ]);
  const origins: Origin[] = [...new Set(days.map((row) => row.origin))];
  const races = new Map(
    await Promise.all(origins.map(async (origin) => [origin, await ledger.races(origin)] as const)),
  );
  const fromMs = records.reduce((first, record) => Math.min(first, record.firstSeenMs), nowMs);
  return buildReport({ days, records, races, browser, network, fromMs, toMs: nowMs });
}
