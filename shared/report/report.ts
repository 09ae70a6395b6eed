// `photofinish.report/2`: what is exported per site. The schema is the contract; the committed JSON Schema is derived
// from it, the extension builds it from its ledger, and CSV and HTML are other formats of the same document. Reports of
// version 1, whose verdicts are text, can be read too (their JSON Schema is `report-1.schema.json`).
import * as v from 'valibot';
import { originRaceSchema } from '../race/outcome.ts';
import { verdictSchema } from '../race/verdict-schema.ts';
import {
  browserSchema,
  type ObservationModes,
  observationModesSchema,
  unitedModes,
} from '../web/observation.ts';
import { originSchema, siteSchema } from '../web/origin.ts';
import type { Mark } from '../web/protocol.ts';
import { count, isTooLate, list, MAX_LABEL_CHARS, text } from '../web/untrusted.ts';
import { adoptionSchema } from './adoption.ts';

export const REPORT_SCHEMA = 'photofinish.report/2';
const OLDER_SCHEMA = 'photofinish.report/1';
/** The language of reports from before it was stored. */
const FIRST_LANGUAGE = 'en';

/** ISO 8601 allows offsets of hours only; RFC 3339 section 5.6, and `Date`, do not. */
const instant = v.pipe(v.string(), v.isoTimestamp(), v.regex(/(?:Z|[+-]\d\d:\d\d)$/));
/** A ratio as its two counts, so that a reader can evaluate it. */
const ratio = v.object({ hits: count, of: count });

/** As many as the extension keeps: its MAX_RECORDS and MAX_RACES, which must not exceed these. */
const MAX_SITES = 200_000;
export const MAX_REPORTED_ORIGINS = 200_000;
export const MAX_REPORTED_RACES = 10_000;
const MAX_NETWORKS = 10_000;

/** The part of BCP 47 that browsers use to name their catalogs. */
const LANGUAGE_TAG = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;

export const reportOriginSchema = v.object({
  origin: originSchema,
  /** Network answers by protocol; `http/1.0` is counted with `http/1.1`. */
  protocols: v.object({ h3: count, h2: count, 'http/1.1': count, unknown: count }),
  /** Bytes over the network, if the site exposes them. */
  bytes: count,
  /** Network answers whose protocol the site hides. */
  hidden: count,
  /** How they were observed; see `modesOf` for reports that do not say. */
  modes: v.optional(observationModesSchema),
  verdict: verdictSchema,
  races: list(originRaceSchema, MAX_REPORTED_RACES),
});
export type ReportOrigin = v.InferOutput<typeof reportOriginSchema>;

export const reportSiteSchema = v.object({
  site: siteSchema,
  origins: list(reportOriginSchema, MAX_REPORTED_ORIGINS),
  adoption: v.object({
    byRequest: adoptionSchema,
    byOrigin: adoptionSchema,
    byNavigation: adoptionSchema,
  }),
  hidden: count,
  /** Forecast look-ups that found a fresh entry (P1). */
  hitRatio: ratio,
  /** Forecasts whose `expected` was the protocol that the browser then used. */
  accuracy: ratio,
});
export type ReportSite = v.InferOutput<typeof reportSiteSchema>;

export const reportSchema = v.object({
  schema: v.literal(REPORT_SCHEMA),
  createdAt: instant,
  period: v.object({ from: instant, to: instant }),
  browser: v.object({ name: browserSchema, version: text(MAX_LABEL_CHARS) }),
  /** The label of the network according to the helper, or `unknown` without a helper. */
  network: text(MAX_LABEL_CHARS),
  /** Every network over which the counted data came; absent in reports from before it was stored. */
  networks: v.optional(list(text(MAX_LABEL_CHARS), MAX_NETWORKS)),
  /** The user's names for networks, by label; only in reports for which they were requested. */
  networkNames: v.optional(
    v.pipe(v.record(text(MAX_LABEL_CHARS), text(MAX_LABEL_CHARS)), v.maxEntries(MAX_NETWORKS)),
  ),
  /** The modes of all origins. */
  modes: v.optional(observationModesSchema),
  /** The language (a BCP 47 tag) of the verdict texts of a report of version 1; absent in all others. */
  language: v.optional(v.pipe(v.string(), v.regex(LANGUAGE_TAG))),
  sites: list(reportSiteSchema, MAX_SITES),
});
export type Report = v.InferOutput<typeof reportSchema>;

/** How the figures of these origins were observed; those that do not say are from before there was a second mode. */
export function modesOf(origins: readonly Pick<ReportOrigin, 'modes'>[]): ObservationModes {
  return origins.reduce<ObservationModes>((all, { modes }) => unitedModes(all, modes), []);
}

/** The same for all origins of these sites. */
export function modesOfSites(sites: readonly Pick<ReportSite, 'origins'>[]): ObservationModes {
  return modesOf(sites.flatMap(({ origins }) => origins));
}

/** A report of any version as it is read; the output has the current version. */
export const reportDocumentSchema = v.pipe(
  v.object({ ...reportSchema.entries, schema: v.picklist([REPORT_SCHEMA, OLDER_SCHEMA]) }),
  v.transform(
    ({ schema, ...report }): Report => ({
      schema: REPORT_SCHEMA,
      ...report,
      ...(schema === OLDER_SCHEMA && { language: report.language ?? FIRST_LANGUAGE }),
    }),
  ),
);

/** The path of something in a report that is later than tomorrow; null: nothing is. */
export function futureInstantOf({ createdAt, period, sites }: Report, nowMs: number): string | null {
  if (isTooLate(createdAt, nowMs)) return 'createdAt';
  if (isTooLate(period.from, nowMs) || isTooLate(period.to, nowMs)) return 'period';
  for (const [i, { origins }] of sites.entries())
    for (const [j, { races }] of origins.entries())
      if (races.some(({ atMs }) => isTooLate(atMs, nowMs))) return `sites.${i}.origins.${j}.races`;
  return null;
}

/** The labels of the networks over which the counted data came; the helper's own if those were not stored. */
export function networkLabels({
  network,
  networks,
}: Pick<Report, 'network' | 'networks'>): readonly string[] {
  return networks === undefined || networks.length === 0 ? [network] : networks;
}

/** Network answers by protocol. */
export type Counts = ReportOrigin['protocols'];

/** The order of every bar, and of the columns of every table, in all reports. */
export const PROTOCOL_COLUMNS: readonly (readonly [Mark, keyof Counts])[] = [
  ['h3', 'h3'],
  ['h2', 'h2'],
  ['h1', 'http/1.1'],
  ['unknown', 'unknown'],
];

export function addProtocols(origins: readonly Pick<ReportOrigin, 'protocols'>[]): Counts {
  const sum = { h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 };
  for (const { protocols } of origins) for (const [, key] of PROTOCOL_COLUMNS) sum[key] += protocols[key];
  return sum;
}

export function totalOf(counts: Counts): number {
  return PROTOCOL_COLUMNS.reduce((sum, [, key]) => sum + counts[key], 0);
}
