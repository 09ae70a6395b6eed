// The host cache's rules, pure: how long evidence lasts, what a record lets us forecast, and what a race may skip.
// Advertised and reachable are separate facts: an advertisement refreshed over TCP never makes a broken path whole.
import { h3Alternatives, parseAltSvc } from '@photofinish/shared/alt-svc';
import type { Forecast } from '@photofinish/shared/forecast';
import type { Origin } from '@photofinish/shared/origin';
import type { KnownProtocol } from '@photofinish/shared/protocol';
import type { Basis, HostRecord, UseRecord } from './record.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A success without an advertised lifetime lasts as long as an Alt-Svc without `ma` (RFC 7838 section 3.1). */
export const SUCCESS_FRESH_MS = DAY_MS;
/** No success is trusted longer than the `ma` that the large operators send (2592000 s). */
export const MAX_SUCCESS_FRESH_MS = 30 * DAY_MS;
/** Chromium's broken alternative services: 300 s, doubled by each further failure (net/http, broken_alternative_services). */
export const BACK_OFF_MS = 300_000;
/** ... to about two days. */
export const MAX_BACK_OFF_MS = 2 * DAY_MS;
/** A record that nothing has touched for so long is browsing history without use; it is deleted. */
export const RETENTION_MS = 30 * DAY_MS;
/** A browser may miss HTTP/3 once or twice while it learns; staying on TCP after that is a choice. */
export const STAYS_BEFORE_EXPECTED = 3;

/** How long HTTP/3 is left alone after `failures` failures in a row, in milliseconds. */
export function backOffMs(failures: number): number {
  return Math.min(MAX_BACK_OFF_MS, BACK_OFF_MS * 2 ** Math.max(0, failures - 1));
}

/** How long a success of HTTP/3 is fresh: the advertised `ma` where there is one, within bounds. */
export function successFreshMs(advertisedMs: number | null): number {
  return Math.min(MAX_SUCCESS_FRESH_MS, advertisedMs ?? SUCCESS_FRESH_MS);
}

interface Evidence {
  readonly protocol: KnownProtocol;
  readonly basis: Basis;
  readonly atMs: number;
  readonly fresh: boolean;
}

/** The newest word on HTTP/3 itself: it worked, or it failed while TCP worked and is backed off from. */
function reachedEvidence(host: HostRecord, nowMs: number): Evidence | null {
  const { h3AtMs, h3FailedAtMs } = host;
  if (h3AtMs !== null && (h3FailedAtMs === null || h3AtMs >= h3FailedAtMs)) {
    const fresh = nowMs < (host.h3UntilMs ?? 0);
    return { protocol: 'h3', basis: host.h3Basis ?? 'raced', atMs: h3AtMs, fresh };
  }
  if (h3FailedAtMs !== null && host.h3BackOffUntilMs !== null && host.tcpProtocol !== null) {
    const fresh = nowMs < host.h3BackOffUntilMs;
    return { protocol: host.tcpProtocol, basis: 'raced', atMs: h3FailedAtMs, fresh };
  }
  return null;
}

function advertisement(hosts: readonly HostRecord[], nowMs: number): HostRecord | null {
  const withH3 = hosts.filter((h) => h.altSvcUntilMs !== null);
  return withH3.find((h) => nowMs < (h.altSvcUntilMs ?? 0)) ?? withH3[0] ?? null;
}

/**
 * What the host can speak here. `host` is its record on this network, `anywhere` the one that outlives networks.
 * Order: fresh evidence of a race (or of a browser that used HTTP/3), an unexpired advertisement, then the same two
 * when stale. A browser only ever speaks HTTP/3 to a host that advertised it, in a header or in DNS, so what a browser
 * used stands under `advertised`: `raced` is kept for what we tried ourselves.
 */
export function reachable(
  host: HostRecord | null,
  anywhere: HostRecord | null,
  nowMs: number,
): Forecast['reachable'] {
  const hosts = [host, anywhere].filter((h) => h !== null);
  const reached = host === null ? null : reachedEvidence(host, nowMs);
  const raced = reached && {
    protocol: reached.protocol,
    basis: reached.basis === 'raced' ? ('raced' as const) : ('advertised' as const),
    ageMs: Math.max(0, nowMs - reached.atMs),
    fresh: reached.fresh,
  };
  if (raced?.fresh) return raced;
  const advert = advertisement(hosts, nowMs);
  const advertised = advert && {
    protocol: 'h3' as const,
    basis: 'advertised' as const,
    ageMs: Math.max(0, nowMs - (advert.altSvcAtMs ?? nowMs)),
    fresh: nowMs < (advert.altSvcUntilMs ?? 0),
  };
  if (advertised?.fresh) return advertised;
  return raced ?? advertised ?? { protocol: 'unknown', basis: 'none', ageMs: null, fresh: false };
}

/**
 * What this browser will use now, from its own history with the origin under this site:
 *
 * | HTTP/3 advertised to it here | last used | else | expected |
 * |---|---|---|---|
 * | yes, unexpired | any | a fresh race says it fails here | its last TCP protocol (observed), or unknown |
 * | yes, unexpired | h3 | | h3 (observed) |
 * | yes, unexpired | other | stayed on TCP for 3 visits since | its last TCP protocol (observed) |
 * | yes, unexpired | other or unknown | | h3 (advertised) |
 * | expired | h3 | | its last TCP protocol (observed), or unknown |
 * | expired or never | other | | that (observed) |
 * | never | h3 | | h3 (observed): it learnt elsewhere, from DNS for example |
 * | never | unknown | | unknown: browsers do not race a host that advertised nothing to them |
 */
export function expected(
  use: UseRecord | null,
  reach: Forecast['reachable'],
  nowMs: number,
): Forecast['expected'] {
  const observed = (protocol: KnownProtocol | null): Forecast['expected'] =>
    protocol === null ? { protocol: 'unknown', basis: 'none' } : { protocol, basis: 'observed' };
  if (use === null) return observed(null);
  const { protocol, tcpProtocol, advertisedUntilMs } = use;
  const live = advertisedUntilMs !== null && nowMs < advertisedUntilMs;
  if (!live)
    return protocol === 'h3' && advertisedUntilMs !== null ? observed(tcpProtocol) : observed(protocol);
  const unreachable = reach.basis === 'raced' && reach.fresh && reach.protocol !== 'h3';
  if (unreachable) return observed(tcpProtocol);
  if (protocol === 'h3') return observed('h3');
  if (use.stays >= STAYS_BEFORE_EXPECTED) return observed(tcpProtocol);
  return { protocol: 'h3', basis: 'advertised' };
}

/** Both answers for one origin. A hit is a lookup that found something fresh to say (P1). */
export function forecastOf(
  origin: Origin,
  host: HostRecord | null,
  anywhere: HostRecord | null,
  use: UseRecord | null,
  nowMs: number,
): Forecast {
  const reach = reachable(host, anywhere, nowMs);
  const expect = expected(use, reach, nowMs);
  return { origin, reachable: reach, expected: expect, hit: reach.fresh || expect.basis !== 'none' };
}

/** What a race with memory `full` reads before it starts. */
export interface Recall {
  /** The protocol a fresh record decided on; null: race. */
  readonly decision: 'h3' | 'h2' | 'http/1.1' | null;
  /** An unexpired Alt-Svc header value and its age, for `parseAltSvc`. */
  readonly altSvc: string | null;
  readonly altSvcAgeSeconds: number;
  /** Smoothed round-trip times in milliseconds. */
  readonly rttMs: { readonly h3: number | null; readonly h2: number | null };
}

/** What is known here that is fresh; null when nothing is. */
export function recallOf(host: HostRecord | null, anywhere: HostRecord | null, nowMs: number): Recall | null {
  const reached = host === null ? null : reachedEvidence(host, nowMs);
  const advert = advertisement(
    [host, anywhere].filter((h) => h !== null),
    nowMs,
  );
  const live = advert !== null && nowMs < (advert.altSvcUntilMs ?? 0);
  const protocol = reached?.fresh ? reached.protocol : null;
  // Both are what TCP without h2 gives; a race offers no older ALPN name.
  const decision = protocol === 'http/1.0' ? 'http/1.1' : protocol;
  if (decision === null && !live) return null;
  return {
    decision,
    altSvc: live ? advert.altSvc : null,
    altSvcAgeSeconds: live ? Math.max(0, Math.floor((nowMs - (advert.altSvcAtMs ?? nowMs)) / 1000)) : 0,
    rttMs: { h3: host?.h3RttMs ?? null, h2: host?.tcpRttMs ?? null },
  };
}

/**
 * Whether a race's Alt-Svc is only the one it was given from memory: hearing oneself must not extend a life. A value
 * that is no longer live was not given out, so it was really received.
 */
export function isRemembered(altSvc: string, hosts: readonly (HostRecord | null)[], nowMs: number): boolean {
  return hosts.some((h) => h?.altSvc === altSvc && nowMs < (h.altSvcUntilMs ?? 0));
}

/** The longest life among a header's HTTP/3 alternatives in milliseconds; null: it names none. */
export function h3LifeMs(altSvc: string): number | null {
  const ages = h3Alternatives(parseAltSvc(altSvc)).map((a) => a.maxAgeSeconds);
  return ages.length === 0 ? null : Math.max(...ages) * 1000;
}
