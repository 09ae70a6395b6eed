// What an origin advertises, in headers (RFC 7838) and in HTTPS records (RFC 9460): by which source, when, and until
// when. Whether HTTP/3 can then be reached is a separate fact, stored elsewhere.

import { comparableName, type DnsResults, ownRecords } from '@photofinish/shared/race/discovered';
import type { Attempt, DiscoveryEvidence } from '@photofinish/shared/race/outcome';
import {
  type Alternative,
  type AltSvc,
  alternativeHost,
  DEFAULT_MAX_AGE_SECONDS,
  h3Alternatives,
  parseAltSvc,
} from '@photofinish/shared/web/alt-svc';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { isMisdirectedAlternative } from './back-off.ts';
import type { AltSvcReceiver, HostRecord } from './record.ts';

/** An alternative that responded with 421 is ignored for the default lifetime without `ma` (RFC 7838 section 3.1). */
export const MISDIRECTED_MS = 1000 * DEFAULT_MAX_AGE_SECONDS;

/** Any octet that is not a token character, or a percent sign, is percent-encoded (RFC 7838 section 3). */
function encodedAlpn(alpn: string): string {
  return encodeURIComponent(alpn).replaceAll(/[()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

/** Alternatives as a header value; `clear` if there are none, because a header replaces the whole list. */
export function altSvcOf(alternatives: readonly Alternative[]): AltSvc {
  const written = alternatives.map(({ alpn, host, port, maxAgeSeconds, persist }) => {
    return `${encodedAlpn(alpn)}="${host}:${port}"; ma=${maxAgeSeconds}${persist ? '; persist=1' : ''}`;
  });
  const clear = alternatives.length === 0;
  return { text: clear ? 'clear' : written.join(', '), clear, alternatives, skipped: 0, unread: 0 };
}

/** Whether a header neither names an alternative nor withdraws any; like browsers, the cache ignores it. */
export function isUnreadable({ clear, alternatives }: AltSvc): boolean {
  return !clear && alternatives.length === 0;
}

/** The longest lifetime of a header's HTTP/3 alternatives in milliseconds; null if it names none. */
export function h3LifeMs(altSvc: AltSvc): number | null {
  const ages = h3Alternatives(altSvc).map((a) => a.maxAgeSeconds);
  return ages.length === 0 ? null : Math.max(...ages) * 1000;
}

/**
 * The part of a header that survives a change of network (`persist=1`, RFC 7838 section 3.1), as a header value;
 * `clear` if there is none.
 */
export function persistentPart(altSvc: AltSvc): AltSvc {
  return altSvcOf(h3Alternatives(altSvc).filter((a) => a.persist));
}

/** `host:port` of an HTTP/3 endpoint, including the origin's own host. */
function endpointOf(alternative: Pick<Alternative, 'host' | 'port'>, origin: Origin): string {
  return `${alternativeHost(alternative, originParts(origin).host)}:${alternative.port}`;
}

/** The alternatives of a header that are currently used: without the one that responded with 421. */
function believed(host: HostRecord, alternatives: readonly Alternative[], atMs: number) {
  const { misdirected, misdirectedUntilMs } = host;
  if (misdirected === null || atMs >= (misdirectedUntilMs ?? 0)) return alternatives;
  return alternatives.filter((a) => a.alpn !== 'h3' || endpointOf(a, host.origin) !== misdirected);
}

/** How a header was received: when, by whom, and how old it already was (its answer's `Age`). */
export interface Receipt {
  readonly atMs: number;
  readonly by: AltSvcReceiver;
  readonly ageMs?: number;
}

/**
 * A new Alt-Svc header replaces the old one (RFC 7838 section 3). `clear` removes it; an unreadable one changes
 * nothing, and neither does one older than what is known.
 */
export function foldAltSvc(host: HostRecord, altSvc: AltSvc, { atMs, by, ageMs = 0 }: Receipt): HostRecord {
  if (atMs < (host.altSvcAtMs ?? 0)) return host;
  if (isUnreadable(altSvc)) return host;
  const { alternatives } = altSvc;
  const kept = believed(host, alternatives, atMs);
  if (kept.length === 0)
    return { ...host, altSvc: null, altSvcAtMs: atMs, altSvcUntilMs: null, altSvcBy: by };
  const value = kept.length === alternatives.length ? altSvc : altSvcOf(kept);
  const lifeMs = h3LifeMs(value);
  const saidAtMs = Math.max(0, atMs - ageMs);
  return {
    ...host,
    altSvc: value.text,
    altSvcAtMs: saidAtMs,
    altSvcUntilMs: lifeMs === null ? null : saidAtMs + lifeMs,
    altSvcBy: by,
  };
}

/**
 * A 421 from an alternative removes it (RFC 7838 section 6), and keeps it removed although the origin still names it;
 * otherwise it would be tried again after every answer.
 */
export function foldMisdirected(host: HostRecord, attempts: readonly Attempt[], atMs: number): HostRecord {
  const wrong = attempts.findLast(isMisdirectedAlternative);
  if (wrong === undefined) return host;
  const misdirected = endpointOf({ host: wrong.host ?? '', port: wrong.port }, host.origin);
  const next = { ...host, misdirected, misdirectedUntilMs: atMs + MISDIRECTED_MS };
  if (next.altSvc === null) return next;
  const { alternatives } = parseAltSvc(next.altSvc);
  const kept = believed(next, alternatives, atMs);
  if (kept.length === alternatives.length) return next;
  if (kept.length === 0) return { ...next, altSvc: null, altSvcUntilMs: null };
  const value = altSvcOf(kept);
  const lifeMs = h3LifeMs(value);
  const untilMs = lifeMs === null ? null : (next.altSvcAtMs ?? atMs) + lifeMs;
  return { ...next, altSvc: value.text, altSvcUntilMs: untilMs };
}

/**
 * The origin's own HTTPS records in ServiceMode that name `h3` advertise HTTP/3 for their TTL. An answer without any
 * withdraws that; a failed look-up, or none, changes nothing.
 */
export function foldServices(host: HostRecord, names: DnsResults | undefined, atMs: number): HostRecord {
  if (names === undefined) return host;
  const origin = originParts(host.origin);
  const { services, lookups } = ownRecords(names, origin);
  const offers = services
    .filter((record) => record.priority > 0 && !record.incompatible && record.alpn.includes('h3'))
    .toSorted((a, b) => a.priority - b.priority)
    .map((record): Alternative => {
      const target = comparableName(record.target);
      return {
        alpn: 'h3',
        host: target === origin.host ? '' : target,
        port: record.port ?? origin.port,
        maxAgeSeconds: Math.floor(record.ttlSeconds),
        persist: false,
      };
    });
  if (offers.length > 0) {
    const lifeMs = Math.max(...offers.map((offer) => offer.maxAgeSeconds)) * 1000;
    return { ...host, service: altSvcOf(offers).text, serviceAtMs: atMs, serviceUntilMs: atMs + lifeMs };
  }
  const answered = lookups.some(({ outcome }) => outcome !== 'failed');
  return answered ? { ...host, service: null, serviceAtMs: null, serviceUntilMs: null } : host;
}

/** A race's Alt-Svc value, and how old its answer already was. */
export interface AgedAltSvc {
  readonly altSvc: AltSvc;
  readonly ageMs: number;
}

/**
 * A race's Alt-Svc header or frame as received, with the age of its answer; null when the race only repeats what it was
 * given from memory, because that must not extend a lifetime. If the race does not say which it was, a value that is
 * known and unexpired came from memory; an expired one is not given to races, so it was really received.
 */
export function receivedAltSvc(
  discovered: DiscoveryEvidence,
  hosts: readonly (HostRecord | null)[],
  nowMs: number,
): AgedAltSvc | null {
  const { altSvc: text, alternatives } = discovered;
  if (text === null) return null;
  const answered = (alternatives ?? []).filter((a) => a.source !== 'memory');
  const live = hosts.some((h) => h?.altSvc === text && nowMs < (h?.altSvcUntilMs ?? 0));
  if (answered.length === 0 && live) return null;
  const altSvc = parseAltSvc(text);
  const ages = altSvc.alternatives.flatMap((said) => {
    // Another protocol's response may have named it before, with another lifetime.
    const same = answered.findLast(
      (a) => a.alpn === said.alpn && a.host === said.host && a.port === said.port,
    );
    return same === undefined ? [] : [said.maxAgeSeconds - same.expiresInSeconds];
  });
  return { altSvc, ageMs: Math.max(0, ...ages) * 1000 };
}

/** A known alternative: its source, when it was received, and when it expires. */
export interface KnownAlternative extends Omit<Alternative, 'maxAgeSeconds'> {
  /** Null: a header from before the source was stored. */
  readonly said: AltSvcReceiver | 'https-record' | null;
  readonly saidAtMs: number;
  readonly untilMs: number;
}

/** Every alternative in a record, including expired ones, headers first. */
export function alternativesOf(host: HostRecord): KnownAlternative[] {
  const list = (value: string | null, said: KnownAlternative['said'], saidAtMs: number | null) =>
    parseAltSvc(value ?? '').alternatives.map(({ maxAgeSeconds, ...rest }) => ({
      ...rest,
      said,
      saidAtMs: saidAtMs ?? 0,
      untilMs: (saidAtMs ?? 0) + maxAgeSeconds * 1000,
    }));
  return [
    ...list(host.altSvc, host.altSvcBy, host.altSvcAtMs),
    ...list(host.service, 'https-record', host.serviceAtMs),
  ];
}
