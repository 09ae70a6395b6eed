// Where an origin advertises HTTP/3, in Alt-Svc (RFC 7838) and in HTTPS records (RFC 9460), the result of connecting
// there, and what is wrong with the advertisement itself.

import { type Message, message } from '../language/message.ts';
import { altSvcForNewClients, isReceivedOverH3Only } from '../race/alt-svc-over.ts';
import {
  type DnsResults,
  hostOfHttpsName,
  isQueriedForBoth,
  ownRecords,
  type ServiceRecord,
} from '../race/discovered.ts';
import type { Attempt, DiscoveryEvidence } from '../race/outcome.ts';
import { portBlock } from '../race/terms.ts';
import {
  type Alternative,
  type AltSvc,
  alternativeHost,
  h3Alternatives,
  parseAltSvc,
} from '../web/alt-svc.ts';
import { hostPort, type OriginParts } from '../web/origin.ts';
import { certificateReasonMessage, failureMessage } from './codes.ts';
import { carriesH3, type Evidence, isFailed, isH3, isUnanswered, type Reach, reachOf } from './evidence.ts';

/** An endpoint advertised for HTTP/3. */
export interface AlternativeService {
  /** The origin's own host if the advertisement names none; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly source: 'alt-svc' | 'https-record';
}

export type HostAndPort = Pick<AlternativeService, 'host' | 'port'>;

export interface TriedAlternative extends AlternativeService {
  readonly reach: Reach;
}

/** Something wrong with the advertisement; `leads`: it keeps clients from HTTP/3, whatever else works. */
export interface Fault {
  readonly sentences: readonly Message[];
  readonly leads: boolean;
}

/** What is advertised, the results there, and what is wrong with it. */
export interface Advertisement {
  /** Every endpoint that Alt-Svc and HTTPS records name, each once; in the server's order. */
  readonly alternatives: readonly TriedAlternative[];
  /** Faults that keep clients from HTTP/3 come first. */
  readonly faults: readonly Fault[];
  /** Responses over HTTP/3 name it in Alt-Svc, while those over TCP do not. */
  readonly overH3Only: boolean;
  /** The header withdraws every advertisement (RFC 7838 section 3). */
  readonly withdrawn: boolean;
  /** Whatever the header advertises had expired when it arrived. */
  readonly expired: boolean;
  /** The header has more than is read of one, which may advertise it. */
  readonly unread: boolean;
  /** A record lists h3 and cannot be used here; other clients may be able to. */
  readonly ignoresH3Record: boolean;
}

/** Everything about how HTTP/3 is advertised. */
export function advertisedBy(evidence: Evidence): Advertisement {
  const parsed = parsedEvidence(evidence);
  const alternatives = triedAlternatives(parsed);
  return {
    alternatives,
    faults: faultsOf(parsed, alternatives),
    overH3Only: isAdvertisedOverH3Only(parsed),
    withdrawn: parsed.altSvc?.clear === true,
    expired: parsed.expired,
    unread: (parsed.altSvc?.unread ?? 0) > 0,
    ignoresH3Record: ignoresH3Record(parsed),
  };
}

/** The endpoints at which HTTP/3 is advertised, and what came of it there. */
export function advertisedAlternatives(evidence: Evidence): readonly TriedAlternative[] {
  return triedAlternatives(parsedEvidence(evidence));
}

/** The evidence with its parsed Alt-Svc value, and the endpoints it names. */
interface ParsedEvidence extends Evidence {
  /** Null: a client that does not know of HTTP/3 receives none, or it is unknown which. */
  readonly altSvc: AltSvc | null;
  readonly byHeader: readonly AlternativeService[];
  /** Whatever the header advertises had expired when it arrived. */
  readonly expired: boolean;
}

function parsedEvidence(evidence: Evidence): ParsedEvidence {
  const { discovered, origin } = evidence;
  const text = altSvcForNewClients(discovered);
  const received = text === null ? null : parseAltSvc(text);
  // What only a client of HTTP/3 has received shows no fault that keeps others from it.
  const altSvc = isReceivedOverH3Only(discovered) ? null : received;
  const byHeader = alternativesByHeader(discovered, received, origin.host);
  const offers = altSvc === null || altSvc.unread > 0 ? [] : h3Alternatives(altSvc);
  return { ...evidence, altSvc, byHeader, expired: offers.length > 0 && byHeader.length === 0 };
}

/** Whether responses over HTTP/3 name it in Alt-Svc, while those over TCP do not. */
function isAdvertisedOverH3Only({ discovered }: Evidence): boolean {
  const { tcp, h3 } = discovered.altSvcOver ?? {};
  const names = (value: string): boolean => h3Alternatives(parseAltSvc(value)).length > 0;
  return tcp !== undefined && h3 != null && names(h3) && !(tcp !== null && names(tcp));
}

/**
 * Whether responses that name an alternative were kept so long, by a cache in between, that its lifetime was over when
 * they arrived (RFC 7838 section 3.1).
 */
function isOverOnArrival(
  { alpn, host, port }: Alternative,
  { alternatives = [] }: DiscoveryEvidence,
): boolean {
  const received = alternatives.filter(
    (a) => a.source !== 'memory' && a.alpn === alpn && a.host === host && a.port === port,
  );
  return received.length > 0 && received.every(({ expiresInSeconds }) => expiresInSeconds <= 0);
}

/**
 * The HTTP/3 alternatives in force: a header replaces whatever was remembered, `clear` withdraws it. Those named over
 * HTTP/3 only are none.
 */
function alternativesByHeader(
  discovered: DiscoveryEvidence,
  altSvc: AltSvc | null,
  ownHost: string,
): AlternativeService[] {
  const { alternatives = [], altSvc: newest } = discovered;
  const named =
    altSvc === null
      ? (newest === null ? alternatives : []).filter((a) => a.alpn === 'h3' && a.expiresInSeconds > 0)
      : h3Alternatives(altSvc).filter((a) => !isOverOnArrival(a, discovered));
  return named.map((alternative) => ({
    host: alternativeHost(alternative, ownHost),
    port: alternative.port,
    source: 'alt-svc',
  }));
}

/**
 * The host that a record points to. Its own name, for a port other than 443, stands for the origin's host if that has
 * addresses, and for itself if it has none (RFC 9460 section 2.5.2): that is what is wrong with it.
 */
function targetOf({ target }: ServiceRecord, evidence: Evidence): string {
  const isEmpty = isFailed(lookupFailure(evidence, target)) || refusedLookup(evidence, target) !== null;
  return isEmpty ? target : hostOfHttpsName(target);
}

/** The origin's own records in ServiceMode: an alias only leads to the name that has one. */
function ownServices(names: DnsResults | undefined, origin: OriginParts): ServiceRecord[] {
  if (names === undefined) return [];
  return ownRecords(names, origin).services.filter(({ priority }) => priority > 0);
}

function alternativesByRecord(evidence: Evidence): AlternativeService[] {
  return ownServices(evidence.discovered.names, evidence.origin)
    .filter((record) => !record.incompatible && record.alpn.includes('h3'))
    .toSorted((a, b) => a.priority - b.priority)
    .map((record) => ({
      host: targetOf(record, evidence),
      port: record.port ?? evidence.origin.port,
      source: 'https-record',
    }));
}

/** Whether a record that lists h3 is ignored: for a mandatory key that we do not support, or for a malformed set. */
function ignoresH3Record({ discovered, origin }: Evidence): boolean {
  return ownServices(discovered.names, origin).some(
    (record) => record.incompatible && record.alpn.includes('h3'),
  );
}

/**
 * Whether an HTTPS record of the origin offers HTTP/3; null: there was no answer about records, or no question, or the
 * record cannot be used here.
 */
export function recordOffersH3(evidence: Evidence): boolean | null {
  if (alternativesByRecord(evidence).length > 0) return true;
  if (ignoresH3Record(evidence)) return null;
  const { discovered, origin } = evidence;
  return isRecordAnswered(discovered.names, origin) ? false : null;
}

function isSameEndpoint(a: HostAndPort, b: HostAndPort): boolean {
  return a.host === b.host && a.port === b.port;
}

/**
 * A query that was open for less time was merely cut short by the end of its race: resolvers themselves retry after a
 * second or more, and uncached answers take some hundred milliseconds.
 */
const LOST_AFTER_MS = 1000;

/** Why our own address policy left no address of a name to try; null: it left one, or there was none. */
export function refusedLookup({ discovered }: Pick<Evidence, 'discovered'>, host: string): string | null {
  const { addresses = [], lookups = [] } = discovered.names ?? {};
  if (addresses.some((a) => a.host === host)) return null;
  const refused = lookups.find(
    ({ name, kind, outcome, message }) =>
      name === host && kind !== 'HTTPS' && outcome !== 'failed' && message !== undefined,
  );
  return refused?.message ?? null;
}

/** A name that was queried and yielded no address was never attempted, but is a failure nevertheless. */
function lookupFailure({ discovered }: Evidence, host: string): Reach {
  const { addresses = [], lookups = [] } = discovered.names ?? {};
  const queries = lookups.filter(({ name, kind }) => name === host && kind !== 'HTTPS');
  if (queries.length === 0 || addresses.some((a) => a.host === host)) return 'not-tried';
  if (queries.some(({ unanswered, tookMs }) => unanswered === true && tookMs < LOST_AFTER_MS))
    return 'not-tried';
  const failed = queries.find(({ outcome }) => outcome === 'failed');
  if (failed !== undefined) return { code: 'dns-failed', message: failed.message ?? 'no answer' };
  if (refusedLookup({ discovered }, host) !== null) return 'not-tried';
  return isQueriedForBoth(host, lookups)
    ? { code: 'no-address', message: 'neither an A nor an AAAA record' }
    : 'not-tried';
}

/** Whether the origin's HTTPS record was queried without any answer: then it is unknown what DNS advertises. */
export function isRecordUnanswered(names: DnsResults | undefined, origin: OriginParts): boolean {
  if (names === undefined || ownServices(names, origin).length > 0) return false;
  return ownRecords(names, origin).lookups.some(
    ({ outcome, unasked }) => outcome === 'failed' && unasked !== true,
  );
}

/** Whether the origin's HTTPS record was queried and DNS has answered. */
export function isRecordAnswered(names: DnsResults | undefined, origin: OriginParts): boolean {
  if (names === undefined || ownRecords(names, origin).lookups.length === 0) return false;
  return !isRecordUnanswered(names, origin) && !isRecordNotQueried(names, origin);
}

/**
 * Whether no HTTPS record was queried because the address of the host was given (`--resolve`, the setting `resolve`, the
 * hosts file): then it is unknown what DNS advertises, too.
 */
export function isRecordNotQueried(names: DnsResults | undefined, origin: OriginParts): boolean {
  if (names === undefined || ownServices(names, origin).length > 0) return false;
  const { lookups } = ownRecords(names, origin);
  if (lookups.some(({ unasked }) => unasked === true)) return true;
  const isGiven = names.addresses.some((known) => known.host === origin.host && known.source === 'pin');
  return isGiven && lookups.length === 0;
}

/** Why it is unknown whether an HTTPS record of the origin advertises HTTP/3; null: DNS was asked and has answered. */
export function recordUnknownMessage({ discovered, origin }: Evidence): Message | null {
  if (isRecordUnanswered(discovered.names, origin)) return message('verdictRecordUnanswered');
  return isRecordNotQueried(discovered.names, origin) ? message('verdictRecordUnasked') : null;
}

/** The attempts over HTTP/3 at an endpoint. */
export function h3AttemptsAt({ attempts, origin }: Evidence, endpoint: HostAndPort): readonly Attempt[] {
  return attempts.filter(
    (a) =>
      isH3(a) && isSameEndpoint({ host: hostOfHttpsName(a.host ?? origin.host), port: a.port }, endpoint),
  );
}

/** The result of HTTP/3 at an endpoint, from all attempts at its addresses. */
function reachAt(evidence: Evidence, endpoint: HostAndPort): Reach {
  if (portBlock(endpoint.port, 'h3') !== null) return { code: 'port-blocked', message: 'no port for HTTP/3' };
  const reach = reachOf(h3AttemptsAt(evidence, endpoint));
  return reach === 'not-tried' && endpoint.host !== evidence.origin.host
    ? lookupFailure(evidence, endpoint.host)
    : reach;
}

/** Whether HTTP/3 works where an HTTPS record leads, so that clients that read it need no other protocol first. */
export function isReachedByRecord(evidence: Evidence): boolean {
  return alternativesByRecord(evidence).some(
    (alternative) => reachAt(evidence, alternative) === 'established',
  );
}

function triedAlternatives(evidence: ParsedEvidence): TriedAlternative[] {
  const alternatives = [...evidence.byHeader, ...alternativesByRecord(evidence)];
  return alternatives
    .filter(
      (alternative, index) => alternatives.findIndex((other) => isSameEndpoint(other, alternative)) === index,
    )
    .map((alternative) => ({ ...alternative, reach: reachAt(evidence, alternative) }));
}

/** `on port 443` or `at other.test:443`. */
export function endpointMessage(endpoint: HostAndPort, ownHost: string): Message {
  if (endpoint.host === ownHost) return message('placePort', { port: String(endpoint.port) });
  return message('placeHost', { place: hostPort(endpoint.host, endpoint.port) });
}

/** The sentences of each fault. */
type FaultSentences = readonly (readonly Message[])[];

function exampleFor({ origin }: Evidence): Message {
  return message('faultExample', { port: String(origin.port) });
}

function syntaxFaults(evidence: Evidence, { alternatives, skipped, unread }: AltSvc): FaultSentences {
  if (skipped === 0) return [];
  const fault =
    alternatives.length === 0
      ? message('faultUnreadable')
      : message('faultSkipped', { skipped, count: alternatives.length + skipped + unread });
  return [[fault, exampleFor(evidence)]];
}

/** Entries that can be parsed and yet cannot lead a browser to HTTP/3. */
function emptyFaults(evidence: Evidence, { alternatives, unread }: AltSvc): FaultSentences {
  if (unread > 0 || alternatives.some((a) => a.alpn === 'h3' && a.maxAgeSeconds > 0)) return [];
  if (alternatives.some((a) => a.alpn === 'h3')) return [[message('faultNoLifetime')]];
  const named = alternatives.map(({ alpn }) => alpn).filter((alpn) => /^(h3-|quic$)/.test(alpn));
  if (named.length === 0) return [];
  const drafts = named.join(', ');
  const { host, port } = evidence.origin;
  const there = reachAt(evidence, { host, port });
  // Advertising an endpoint where nothing answers makes matters worse.
  if (isFailed(there))
    return [
      [message('faultDraftsUnreachable', { drafts, port: String(port), failure: failureMessage(there) })],
    ];
  return [[message('faultDrafts', { drafts }), exampleFor(evidence)]];
}

function whereMessage({ source }: AlternativeService): Message {
  return message(source === 'alt-svc' ? 'inAltSvc' : 'inRecord');
}

/** An alternative on another port of the origin's host from which nothing was received; null: it is none. */
function silentPort(evidence: Evidence, alternative: TriedAlternative) {
  const { host, port } = evidence.origin;
  const { reach } = alternative;
  if (alternative.host !== host || alternative.port === port) return null;
  if (!isFailed(reach) || !isUnanswered(reach)) return null;
  return {
    reach,
    ownWorks: reachAt(evidence, { host, port }) === 'established',
    params: { other: String(alternative.port), port: String(port), where: whereMessage(alternative) },
  };
}

function portFault(evidence: Evidence, alternative: TriedAlternative): Message[] {
  const block = portBlock(alternative.port, 'h3');
  if (block !== null) {
    const key = block === 'browsers' ? 'faultPortBlocked' : 'faultPortReflects';
    const place = endpointMessage(alternative, evidence.origin.host);
    return [message(key, { place, where: whereMessage(alternative) })];
  }
  const silent = silentPort(evidence, alternative);
  if (silent?.reach.code !== 'udp-refused') return [];
  // Silence may be caused by a firewall anywhere, and a refusal by one that lets no UDP pass.
  if (!udpPasses(evidence)) return [];
  const key = silent.ownWorks ? 'faultPortSpeaksOwn' : 'faultPortSilent';
  return [message(key, { ...silent.params, failure: failureMessage(silent.reach) })];
}

/** Faults of ports: what is wrong and its remedy are said once for all alternatives to which they apply. */
function portFaults(evidence: Evidence, alternatives: readonly TriedAlternative[]): FaultSentences {
  const faults = alternatives.flatMap((alternative) =>
    portFault(evidence, alternative).map((fault) => ({ alternative, fault })),
  );
  const alike = Map.groupBy(faults, ({ alternative, fault }) => `${fault.key} ${alternative.source}`);
  return [...alike.values()].map((group) => {
    const rest = group.slice(1).map(({ alternative }) => endpointMessage(alternative, evidence.origin.host));
    const first = group.slice(0, 1).map(({ fault }) => fault);
    return rest.length === 0 ? first : [...first, message('faultPortSame', { places: rest })];
  });
}

/** Whether datagrams come back on this network, from the host itself or from others. */
function udpPasses({ attempts, network }: Evidence): boolean {
  const isHeard = (attempt: Attempt): boolean =>
    attempt.transportMs != null || attempt.establishedMs !== null;
  return carriesH3(network) || attempts.some((attempt) => isH3(attempt) && isHeard(attempt));
}

/** That another port of the host speaks HTTP/3 where the advertised one is silent; null: it does not. */
export function otherPortMessage(evidence: Evidence, alternative: TriedAlternative): Message | null {
  const silent = silentPort(evidence, alternative);
  const isCandidate = silent?.ownWorks === true && silent.reach.code !== 'udp-refused';
  return isCandidate ? message('verdictOtherPort', silent.params) : null;
}

function hostFault(evidence: Evidence, alternative: TriedAlternative): Message[] {
  const { host } = evidence.origin;
  if (alternative.host === host || !isFailed(alternative.reach)) return [];
  const params = { place: endpointMessage(alternative, host), host, where: whereMessage(alternative) };
  switch (alternative.reach.code) {
    // A resolver that does not answer proves nothing about the name.
    case 'no-address':
      return [message('faultHostNoAddress', params)];
    case 'certificate-invalid':
      // RFC 7838 section 2.1: an alternative must prove that it may answer for the origin.
      return [
        message('faultHostCertificate', {
          ...params,
          reason: certificateReasonMessage(alternative.reach.reason),
        }),
      ];
    case 'misdirected':
      return [message('faultHostMisdirected', params)];
    default:
      return [];
  }
}

/** The known addresses of a host. */
function addressesAt({ discovered, attempts, origin }: Evidence, host: string): Set<string> {
  const looked = (discovered.names?.addresses ?? []).filter((known) => known.host === host);
  const tried = attempts.filter((attempt) => (attempt.host ?? origin.host) === host);
  return new Set([...looked, ...tried].map(({ address }) => address));
}

/** Whether two endpoints are the same, under whichever names, and HTTP/3 fails at neither. */
function leadsAlike(evidence: Evidence, a: AlternativeService, b: AlternativeService): boolean {
  if (isSameEndpoint(a, b)) return true;
  const [there, here] = [addressesAt(evidence, a.host), addressesAt(evidence, b.host)];
  const shared = a.port === b.port && [...there].some((address) => here.has(address));
  return shared && ![a, b].some((alternative) => isFailed(reachAt(evidence, alternative)));
}

function contradictions(evidence: ParsedEvidence): Message[] {
  const { altSvc, byHeader, discovered, origin } = evidence;
  const { host } = origin;
  const byRecord = alternativesByRecord(evidence);
  const [record] = byRecord;
  const [header] = byHeader;
  if (record !== undefined && altSvc?.clear) return [message('faultRecordAgainstClear')];
  if (record !== undefined && header !== undefined) {
    if (byHeader.some((a) => byRecord.some((b) => leadsAlike(evidence, a, b)))) return [];
    const params = { record: endpointMessage(record, host), header: endpointMessage(header, host) };
    return [message('faultRecordAgainstHeader', params)];
  }
  const usable = ownServices(discovered.names, origin).filter((service) => !service.incompatible);
  return header !== undefined && usable.length > 0 ? [message('faultRecordWithout')] : [];
}

function faultsOf(evidence: ParsedEvidence, alternatives: readonly TriedAlternative[]): Fault[] {
  const { altSvc } = evidence;
  const usable = alternatives.some(({ reach }) => reach === 'established');
  const each = (sentences: readonly Message[]): FaultSentences => sentences.map((sentence) => [sentence]);
  const of = (faults: FaultSentences, leads: boolean): Fault[] =>
    faults.map((sentences) => ({ sentences, leads }));
  return [
    ...(altSvc === null ? [] : of(syntaxFaults(evidence, altSvc), true)),
    ...(altSvc === null ? [] : of(emptyFaults(evidence, altSvc), alternatives.length === 0)),
    ...of(evidence.expired ? [[message('faultStale')]] : [], alternatives.length === 0),
    ...of(portFaults(evidence, alternatives), !usable),
    ...of(each(alternatives.flatMap((alternative) => hostFault(evidence, alternative))), !usable),
    ...of(each(contradictions(evidence)), false),
  ];
}
