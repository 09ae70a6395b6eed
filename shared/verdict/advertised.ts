// Where an origin says that it speaks HTTP/3, in Alt-Svc (RFC 7838) and in HTTPS records (RFC 9460), what came of going
// there, and what is wrong with the saying itself.

import { say } from '../language/words.ts';
import { portBlock } from '../race/blocked-ports.ts';
import type { Names, ServiceRecord } from '../race/discovered.ts';
import type { Discovered } from '../race/outcome.ts';
import { type AltSvc, h3Alternatives, parseAltSvc } from '../web/alt-svc.ts';
import { hostPort } from '../web/origin.ts';
import { attemptErrorWords, certificateReasonWords, failureWords } from './attempt-words.ts';
import { type Evidence, isFailed, isH3, isUnanswered, type Reach, reachOf } from './evidence.ts';

/** A place where HTTP/3 is said to be spoken. */
export interface Place {
  /** The origin's own host where the advertisement names none; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly source: 'alt-svc' | 'https-record';
}

export interface PlaceReached extends Place {
  readonly reach: Reach;
}

/** Something wrong with the advertisement; `leads`: it keeps clients from HTTP/3, whatever else works. */
export interface Fault {
  readonly text: string;
  readonly leads: boolean;
}

/** The host of a record's name: that of a port other than 443 is _PORT._https.HOST (RFC 9460 section 9.1). */
function hostOf(name: string): string {
  return name.replace(/^_\d+\._https\./, '');
}

/** The HTTP/3 alternatives that hold: a header replaces whatever was remembered, `clear` withdraws it. */
function alternativePlaces(discovered: Discovered, ownHost: string): Place[] {
  const { altSvc, alternatives = [] } = discovered;
  const named =
    altSvc === null
      ? alternatives.filter((a) => a.alpn === 'h3' && a.expiresInSeconds > 0)
      : h3Alternatives(parseAltSvc(altSvc));
  return named.map(({ host, port }) => ({
    host: host === '' ? ownHost : host.replace(/^\[|\]$/g, ''),
    port,
    source: 'alt-svc',
  }));
}

/**
 * The host that a record leads to. Its own name, of a port other than 443, stands for the origin's host where it has
 * addresses, and for itself where it has none (RFC 9460 section 2.5.2): that is what is wrong with it.
 */
function targetOf({ target }: ServiceRecord, evidence: Evidence): string {
  return isFailed(lookupFailure(evidence, target)) ? target : hostOf(target);
}

/** Records in ServiceMode that were found for the origin itself, not for a host that Alt-Svc names. */
function ownServices({ discovered, origin }: Evidence): ServiceRecord[] {
  const others = alternativePlaces(discovered, origin.host)
    .map(({ host }) => host)
    .filter((host) => host !== origin.host);
  const services = discovered.names?.services ?? [];
  return services.filter(({ priority, owner }) => priority > 0 && !others.includes(hostOf(owner)));
}

function recordPlaces(evidence: Evidence): Place[] {
  return ownServices(evidence)
    .filter((record) => !record.incompatible && record.alpn.includes('h3'))
    .toSorted((a, b) => a.priority - b.priority)
    .map((record) => ({
      host: targetOf(record, evidence),
      port: record.port ?? evidence.origin.port,
      source: 'https-record',
    }));
}

function isSamePlace(a: Pick<Place, 'host' | 'port'>, b: Pick<Place, 'host' | 'port'>): boolean {
  return a.host === b.host && a.port === b.port;
}

/**
 * A question that stayed open for less was only cut short by the end of its race: resolvers themselves ask again after
 * a second or more, and answers take some hundred milliseconds where nobody has them at hand.
 */
const LOST_AFTER_MS = 1000;

/** A name that was asked for and led to no address was never attempted, and is a failure all the same. */
function lookupFailure({ discovered }: Evidence, host: string): Reach {
  const { addresses = [], lookups = [] } = discovered.names ?? {};
  const asked = lookups.filter(({ name, kind }) => name === host && kind !== 'HTTPS');
  if (asked.length === 0 || addresses.some((a) => a.host === host)) return 'not-tried';
  if (asked.some(({ unanswered, tookMs }) => unanswered === true && tookMs < LOST_AFTER_MS))
    return 'not-tried';
  const failed = asked.find(({ outcome }) => outcome === 'failed');
  if (failed !== undefined) return { code: 'dns-failed', message: failed.message ?? 'no answer' };
  // An answer of which nothing is left says what the guard took.
  const guarded = asked.find(({ message }) => message !== undefined);
  return guarded === undefined
    ? { code: 'no-address', message: 'no address' }
    : { code: 'blocked', message: guarded.message ?? '' };
}

/** Whether an HTTPS record was asked for and none was heard of: then nobody knows what DNS advertises. */
export function isRecordUnanswered(names: Names | undefined): boolean {
  if (names === undefined || names.services.length > 0) return false;
  return names.lookups.some(({ kind, outcome }) => kind === 'HTTPS' && outcome === 'failed');
}

/** What came of HTTP/3 at a place, by all attempts at its addresses. */
function reachAt(evidence: Evidence, place: Pick<Place, 'host' | 'port'>): Reach {
  if (portBlock(place.port, 'h3') !== null) return { code: 'port-blocked', message: 'no port for HTTP/3' };
  const there = evidence.attempts.filter(
    (a) => isH3(a) && isSamePlace({ host: hostOf(a.host ?? evidence.origin.host), port: a.port }, place),
  );
  const reach = reachOf(there);
  return reach === 'not-tried' && place.host !== evidence.origin.host
    ? lookupFailure(evidence, place.host)
    : reach;
}

/** Every place that Alt-Svc and HTTPS records advertise, each once, with what came of it; in the server's order. */
export function advertisedPlaces(evidence: Evidence): PlaceReached[] {
  const places = [...alternativePlaces(evidence.discovered, evidence.origin.host), ...recordPlaces(evidence)];
  return places
    .filter((place, index) => places.findIndex((other) => isSamePlace(other, place)) === index)
    .map((place) => ({ ...place, reach: reachAt(evidence, place) }));
}

/** `on port 443` or `at other.test:443`. */
export function placeWords(place: Pick<Place, 'host' | 'port'>, ownHost: string): string {
  if (place.host === ownHost) return say('placePort', { port: String(place.port) });
  return say('placeHost', { place: hostPort(place.host, place.port) });
}

function withExample(fault: string, { origin }: Evidence): string {
  return `${fault} ${say('faultExample', { port: String(origin.port) })}`;
}

function syntaxFaults(evidence: Evidence, altSvc: AltSvc): string[] {
  const { alternatives, skipped } = altSvc;
  if (alternatives.length === 0 && skipped > 0) return [withExample(say('faultUnreadable'), evidence)];
  if (skipped > 0)
    return [withExample(say('faultSkipped', { skipped, count: alternatives.length + skipped }), evidence)];
  return [];
}

/** Entries that can be parsed and yet lead no browser to HTTP/3. */
function emptyFaults(evidence: Evidence, { alternatives }: AltSvc): string[] {
  if (alternatives.some((a) => a.alpn === 'h3' && a.maxAgeSeconds > 0)) return [];
  if (alternatives.some((a) => a.alpn === 'h3')) return [say('faultNoLifetime')];
  const drafts = alternatives.map(({ alpn }) => alpn).filter((alpn) => /^(h3-|quic$)/.test(alpn));
  if (drafts.length === 0) return [];
  const { host, port } = evidence.origin;
  const there = reachAt(evidence, { host, port });
  // Whoever advertises what nobody answers for makes matters worse.
  if (isFailed(there))
    return [
      say('faultDraftsUnreachable', {
        drafts: drafts.join(', '),
        port: String(port),
        failure: failureWords(there),
      }),
    ];
  return [withExample(say('faultDrafts', { drafts: drafts.join(', ') }), evidence)];
}

function whereWords({ source }: Place): string {
  return say(source === 'alt-svc' ? 'inAltSvc' : 'inRecord');
}

function portFault(evidence: Evidence, place: PlaceReached): string[] {
  const { host, port } = evidence.origin;
  const block = portBlock(place.port, 'h3');
  if (block !== null) {
    const key = block === 'browsers' ? 'faultPortBlocked' : 'faultPortReflects';
    return [say(key, { place: placeWords(place, host), where: whereWords(place) })];
  }
  if (place.host !== host || place.port === port) return [];
  if (!isFailed(place.reach) || !isUnanswered(place.reach)) return [];
  const { code } = place.reach;
  const failure = attemptErrorWords(code);
  const params = { other: String(place.port), port: String(port), failure, where: whereWords(place) };
  if (reachAt(evidence, { host, port }) === 'established') return [say('faultPortSpeaksOwn', params)];
  // Silence may be a firewall's; only a refusal says that nothing listens.
  return code === 'udp-refused' ? [say('faultPortSilent', params)] : [];
}

function hostFault(evidence: Evidence, place: PlaceReached): string[] {
  const { host } = evidence.origin;
  if (place.host === host || !isFailed(place.reach)) return [];
  const params = { place: placeWords(place, host), host, where: whereWords(place) };
  switch (place.reach.code) {
    // A resolver that does not answer proves nothing about the name.
    case 'no-address':
      return [say('faultHostNoAddress', params)];
    case 'certificate-invalid':
      // RFC 7838 section 2.1: an alternative must prove that it may answer for the origin.
      return [say('faultHostCertificate', { ...params, reason: certificateReasonWords(place.reach.reason) })];
    case 'misdirected':
      return [say('faultHostMisdirected', params)];
    default:
      return [];
  }
}

/** The addresses that a host is known by. */
function addressesAt({ discovered, attempts, origin }: Evidence, host: string): Set<string> {
  const looked = (discovered.names?.addresses ?? []).filter((known) => known.host === host);
  const tried = attempts.filter((attempt) => (attempt.host ?? origin.host) === host);
  return new Set([...looked, ...tried].map(({ address }) => address));
}

/** Whether two places are one, under whichever names, and HTTP/3 fails at neither. */
function leadsAlike(evidence: Evidence, a: Place, b: Place): boolean {
  if (isSamePlace(a, b)) return true;
  const [there, here] = [addressesAt(evidence, a.host), addressesAt(evidence, b.host)];
  const shared = a.port === b.port && [...there].some((address) => here.has(address));
  return shared && ![a, b].some((place) => isFailed(reachAt(evidence, place)));
}

function contradictions(evidence: Evidence, altSvc: AltSvc | null): string[] {
  const { host } = evidence.origin;
  const byHeader = alternativePlaces(evidence.discovered, host);
  const byRecord = recordPlaces(evidence);
  const [record] = byRecord;
  const [header] = byHeader;
  if (record !== undefined && altSvc?.clear) return [say('faultRecordAgainstClear')];
  if (record !== undefined && header !== undefined) {
    if (byHeader.some((a) => byRecord.some((b) => leadsAlike(evidence, a, b)))) return [];
    const places = { record: placeWords(record, host), header: placeWords(header, host) };
    return [say('faultRecordAgainstHeader', places)];
  }
  const usable = ownServices(evidence).filter((service) => !service.incompatible);
  return header !== undefined && usable.length > 0 ? [say('faultRecordWithout')] : [];
}

/** Everything wrong with how HTTP/3 is advertised, what keeps clients from it first. */
export function advertisementFaults(evidence: Evidence): Fault[] {
  const altSvc = evidence.discovered.altSvc === null ? null : parseAltSvc(evidence.discovered.altSvc);
  const places = advertisedPlaces(evidence);
  const usable = places.some(({ reach }) => reach === 'established');
  const ignored = ownServices(evidence).some((record) => record.incompatible && record.alpn.includes('h3'))
    ? [say('faultMandatoryKey')]
    : [];
  const of = (texts: readonly string[], leads: boolean): Fault[] => texts.map((text) => ({ text, leads }));
  return [
    ...(altSvc === null ? [] : of(syntaxFaults(evidence, altSvc), true)),
    ...(altSvc === null ? [] : of(emptyFaults(evidence, altSvc), places.length === 0)),
    ...of(ignored, places.length === 0),
    ...of(
      places.flatMap((place) => [...portFault(evidence, place), ...hostFault(evidence, place)]),
      !usable,
    ),
    ...of(contradictions(evidence, altSvc), false),
  ];
}
