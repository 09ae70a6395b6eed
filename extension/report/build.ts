// Builds `photofinish.report/1` from the ledger's rows. Pure: rows and conditions in, the document out, checked by
// the schema that readers check it by.
import { addCounts, adoptionByOrigin, adoptionByRequest, NO_REQUESTS } from '@photofinish/shared/adoption';
import type { Browser } from '@photofinish/shared/observation';
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import {
  REPORT_SCHEMA,
  type Report,
  type ReportOrigin,
  type ReportSite,
  reportSchema,
} from '@photofinish/shared/report';
import { wordsLanguage } from '@photofinish/shared/words';
import * as v from 'valibot';
import type { DayRow, OriginRecord } from '../ledger/schema.ts';
import { verdictOfOrigin } from '../verdict.ts';

export interface ReportInput {
  readonly days: readonly DayRow[];
  readonly records: readonly OriginRecord[];
  /** All of each origin, oldest first: verdicts heed the newest, and those of the period are listed. */
  readonly races: ReadonlyMap<Origin, readonly OriginRace[]>;
  readonly browser: { readonly name: Browser; readonly version: string };
  /** The helper's label of the network, `unknown` without a helper. */
  readonly network: string;
  readonly fromMs: number;
  readonly toMs: number;
}

function sum(rows: readonly DayRow[], field: 'bytes' | 'lookups' | 'hits' | 'scored' | 'right'): number {
  return rows.reduce((total, row) => total + row[field], 0);
}

function reportOrigin(
  origin: Origin,
  rows: readonly DayRow[],
  record: OriginRecord | undefined,
  { races: all, fromMs, toMs }: ReportInput,
): ReportOrigin {
  const races = all.get(origin) ?? [];
  const counts = rows.map((row) => row.counts).reduce(addCounts, NO_REQUESTS);
  const race = races.at(-1);
  return {
    origin,
    protocols: {
      h3: counts.h3,
      h2: counts.h2,
      'http/1.1': counts['http/1.1'] + counts['http/1.0'],
      unknown: counts.unknown,
    },
    bytes: sum(rows, 'bytes'),
    hidden: counts.unknown,
    verdict: verdictOfOrigin({
      origin,
      protocol: record?.protocol ?? null,
      reason: record?.reason ?? null,
      elsewhere: null,
      record,
      race,
    }),
    races: races.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs),
  };
}

function reportSite(site: string, rows: readonly DayRow[], input: ReportInput): ReportSite {
  const records = new Map(input.records.filter((r) => r.site === site).map((r) => [r.origin, r]));
  const byOrigin = Map.groupBy(rows, (row) => row.origin);
  const total = rows.map((row) => row.counts).reduce(addCounts, NO_REQUESTS);
  const navigations = rows.map((row) => row.navigations).reduce(addCounts, NO_REQUESTS);
  const ofOrigins = [...byOrigin.values()].map((own) =>
    own.map((r) => r.counts).reduce(addCounts, NO_REQUESTS),
  );
  return {
    site,
    origins: [...byOrigin]
      .map(([origin, own]) => reportOrigin(origin, own, records.get(origin), input))
      .sort((a, b) => (a.origin < b.origin ? -1 : 1)),
    adoption: {
      byRequest: adoptionByRequest(total),
      byOrigin: adoptionByOrigin(ofOrigins),
      byNavigation: adoptionByRequest(navigations),
    },
    hidden: total.unknown,
    hitRatio: { hits: sum(rows, 'hits'), of: sum(rows, 'lookups') },
    accuracy: { hits: sum(rows, 'right'), of: sum(rows, 'scored') },
  };
}

/** The report over the given rows, sites and origins in alphabetical order. Throws when it breaks its own schema. */
export function buildReport(input: ReportInput): Report {
  const bySite = Map.groupBy(input.days, (row) => row.site);
  return v.parse(reportSchema, {
    schema: REPORT_SCHEMA,
    createdAt: new Date(input.toMs).toISOString(),
    period: { from: new Date(input.fromMs).toISOString(), to: new Date(input.toMs).toISOString() },
    browser: input.browser,
    network: input.network,
    networks: [...new Set(input.days.map((row) => row.network))].sort(),
    language: wordsLanguage(),
    sites: [...bySite]
      .map(([site, rows]) => reportSite(site, rows, input))
      .sort((a, b) => (a.site < b.site ? -1 : 1)),
  });
}
