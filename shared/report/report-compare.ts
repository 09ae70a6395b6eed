// Compares two reports. Counts are shown side by side and not tested for significance, because requests on one
// connection are not independent of each other; pairs of comparisons are, so for them the common rule of all
// comparisons applies. Counts that are too small to mean much are marked, not hidden.

import type { OriginRace } from '../race/outcome.ts';
import { comparisonOf, differsBetween, type RacedComparison } from '../race/statistics.ts';
import { VERDICT_CODES } from '../race/verdict-schema.ts';
import { differenceMsOf } from '../verdict/gain.ts';
import { ownVerdict } from '../verdict/verdict-text.ts';
import { isRecognisable } from '../web/network-name.ts';
import {
  type Adoption,
  addAdoption,
  adoptionByRequest,
  adoptionPercent,
  NO_ADOPTION,
  type ProtocolCounts,
} from './adoption.ts';
import {
  modesOf,
  modesOfSites,
  networkLabels,
  type Report,
  type ReportOrigin,
  type ReportSite,
} from './report.ts';
import {
  type Change,
  type DiffCondition,
  type DiffGain,
  type DiffSide,
  type OriginDiff,
  REPORT_DIFF_SCHEMA,
  type ReportDiff,
  SHARE_CHANGES,
  type SiteDiff,
} from './report-diff.ts';

/** Below this, one request changes a share by five points or more. */
const FEW_REQUESTS = 20;
/** Twice the time includes more of the rarely used origins. */
const MUCH_LONGER = 2;

interface Sides<T> {
  readonly before: T;
  readonly after: T;
}

function both<T, U>({ before, after }: Sides<T>, of: (side: T) => U): Sides<U> {
  return { before: of(before), after: of(after) };
}

/** What changed from one report to the other; sites and conditions are empty if nothing did. */
export function compareReports(before: Report, after: Report): ReportDiff {
  const pair = { before, after };
  const bySite = paired(
    both(pair, ({ sites }) => sites),
    ({ site }) => site,
  );
  const sites = bySite.map(([site, sides]) => siteDiff(site, sides));
  const common = bySite
    .flatMap(([, sides]) => pairedOrigins(sides))
    .filter((sides): sides is Sides<ReportOrigin> => sides.before !== undefined && sides.after !== undefined);
  const origins = both(pair, (side) => side.sites.flatMap((site) => site.origins));
  return {
    schema: REPORT_DIFF_SCHEMA,
    ...both(pair, sideOf),
    conditions: conditionsOf(both(pair, sideOf)),
    total: {
      adoption: both(pair, totalAdoption),
      common: {
        origins: common.length,
        before: common.map((sides) => adoptionOf(sides.before)).reduce(addAdoption, NO_ADOPTION),
        after: common.map((sides) => adoptionOf(sides.after)).reduce(addAdoption, NO_ADOPTION),
      },
      origins: {
        ...both(origins, (side) => side.length),
        changed: sites.reduce((sum, site) => sum + site.origins.length, 0),
        unchanged: sites.reduce((sum, site) => sum + site.unchanged, 0),
      },
      verdicts: verdictsOf(origins),
    },
    sites: sites.filter((site) => site.origins.length > 0),
  };
}

/** The adoption of an origin by request, from its counts in the report. */
export function adoptionOf({ protocols }: Pick<ReportOrigin, 'protocols'>): Adoption {
  const counts: ProtocolCounts = { ...protocols, 'http/1.0': 0 };
  return adoptionByRequest(counts);
}

/** A race with the result of its pairs. */
export interface RaceComparison {
  readonly race: OriginRace;
  readonly comparison: RacedComparison;
}

/** The newest races of an origin, one per network, whose pairs show the gain of HTTP/3, or no clear difference. */
function newestComparisons({ races }: Pick<ReportOrigin, 'races'>): RaceComparison[] {
  const byNetwork = new Map<string, RaceComparison>();
  for (const race of races.toSorted((a, b) => b.atMs - a.atMs)) {
    const comparison = byNetwork.has(race.network) ? null : comparisonOf(race);
    if (comparison !== null) byNetwork.set(race.network, { race, comparison });
  }
  return [...byNetwork.values()];
}

/** The newest of all networks. */
export function newestComparison(origin: Pick<ReportOrigin, 'races'>): RaceComparison | undefined {
  return newestComparisons(origin)[0];
}

/** A comparison's result in the form used by comparisons of reports; null: there is none. */
export function gainOf(compared: RaceComparison | undefined): DiffGain | null {
  if (compared === undefined) return null;
  const { h3Ms, h2Ms, pairs, quicker, lowMs, highMs, old } = compared.comparison;
  const { network, atMs } = compared.race;
  return {
    gainMs: differenceMsOf(compared.comparison),
    h3Ms,
    h2Ms,
    ...(old && { old }),
    pairs,
    quicker,
    lowMs,
    highMs,
    network,
    atMs,
  };
}

function gainDiffers({ before, after }: Sides<RaceComparison>): boolean {
  return (
    before.comparison.old === after.comparison.old && differsBetween(before.comparison, after.comparison)
  );
}

/**
 * The comparisons by which an origin's gain is compared, and whether they clearly differ: of one network, above all one
 * on which they do. Without such a network, or on unknown ones, which may be two: the newest of each side.
 */
function comparedGains(pair: Sides<ReportOrigin | undefined>): {
  readonly compared: Sides<RaceComparison | undefined>;
  readonly differs: boolean;
} {
  const newest = both(pair, (side) => (side === undefined ? [] : newestComparisons(side)));
  const common = newest.after.flatMap((after) => {
    const { network } = after.race;
    const before = newest.before.find(({ race }) => race.network === network);
    return before !== undefined && isRecognisable(network) ? [{ before, after }] : [];
  });
  const latestMs = ({ before, after }: Sides<RaceComparison>) => Math.max(before.race.atMs, after.race.atMs);
  // The same whichever side is called the earlier one.
  common.sort((a, b) => latestMs(b) - latestMs(a) || (a.after.race.network < b.after.race.network ? -1 : 1));
  const differing = common.find(gainDiffers);
  const compared = differing ?? common[0] ?? both(newest, ([first]) => first);
  return { compared, differs: differing !== undefined };
}

function usedProtocols({ protocols }: ReportOrigin): string {
  return (['h3', 'h2', 'http/1.1'] as const).filter((protocol) => protocols[protocol] > 0).join();
}

function shareChange(before: ReportOrigin, after: ReportOrigin): Change[] {
  const [a, b] = [adoptionOf(before), adoptionOf(after)];
  if ((a.known === 0) !== (b.known === 0)) return ['visibility'];
  if (a.known === 0) return [];
  if (a.h3 === 0 && b.h3 > 0) return ['h3-began'];
  if (a.h3 > 0 && b.h3 === 0) return ['h3-ended'];
  if (adoptionPercent(a) !== adoptionPercent(b)) return ['share'];
  return usedProtocols(before) === usedProtocols(after) ? [] : ['protocols'];
}

function changesOf({ before, after }: Sides<ReportOrigin | undefined>): Change[] {
  if (before === undefined || after === undefined) return [before === undefined ? 'appeared' : 'disappeared'];
  return [
    ...shareChange(before, after),
    ...(before.verdict.code === after.verdict.code ? [] : (['verdict'] as const)),
    ...(comparedGains({ before, after }).differs ? (['gain'] as const) : []),
  ];
}

function originDiff(pair: Sides<ReportOrigin | undefined>): OriginDiff | null {
  const { origin } = pair.after ?? pair.before ?? {};
  const changes = changesOf(pair);
  if (origin === undefined || changes.length === 0) return null;
  const adoption = both(pair, (side) => (side === undefined ? null : adoptionOf(side)));
  const known = [adoption.before, adoption.after].map((side) => side?.known ?? 0);
  return {
    origin,
    changes,
    protocols: both(pair, (side) => side?.protocols ?? null),
    adoption,
    few: changes.some((change) => SHARE_CHANGES.has(change)) && Math.min(...known) < FEW_REQUESTS,
    verdict: both(pair, (side) => (side === undefined ? null : ownVerdict(side.verdict))),
    modes: both(pair, (side) => (side === undefined ? null : modesOf([side]))),
    gain: both(comparedGains(pair).compared, gainOf),
  };
}

/** Pairs the items of both sides by name. */
function paired<T>(sides: Sides<readonly T[]>, name: (item: T) => string): [string, Sides<T | undefined>][] {
  const { before, after } = both(sides, (items) => new Map(items.map((item) => [name(item), item])));
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.map((key) => [key, { before: before.get(key), after: after.get(key) }]);
}

function requestsOf({ adoption }: OriginDiff): number {
  return [adoption.before, adoption.after].reduce(
    (sum, side) => sum + (side === null ? 0 : side.known + side.hidden),
    0,
  );
}

function pairedOrigins(pair: Sides<ReportSite | undefined>): Sides<ReportOrigin | undefined>[] {
  const origins = both(pair, (side) => side?.origins ?? []);
  return paired(origins, ({ origin }) => origin).map(([, sides]) => sides);
}

function siteDiff(site: string, pair: Sides<ReportSite | undefined>): SiteDiff {
  const all = pairedOrigins(pair).map(originDiff);
  const origins = all.filter((diff) => diff !== null);
  return {
    site,
    adoption: both(pair, (side) => side?.adoption ?? null),
    unchanged: all.length - origins.length,
    origins: origins.toSorted((a, b) => requestsOf(b) - requestsOf(a)),
  };
}

/** Adoption by request, origin and navigation over all sites of a report. */
export function totalAdoption({ sites }: { readonly sites: readonly ReportSite[] }): ReportSite['adoption'] {
  const sum = (of: keyof ReportSite['adoption']) =>
    sites.map(({ adoption }) => adoption[of]).reduce(addAdoption, NO_ADOPTION);
  return { byRequest: sum('byRequest'), byOrigin: sum('byOrigin'), byNavigation: sum('byNavigation') };
}

/** Networks differ only if known ones do; where one is not known, it may be the same or another one. */
function networkCondition(pair: Sides<DiffSide>): DiffCondition[] {
  const labels = both(pair, networkLabels);
  const known = both(labels, (side) => side.filter(isRecognisable).sort().join());
  const words = both(labels, (side) => side.toSorted().join(', '));
  if (known.before !== known.after && known.before !== '' && known.after !== '')
    return [{ condition: 'network', ...words, unfair: true }];
  if ([...labels.before, ...labels.after].every(isRecognisable)) return [];
  return [{ condition: 'unknown-network', ...words, unfair: false }];
}

function lengthMs({ period }: DiffSide): number {
  return Date.parse(period.to) - Date.parse(period.from);
}

function overlap({ before, after }: Sides<DiffSide>): boolean {
  const from = Math.max(Date.parse(before.period.from), Date.parse(after.period.from));
  const to = Math.min(Date.parse(before.period.to), Date.parse(after.period.to));
  return from < to;
}

/** Whether both cover the same time, whatever offsets from UTC their periods are written with. */
function samePeriod({ before, after }: Sides<DiffSide>): boolean {
  return (['from', 'to'] as const).every(
    (end) => Date.parse(before.period[end]) === Date.parse(after.period[end]),
  );
}

function conditionsOf(pair: Sides<DiffSide>): DiffCondition[] {
  const { before, after } = pair;
  const differ = (of: (side: DiffSide) => string, condition: DiffCondition['condition'], unfair: boolean) =>
    of(before) === of(after) ? [] : [{ condition, ...both(pair, of), unfair }];
  const period = ({ period: { from, to } }: DiffSide) => `${from}/${to}`;
  const [short, long] = [lengthMs(before), lengthMs(after)].toSorted((a, b) => a - b) as [number, number];
  const periods = { ...both(pair, period) };
  return [
    ...differ(({ browser }) => browser.name, 'browser', true),
    ...differ(({ browser }) => browser.version, 'version', false),
    ...networkCondition(pair),
    ...(long >= MUCH_LONGER * short && long > 0
      ? [{ condition: 'length' as const, ...periods, unfair: true }]
      : []),
    // One and the same period is not an overlap, and each browser has a ledger of its own.
    ...(before.browser.name === after.browser.name && !samePeriod(pair) && overlap(pair)
      ? [{ condition: 'overlap' as const, ...periods, unfair: true }]
      : []),
    ...(Date.parse(before.period.to) > Date.parse(after.period.to)
      ? [{ condition: 'order' as const, ...periods, unfair: false }]
      : []),
    ...(before.modes?.length && after.modes?.length
      ? differ(({ modes = [] }) => modes.join(', '), 'modes', true)
      : []),
  ];
}

function sideOf({
  createdAt,
  period,
  browser,
  network,
  networks,
  networkNames,
  language,
  sites,
}: Report): DiffSide {
  return {
    ...{ createdAt, period, browser, network },
    modes: modesOfSites(sites),
    ...(networks && { networks }),
    ...(networkNames && { networkNames }),
    ...(language && { language }),
  };
}

function verdictsOf(origins: Sides<readonly ReportOrigin[]>): ReportDiff['total']['verdicts'] {
  return VERDICT_CODES.map((code) => ({
    code,
    ...both(origins, (side) => side.filter(({ verdict }) => verdict.code === code).length),
  })).filter(({ before, after }) => before + after > 0);
}
