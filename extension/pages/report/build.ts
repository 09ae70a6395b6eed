// Builds `photofinish.report/2` from the sums of the ledger's days. Pure: takes sums and conditions, returns the
// document, validated with the same schema that readers use.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import {
  addCounts,
  adoptionByOrigin,
  adoptionByRequest,
  NO_REQUESTS,
  type ProtocolCounts,
} from '@photofinish/shared/report/adoption';
import {
  modesOfSites,
  REPORT_SCHEMA,
  type Report,
  type ReportOrigin,
  type ReportSite,
  reportSchema,
  reportSiteSchema,
} from '@photofinish/shared/report/report';
import { type Browser, type ObservationModes, unitedModes } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { NetworkNames } from '../../common/network-names.ts';
import { elsewhereOf, hasResponses } from '../../common/records/fold.ts';
import { type DayRow, NO_FORECASTS, type OriginRecord } from '../../common/records/schema.ts';
import { judgedRace, verdictOfOrigin, verdictOfRace } from '../../common/verdict.ts';

/** Records by site and origin. */
type RecordsBySite = ReadonlyMap<string, ReadonlyMap<Origin, OriginRecord>>;

export interface ReportInput {
  readonly sums: DaySums;
  readonly records: RecordsBySite;
  /** All races of each origin, oldest first: verdicts rest on the newest that was run, and those of the period are listed. */
  readonly races: ReadonlyMap<Origin, readonly OriginRace[]>;
  readonly browser: { readonly name: Browser; readonly version: string };
  /** The helper's label of the network, `unknown` without a helper. */
  readonly network: string;
  /** The user's names for networks, for inclusion in the report; null: it contains none. */
  readonly networkNames: NetworkNames | null;
  readonly fromMs: number;
  readonly toMs: number;
  /** When it is generated, which may be long after the period. */
  readonly nowMs: number;
}

function racesOf(origin: Origin, { races, fromMs, toMs }: ReportInput): OriginRace[] {
  return (races.get(origin) ?? []).filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

function reportOrigin(
  origin: Origin,
  { counts, bytes, modes, answered }: OriginSum,
  record: OriginRecord | undefined,
  input: ReportInput,
): ReportOrigin {
  const race = judgedRace(input.races.get(origin) ?? []);
  return {
    origin,
    protocols: {
      h3: counts.h3,
      h2: counts.h2,
      'http/1.1': counts['http/1.1'] + counts['http/1.0'],
      unknown: counts.unknown,
    },
    bytes,
    hidden: counts.unknown,
    modes,
    verdict:
      answered || race === undefined
        ? verdictOfOrigin({
            origin,
            protocol: record?.protocol ?? null,
            reason: record?.reason ?? null,
            elsewhere: record === undefined ? null : elsewhereOf(record),
            record,
            race,
            readElsewhere: true,
          })
        : verdictOfRace(origin, race, record, { readElsewhere: true }),
    races: racesOf(origin, input),
  };
}

function reportSite(site: string, sum: SiteSum, input: ReportInput): ReportSite {
  const records = input.records.get(site);
  const counts = [...sum.origins.values()].map((own) => own.counts);
  const total = counts.reduce(addCounts, NO_REQUESTS);
  return {
    site,
    origins: [...sum.origins]
      // Of one that never answered the browser only a race is a result.
      .filter(([origin, { answered }]) => answered || racesOf(origin, input).length > 0)
      .map(([origin, own]) => reportOrigin(origin, own, records?.get(origin), input))
      .sort((a, b) => (a.origin < b.origin ? -1 : 1)),
    adoption: {
      byRequest: adoptionByRequest(total),
      byOrigin: adoptionByOrigin(counts),
      byNavigation: adoptionByRequest(sum.navigations),
    },
    hidden: total.unknown,
    hitRatio: { hits: sum.hits, of: sum.lookups },
    accuracy: { hits: sum.right, of: sum.scored },
  };
}

/** Names of the networks in the report, and of no others. */
function namesOf(
  { networkNames, sums, network }: ReportInput,
  sites: readonly ReportSite[],
): Record<string, string> | null {
  if (networkNames === null) return null;
  const races = sites.flatMap((site) => site.origins.flatMap((origin) => origin.races));
  const there = new Set([network, ...sums.networks, ...races.map((race) => race.network)]);
  return Object.fromEntries([...networkNames].filter(([key]) => there.has(key)));
}

/**
 * The report over the given sums, sites and origins in alphabetical order; `onSite` receives the number of sites built.
 * Throws if it violates its own schema.
 */
export function buildReport(
  input: ReportInput,
  onSite: (built: number, of: number) => void = () => {},
): Report {
  const sites = [...input.sums.sites].sort(([a], [b]) => (a < b ? -1 : 1));
  const conditions = v.parse(reportSchema, {
    schema: REPORT_SCHEMA,
    createdAt: new Date(input.nowMs).toISOString(),
    period: { from: new Date(input.fromMs).toISOString(), to: new Date(input.toMs).toISOString() },
    browser: input.browser,
    network: input.network,
    networks: [...input.sums.networks].sort(),
    sites: [],
  });
  const built = sites
    .map(([site, sum], index) => {
      onSite(index, sites.length);
      return v.parse(reportSiteSchema, reportSite(site, sum, input));
    })
    .filter(({ origins }) => origins.length > 0);
  const names = namesOf(input, built);
  const modes = modesOfSites(built);
  return { ...conditions, modes, ...(names !== null && { networkNames: names }), sites: built };
}

// Days are added up by site and origin while reading, so that a year's half million rows are never in memory at once.

interface OriginSum {
  counts: ProtocolCounts;
  bytes: number;
  modes: ObservationModes;
  /** Otherwise only forecasts were looked up, as for a page that failed to load. */
  answered: boolean;
}

interface SiteSum {
  readonly origins: Map<Origin, OriginSum>;
  navigations: ProtocolCounts;
  lookups: number;
  hits: number;
  scored: number;
  right: number;
}

/** The sums of days' rows; rows may be added in any order. */
export interface DaySums {
  readonly sites: Map<string, SiteSum>;
  readonly networks: Set<string>;
}

export function noDays(): DaySums {
  return { sites: new Map(), networks: new Set() };
}

function insert<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  map.set(key, value);
  return value;
}

/** Adds rows. */
export function addDays(sums: DaySums, rows: readonly DayRow[]): void {
  for (const row of rows) {
    sums.networks.add(row.network);
    const site =
      sums.sites.get(row.site) ??
      insert(sums.sites, row.site, { origins: new Map(), navigations: NO_REQUESTS, ...NO_FORECASTS });
    const origin =
      site.origins.get(row.origin) ??
      insert(site.origins, row.origin, { counts: NO_REQUESTS, bytes: 0, modes: [], answered: false });
    origin.counts = addCounts(origin.counts, row.counts);
    origin.bytes += row.bytes;
    origin.modes = unitedModes(origin.modes, row.modes);
    origin.answered ||= hasResponses(row);
    site.navigations = addCounts(site.navigations, row.navigations);
    for (const count of ['lookups', 'hits', 'scored', 'right'] as const) site[count] += row[count];
  }
}
