// The verdict on an origin as this browser used it on this site: from the newest race and the browser's own record by
// the shared rules, with separate messages if only the browser's record is available.

import type { SharedMessageKey } from '@photofinish/shared/language/catalog';
import { type Message, message } from '@photofinish/shared/language/message';
import { altSvcForNewClients } from '@photofinish/shared/race/alt-svc-over';
import type { DiscoveryEvidence, OriginRace } from '@photofinish/shared/race/outcome';
import { boundedFindings, type Verdict } from '@photofinish/shared/race/verdict-schema';
import { isFailed, reachOfEach } from '@photofinish/shared/verdict/evidence';
import {
  type BrowserEvidence,
  type Evidence,
  evidenceOfRace,
  verdictOf,
  visitMessage,
} from '@photofinish/shared/verdict/verdict';
import { h3Alternatives, isExpired, parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { isRecognisable } from '@photofinish/shared/web/network-name';
import { missesAdvertisements } from '@photofinish/shared/web/observation';
import {
  type Origin,
  OTHER_ORIGINS,
  originParts,
  SITE_DAY_ORIGINS,
  SITE_ORIGINS,
} from '@photofinish/shared/web/origin';
import {
  type Delivery,
  type KnownProtocol,
  PROTOCOL_NAMES,
  type UnknownReason,
} from '@photofinish/shared/web/protocol';
import { WHY_UNKNOWN } from './catalog.ts';
import { BROWSER } from './edition.ts';
import { advertisementAt, elsewhereOf } from './records/fold.ts';
import { DAY_MS, type OriginRecord } from './records/schema.ts';

export interface OriginEvidence {
  readonly origin: Origin;
  readonly protocol: KnownProtocol | null;
  readonly reason: UnknownReason | null;
  /** Where its responses came from if none came over the network; null if one did. */
  readonly elsewhere: Exclude<Delivery, 'network'> | null;
  readonly record: OriginRecord | undefined;
  readonly race: OriginRace | undefined;
  /** The page that shows it; absent: it is judged as of the newest page of its record. */
  readonly page?: OriginOnPage;
  /** There is no `race` because it ran on another network than the page, as the newest did. */
  readonly racedElsewhere?: boolean;
  /** Judged for a reader who may be on another network than the one that the race ran on. */
  readonly readElsewhere?: boolean;
}

/** What a page in view did with an origin. */
interface OriginOnPage {
  /** When the navigation to the page was begun, or the page was committed, milliseconds since the epoch. */
  readonly begunMs: number;
  /** The protocol of the newest response there: that of the page itself may be older. */
  readonly newest: KnownProtocol | null;
  readonly usedH3: boolean;
}

/** The newest races of an origin. */
export interface NewestRaces {
  /** Of all: what a view shows. */
  readonly newest: OriginRace;
  /** Of those that were run to their end, or if there are none the newest of all: what a verdict rests on. */
  readonly judged: OriginRace;
}

/** Whether a race was run to its end: one that was not must not hide what the one before it found. */
export function wasRun({ error }: OriginRace): boolean {
  return error === undefined;
}

/** The race that a verdict rests on, of all races of an origin, oldest first. */
export function judgedRace(races: readonly OriginRace[]): OriginRace | undefined {
  return races.findLast(wasRun) ?? races.at(-1);
}

const ELSEWHERE: Record<Exclude<Delivery, 'network'>, SharedMessageKey> = {
  'http-cache': 'pageFromCache',
  'service-worker': 'pageAroundNetwork',
  prefetch: 'pagePrefetched',
};

/** The newest advertisement to the browser; null: none, or it had expired by its newest response or the race. */
function currentAdvertisement(record: OriginRecord | undefined, race: OriginRace | undefined): string | null {
  return record === undefined ? null : advertisementAt(record, Math.max(record.lastSeenMs, race?.atMs ?? 0));
}

/** Pages on which the browser did not follow an advertisement that it knew; null: it knows of none. */
function visitsOf(record: OriginRecord | undefined, race: OriginRace | undefined): number | null {
  if (record === undefined || record.advertisedSinceMs === null) return null;
  return currentAdvertisement(record, race) === null ? null : record.visitsSinceAdvertised;
}

/** Whether both labels certainly name the same network. */
function isRacedNetwork(network: string | undefined, race: OriginRace | undefined): boolean {
  return network !== undefined && network === race?.network && isRecognisable(network);
}

function proxiedOf(record: OriginRecord | undefined): boolean | null {
  const { visitsSinceAdvertised = 0, visitsProxied, proxied } = record ?? {};
  return (visitsSinceAdvertised > 0 ? visitsProxied : proxied) ?? null;
}

/** Whether HTTP/3 was used before a visit that began then; if that is not known, ever. */
function usedH3Before(record: OriginRecord, begunMs: number | undefined): boolean {
  if (record.counts.h3 === 0) return false;
  const { h3SinceMs } = record;
  return h3SinceMs === undefined || begunMs === undefined || h3SinceMs < begunMs;
}

/** On which visits HTTP/3 was used. */
function h3UseOf({
  record,
  page,
}: OriginEvidence): Required<Pick<BrowserEvidence, 'usedH3' | 'visitUsesH3'>> {
  const begunMs = page?.begunMs ?? record?.newestPageMs;
  const usedH3 = record !== undefined && usedH3Before(record, begunMs);
  const visitUsesH3 = page?.usedH3 ?? (record !== undefined && record.counts.h3 > 0 && !usedH3);
  return { usedH3, visitUsesH3 };
}

/** Servers and networks change: what an older race shows is no longer said without its age. */
const RACE_HOLDS_DAYS = 7;

/** How many days a race is older than something, if that is long; null: it is not. */
function outdatedDays({ atMs }: OriginRace, thanMs: number | null | undefined): number | null {
  const days = Math.floor(((thanMs ?? 0) - atMs) / DAY_MS);
  return days < RACE_HOLDS_DAYS ? null : days;
}

/** What this browser itself did with the origin; undefined if no response revealed a protocol. */
function browserSide(known: OriginEvidence, lastProtocol: KnownProtocol | null): BrowserEvidence | undefined {
  if (lastProtocol === null) return undefined;
  const { record, race } = known;
  return {
    browser: BROWSER,
    lastProtocol,
    visitsSinceAdvertised: visitsOf(record, race),
    visitsHere: isRacedNetwork(record?.visitsNetwork, race),
    proxied: proxiedOf(record),
    ...h3UseOf(known),
    raceIsOlder: race !== undefined && race.atMs < (record?.protocolAtMs ?? 0),
    raceIsOutdated: race !== undefined && outdatedDays(race, record?.protocolAtMs) !== null,
  };
}

/** Whether the browser has since used what a race did not reach, so that the race no longer says what is so. */
function isRefuted({ attempts, browser }: Evidence, page: OriginOnPage | undefined): boolean {
  if (!browser?.raceIsOlder) return false;
  const { h3, tcp } = reachOfEach(attempts);
  const newest = page?.newest ?? browser.lastProtocol;
  return newest === 'h3' ? isFailed(h3) : h3 !== 'established' && isFailed(tcp);
}

/** What is advertised by the newest header to the race or to the browser; one that has expired no longer counts. */
function newestAdvertisement(
  discovered: DiscoveryEvidence,
  race: OriginRace,
  record: OriginRecord | undefined,
): DiscoveryEvidence {
  if (record === undefined) return discovered;
  // The browser does not say which protocol carried what it received.
  const { altSvcOver: _, ...rest } = discovered;
  const altSvc = altSvcForNewClients(discovered);
  const standing = currentAdvertisement(record, race);
  const isReplaced = (record.altSvcAtMs ?? 0) > race.atMs;
  const hasEnded = altSvc !== null && isExpired(altSvc, record.lastSeenMs - race.atMs);
  if (isReplaced || hasEnded) return { ...rest, altSvc: standing, alternatives: [] };
  return altSvc === null && standing !== null ? { ...rest, altSvc: standing } : discovered;
}

/** What a race shows; null: there is none, or it says nothing beside what the browser did. */
function evidenceFromRace(
  { record, race, page }: OriginEvidence,
  browser: BrowserEvidence | undefined,
): Evidence | null {
  if (race === undefined || (race.error !== undefined && browser !== undefined)) return null;
  const raced = evidenceOfRace(race, browser);
  if (isRefuted(raced, page)) return null;
  const trustsRoot = record?.reachedOverH3 === true;
  return { ...raced, discovered: newestAdvertisement(raced.discovered, race, record), trustsRoot };
}

function evidenceFromBrowser(
  { origin, record, race }: OriginEvidence,
  browser: BrowserEvidence | undefined,
): Evidence {
  return {
    origin: originParts(origin),
    attempts: [],
    discovered: { altSvc: currentAdvertisement(record, race), knownRoot: null },
    gain: null,
    ...(browser && { browser }),
  };
}

/** No advertisement was seen: in which responses. */
function silenceOf(record: OriginRecord | undefined): SharedMessageKey {
  const mayBeUnseen = record?.altSvc === null && missesAdvertisements(record.modes);
  if (!mayBeUnseen) return 'pageNotAdvertised';
  return record.altSvcRead ? 'pageStoredNotAdvertised' : 'pageAdvertisementUnseen';
}

/** What can be said without a race if the browser's own record explains nothing. */
function browserOnly(
  lastProtocol: KnownProtocol | null,
  { record, race }: OriginEvidence,
  browser: BrowserEvidence | undefined,
): Verdict {
  const advertises = record?.altSvc != null && h3Alternatives(parseAltSvc(record.altSvc)).length > 0;
  const stands = currentAdvertisement(record, race) !== null;
  const advertised = stands ? 'pageAdvertised' : 'pageAdvertisementExpired';
  const advertisement = message(advertises ? advertised : silenceOf(record));
  const reached =
    lastProtocol === null ? [] : [message('pageReached', { protocol: PROTOCOL_NAMES[lastProtocol] })];
  // A race says nothing about the browser's proxy.
  const proxied =
    lastProtocol !== null && lastProtocol !== 'h3' && proxiedOf(record) === true
      ? [message('verdictProxied', { old: PROTOCOL_NAMES[lastProtocol] })]
      : [];
  const visit = browser === undefined ? null : visitMessage(browser);
  const findings = [...reached, ...(visit === null ? [] : [visit]), advertisement, ...proxied];
  return { code: 'unknown', findings: findings.map((each) => ({ code: 'unknown', ...each })) };
}

/**
 * The verdict if this visit revealed no protocol: the reason comes first, because the rest is about earlier visits or
 * the race.
 */
function afterReason(why: Message, { code, findings }: Verdict, isEarlier: boolean): Verdict {
  const [first, ...rest] = findings;
  if (first === undefined || !isEarlier)
    return { code, findings: boundedFindings([{ code, ...why }, ...findings]) };
  const { key, params } = first;
  const earlier = message('pageEarlier', { verdict: { key, params } });
  return { code, findings: boundedFindings([{ code, ...why }, { code, ...earlier }, ...rest]) };
}

/** The verdict with further sentences, after those of its own code. */
function withRemarks({ code, findings }: Verdict, ...remarks: readonly Message[]): Verdict {
  const others = findings.findIndex((finding) => finding.code !== code);
  const sentences = remarks.map((remark) => ({ code, ...remark }));
  return {
    code,
    findings: boundedFindings(findings.toSpliced(others < 0 ? findings.length : others, 0, ...sentences)),
  };
}

/** A row that stands for many origins has no verdict on HTTP/3, only the reason for the row. */
const VERDICT_OF_OTHERS: Verdict = {
  code: 'unknown',
  findings: [
    { code: 'unknown', ...message('pageOtherOrigins', { day: SITE_DAY_ORIGINS, all: SITE_ORIGINS }) },
  ],
};

/** The verdict of an origin on a page; never empty, and `unknown` always says why. */
export function verdictOfOrigin(known: OriginEvidence): Verdict {
  const verdict = verdictOfPage(known);
  // What a race showed on another network may be different here.
  return known.racedElsewhere ? withRemarks(verdict, message('pageRacedElsewhere')) : verdict;
}

/**
 * Messages about the network and the machine of the race, as if the reader were there, each with what explains the
 * words for them that are in it, in every language.
 */
const WHERE_IT_RACED: ReadonlyMap<string, readonly SharedMessageKey[]> = new Map<
  SharedMessageKey,
  readonly SharedMessageKey[]
>([
  ['causeCertificateExpired', ['pageRacedThisMachine']],
  ['causeCertificateNotYetValid', ['pageRacedThisMachine']],
  ['causeInternal', ['pageRacedThisMachine']],
  ['causeNetworkBlocksUdp', ['pageRacedYourNetwork']],
  ['causeNoAddress', ['pageRacedThisMachine']],
  ['causeNoRoute', ['pageRacedHere', 'pageRacedThisMachine']],
  ['causeTcpUnreachable', ['pageRacedThisMachine']],
  ['causeUdpUnreachable', ['pageRacedThisMachine', 'pageRacedThisNetwork']],
  ['verdictInternal', ['pageRacedThisMachine']],
  ['verdictLeftOut', ['pageRacedThisNetwork']],
  ['verdictOffline', ['pageRacedThisMachine']],
  ['verdictOthersReachable', ['pageRacedHere']],
  ['verdictTooBusy', ['pageRacedThisMachine']],
]);

function remarksOn({ key, params }: Message): SharedMessageKey[] {
  const parts = Object.values(params).flat();
  const inner = parts.flatMap((part) => (typeof part === 'object' ? remarksOn(part) : []));
  return [...(WHERE_IT_RACED.get(key) ?? []), ...inner];
}

/** Names network and machine by the race instead of as those of the reader. */
function forReaders({ code, findings }: Verdict): Verdict {
  const there = message('pageRaceAvailable');
  const named = {
    code,
    findings: findings.map((each) => (each.key === 'verdictAvailable' ? { ...each, ...there } : each)),
  };
  return withRemarks(named, ...[...new Set(findings.flatMap(remarksOn))].map((remark) => message(remark)));
}

/** What a browser that has used HTTP/3 shows by itself. */
const SHOWN_BY_USE: ReadonlySet<string> = new Set<SharedMessageKey>([
  'verdictUsed',
  'verdictAvailable',
  'pageRaceAvailable',
]);

/** The age of the race, if the verdict rests on one that is old. */
function withAge(verdict: Verdict, { race, record, page }: OriginEvidence): Verdict {
  const days = race === undefined ? null : outdatedDays(race, page?.begunMs ?? record?.lastSeenMs);
  const isShown = verdict.code === 'h3-used' && verdict.findings.every(({ key }) => SHOWN_BY_USE.has(key));
  if (days === null || isShown) return verdict;
  return withRemarks(verdict, message('pageRacedDaysBefore', { days }));
}

function verdictOfPage(known: OriginEvidence): Verdict {
  if (known.origin === OTHER_ORIGINS) return VERDICT_OF_OTHERS;
  const earlier = known.record?.protocol ?? null;
  const lastProtocol = known.protocol ?? earlier;
  const browser = browserSide(known, lastProtocol);
  const fromRace = evidenceFromRace(known, browser);
  const judged = verdictOf(fromRace ?? evidenceFromBrowser(known, browser));
  const shared = known.readElsewhere ? forReaders(judged) : judged;
  const raced = fromRace !== null && known.race?.error === undefined;
  const told = shared.code === 'unknown' && !raced ? browserOnly(lastProtocol, known, browser) : shared;
  const verdict = raced ? withAge(told, known) : told;
  if (known.protocol !== null) return verdict;
  const key = known.elsewhere === null ? WHY_UNKNOWN[known.reason ?? 'missed'] : ELSEWHERE[known.elsewhere];
  return afterReason(message(key), verdict, earlier !== null);
}

/** The verdict on an origin that the browser did not reach: from the race, and what the server advertised before. */
export function verdictOfRace(
  origin: Origin,
  race: OriginRace,
  record: OriginRecord | undefined,
  { readElsewhere = false }: Pick<OriginEvidence, 'readElsewhere'> = {},
): Verdict {
  const known = { origin, protocol: null, reason: null, elsewhere: null, record, race };
  const verdict = verdictOf(evidenceFromRace(known, undefined) ?? evidenceFromBrowser(known, undefined));
  return readElsewhere ? forReaders(verdict) : verdict;
}

/** The verdict on an origin from everything recorded about it, independent of any page that shows it. */
export function verdictOfRecord(record: OriginRecord, race: OriginRace | undefined): Verdict {
  const { origin, protocol, reason } = record;
  const elsewhere = elsewhereOf(record);
  return verdictOfOrigin({ origin, protocol, reason, elsewhere, record, race, readElsewhere: true });
}
