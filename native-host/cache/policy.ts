// The host cache's rules, pure: how long evidence lasts, what a record allows us to forecast, and what a race may skip.
// Advertised and reachable are separate facts: an advertisement refreshed over TCP never makes a broken path work.
import type { Forecast } from '@photofinish/shared/port/wire';
import type { SharedOutcome } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import { type AltSvc, DEFAULT_MAX_AGE_SECONDS, parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { VISITS_BEFORE_CHOICE } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import { isAhead } from '@photofinish/shared/web/untrusted';
import type {
  AddressRecord,
  Basis,
  HostForecastRow,
  HostRecord,
  SharedRecord,
  UseForecastRow,
} from './record.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A success without an advertised lifetime lasts as long as an Alt-Svc without `ma` (RFC 7838 section 3.1). */
export const SUCCESS_FRESH_MS = 1000 * DEFAULT_MAX_AGE_SECONDS;
/** No success is trusted longer than the `ma` sent by the large operators (2592000 s). */
const MAX_SUCCESS_FRESH_MS = 30 * DAY_MS;
/**
 * Older round-trip times are not used as hints: routes change, and with them a name's nearest address. RFC 9040 section
 * 6 requires such values to age without giving an age.
 */
export const MEASURED_FRESH_MS = DAY_MS;
/** Outcomes shared by other machines are used, published and kept for this long after the hour of their race. */
export const SHARED_FRESH_MS = DAY_MS;
/** A record unchanged for this long is browsing history without use and is deleted. */
export const RETENTION_MS = 30 * DAY_MS;

/** How long a success of HTTP/3 is fresh, given how long it is still advertised; null: not advertised. */
export function successFreshMs(advertisedMs: number | null): number {
  return Math.min(MAX_SUCCESS_FRESH_MS, advertisedMs ?? SUCCESS_FRESH_MS);
}

interface Evidence {
  readonly protocol: KnownProtocol;
  readonly basis: Basis;
  readonly atMs: number;
  readonly fresh: boolean;
}

/**
 * Until when the newest evidence about HTTP/3 is fresh; null: it is not. A record written by a clock that was ahead
 * would stay fresh for that much longer. Browsers leave HTTP/3 once the origin has withdrawn it, so what they did
 * before, or on a connection that was still open, is no longer evidence.
 */
export function freshUntilMs(host: HostForecastRow, nowMs: number): number | null {
  if (isAhead(host.h3FailedAtMs ?? host.h3AtMs ?? 0, nowMs)) return null;
  // A success clears the previous failure, so if a failure is stored it is the newer of the two.
  if (host.h3FailedAtMs !== null) return host.h3BackOffUntilMs;
  return host.h3Basis === 'observed' && isWithdrawn(host, nowMs) ? null : host.h3UntilMs;
}

/** The newest evidence about HTTP/3 itself: it worked, or it failed while TCP worked and is backed off. */
function reachedEvidence(host: HostForecastRow, nowMs: number): Evidence | null {
  const { h3AtMs, h3FailedAtMs } = host;
  const fresh = nowMs < (freshUntilMs(host, nowMs) ?? 0);
  if (h3AtMs !== null && h3FailedAtMs === null)
    return { protocol: 'h3', basis: host.h3Basis ?? 'raced', atMs: h3AtMs, fresh };
  if (h3FailedAtMs !== null && host.tcpProtocol !== null)
    return { protocol: host.tcpProtocol, basis: 'raced', atMs: h3FailedAtMs, fresh };
  return null;
}

interface Advertisement {
  readonly atMs: number;
  readonly untilMs: number;
}

/** Headers and HTTPS records that name HTTP/3, those of this network before the persistent ones. */
function advertisements(hosts: readonly (HostForecastRow | null)[], nowMs: number): Advertisement[] {
  return hosts.flatMap((h) => {
    if (h === null) return [];
    const advertisements = [
      { atMs: h.altSvcAtMs ?? 0, untilMs: h.altSvcUntilMs },
      { atMs: h.serviceAtMs ?? 0, untilMs: h.serviceUntilMs },
    ];
    return advertisements.filter(
      (advert): advert is Advertisement => advert.untilMs !== null && !isAhead(advert.atMs, nowMs),
    );
  });
}

/** Until when HTTP/3 is advertised by any source; null: not at this time. */
export function advertisedUntilMs(host: HostRecord, nowMs: number): number | null {
  const live = advertisements([host], nowMs).filter((advert) => nowMs < advert.untilMs);
  return live.length === 0 ? null : Math.max(...live.map((advert) => advert.untilMs));
}

/**
 * Whether the newest header withdrew HTTP/3 (`clear`, `ma=0`, or a list without it; RFC 7838 section 3) and no HTTPS
 * record names it. An advertisement that expires is not withdrawn: the browser may have received it again without us.
 */
function isWithdrawn(host: HostForecastRow, nowMs: number): boolean {
  const { altSvcAtMs, altSvcUntilMs } = host;
  if (altSvcAtMs === null || (altSvcUntilMs ?? 0) > altSvcAtMs) return false;
  return nowMs >= (host.serviceUntilMs ?? 0);
}

/**
 * A shared outcome while it is fresh; null: it is not. One from the future was stored before the clock was set back.
 */
export function freshShared(shared: SharedRecord | null, nowMs: number): SharedRecord | null {
  if (shared === null || shared.atMs > nowMs) return null;
  return nowMs - shared.atMs < SHARED_FRESH_MS ? shared : null;
}

/**
 * What the host can speak here. `host` is its record on this network, `anywhere` the persistent one. Order: fresh
 * evidence of a race (or of a browser that used HTTP/3 which was not withdrawn since), an unexpired advertisement, stale
 * evidence, what other machines' races found (`shared` reads it only if needed), an expired advertisement. A browser only
 * speaks HTTP/3 to a host that advertised it, in a header or in DNS, so a browser's use is reported as `advertised`:
 * `raced` is only for what we tried ourselves.
 */
export function reachable(
  host: HostForecastRow | null,
  anywhere: HostForecastRow | null,
  nowMs: number,
  shared: () => SharedRecord | null = () => null,
): Forecast['reachable'] {
  const reached = host === null ? null : reachedEvidence(host, nowMs);
  const raced = reached && {
    protocol: reached.protocol,
    basis: reached.basis === 'raced' ? ('raced' as const) : ('advertised' as const),
    ageMs: Math.max(0, nowMs - reached.atMs),
    fresh: reached.fresh,
  };
  if (raced?.fresh) return raced;
  const adverts = advertisements([host, anywhere], nowMs);
  const advert = adverts.find((a) => nowMs < a.untilMs) ?? adverts[0];
  const advertised = advert && {
    protocol: 'h3' as const,
    basis: 'advertised' as const,
    ageMs: Math.max(0, nowMs - advert.atMs),
    fresh: nowMs < advert.untilMs,
  };
  if (advertised?.fresh) return advertised;
  if (raced !== null) return raced;
  const others = freshShared(shared(), nowMs);
  const protocol = others?.h3Failure === null ? 'h3' : others?.tcpProtocol;
  if (others !== null && protocol)
    return { protocol, basis: 'shared', ageMs: nowMs - others.atMs, fresh: true };
  return advertised ?? { protocol: 'unknown', basis: 'none', ageMs: null, fresh: false };
}

/**
 * The protocol that this browser is expected to use now, from its own history with the origin under this site:
 *
 * | HTTP/3 advertised to it here | last used | else | expected |
 * |---|---|---|---|
 * | yes, unexpired | any | a fresh race says it fails here | its last TCP protocol (observed), or unknown |
 * | yes, unexpired | h3 | | h3 (observed) |
 * | yes, unexpired | other | stayed on TCP for 3 visits since | its last TCP protocol (observed) |
 * | yes, unexpired | other or unknown | | h3 (advertised) |
 * | expired or withdrawn | h3 | | its last TCP protocol (observed), or unknown |
 * | expired, withdrawn or never | other | | last used (observed) |
 * | never | h3 | | h3 (observed): learnt elsewhere, for example from DNS |
 * | never | unknown | | unknown: browsers do not race a host that advertised nothing to them |
 *
 * Whether Firefox uses Happy Eyeballs version 3 is unknown: it is a preference, and no extension can read those. With it
 * and without it, these rows were right about as often (docs/laboratory.md, results of `adoption`).
 *
 * A browser that has stayed on TCP is expected to stay, although it tries HTTP/3 again some time after a failure, and
 * the verdict says when (results of `browsers`): a record tells neither when QUIC failed, nor whether it is switched off.
 * An observation names the protocol that answered, and TCP also answers because it was faster or still connected, after
 * which no browser waits. A race that failed is no attempt of the browser's, and its back-off is our own.
 */
export function expected(
  use: UseForecastRow | null,
  reach: Forecast['reachable'],
  nowMs: number,
): Forecast['expected'] {
  const observed = (protocol: KnownProtocol | null): Forecast['expected'] =>
    protocol === null ? { protocol: 'unknown', basis: 'none' } : { protocol, basis: 'observed' };
  if (use === null || isAhead(use.seenAtMs, nowMs)) return observed(null);
  const { protocol, tcpProtocol, advertisedUntilMs } = use;
  const live = advertisedUntilMs !== null && nowMs < advertisedUntilMs;
  if (!live) return observed(advertisedUntilMs === null ? protocol : tcpProtocol);
  const unreachable = reach.basis === 'raced' && reach.fresh && reach.protocol !== 'h3';
  if (unreachable) return observed(tcpProtocol);
  if (protocol === 'h3') return observed('h3');
  if (use.stays >= VISITS_BEFORE_CHOICE) return observed(tcpProtocol);
  return { protocol: 'h3', basis: 'advertised' };
}

/** What a forecast is made of. */
export interface ForecastBasis {
  /** The record on this network, and the persistent one. */
  readonly here: HostForecastRow | null;
  readonly anywhere: HostForecastRow | null;
  readonly use: UseForecastRow | null;
  /** Reads what other machines shared, if it is needed; absent: nothing is shared. */
  readonly shared?: () => SharedRecord | null;
}

/**
 * Both answers for one origin. A hit is a lookup that found something fresh of this machine's own (P1): what others
 * shared does not make its memory better.
 */
export function forecastOf(
  origin: Origin,
  { here, anywhere, use, shared }: ForecastBasis,
  nowMs: number,
): Forecast {
  const reach = reachable(here, anywhere, nowMs, shared);
  const expect = expected(use, reach, nowMs);
  const hit = (reach.fresh && reach.basis !== 'shared') || expect.basis !== 'none';
  return { origin, reachable: reach, expected: expect, hit };
}

/** A path's history over one transport, in milliseconds (RFC 6298, RFC 9002 section 5). */
export interface PathHint {
  readonly srttMs: number;
  readonly rttvarMs: number;
  /** Time to established without loss; null: never established. */
  readonly handshakeMs: number | null;
  /** Share of sent packets lost, from 0 to 1; null if the transport does not report it. */
  readonly lossRate: number | null;
}

/** What memory tells a race about an origin's paths without deciding its protocol: the known host of memory `hints`. */
export interface Hints {
  readonly h3: PathHint | null;
  readonly h2: PathHint | null;
  /** HTTP/3 failed here while TCP worked, and is avoided until then (milliseconds since the epoch). */
  readonly h3Broken: { readonly code: AttemptErrorCode; readonly untilMs: number } | null;
  /** Results of other machines' races, used only while this machine has no evidence of its own; null: none. */
  readonly shared: SharedOutcome | null;
  /** Smoothed round-trip times in milliseconds, by address literal. */
  readonly addresses: ReadonlyMap<string, number>;
}

/** Nothing is known. */
export const NO_HINTS: Hints = {
  h3: null,
  h2: null,
  h3Broken: null,
  shared: null,
  addresses: new Map(),
};

/** What a race reads before it starts: all of it with memory `full`, the hints alone with memory `hints`. */
export interface PriorKnowledge {
  /** The protocol that a fresh record decided on; null: race. */
  readonly decision: 'h3' | 'h2' | 'http/1.1' | null;
  /** An unexpired Alt-Svc header value, its age subtracted. */
  readonly altSvc: AltSvc | null;
  /** `host:port` of an alternative that responded with 421 recently; null if none did. */
  readonly misdirected: string | null;
  readonly hints: Hints;
}

/** Nothing is known. */
export const NO_KNOWLEDGE: PriorKnowledge = {
  decision: null,
  altSvc: null,
  misdirected: null,
  hints: NO_HINTS,
};

/** Without its key, which stays here. */
export function sharedOutcome({ atMs, h3Failure, tcpProtocol }: SharedRecord): SharedOutcome {
  return { atMs, h3Failure, tcpProtocol };
}

function isRecent(measuredAtMs: number, nowMs: number): boolean {
  return nowMs - measuredAtMs < MEASURED_FRESH_MS && !isAhead(measuredAtMs, nowMs);
}

function pathHint(
  rtt: { readonly srttMs: number | null; readonly rttvarMs: number | null; readonly atMs: number | null },
  rest: Pick<PathHint, 'handshakeMs' | 'lossRate'>,
  nowMs: number,
): PathHint | null {
  const { srttMs, rttvarMs, atMs } = rtt;
  if (srttMs === null || rttvarMs === null || atMs === null || !isRecent(atMs, nowMs)) return null;
  return { srttMs, rttvarMs, ...rest };
}

function hintsOf(host: HostRecord, addresses: ReadonlyMap<string, number>, nowMs: number): Hints {
  const { h3Failure, h3BackOffUntilMs } = host;
  const inForce = reachedEvidence(host, nowMs)?.fresh === true;
  return {
    h3: pathHint(
      { srttMs: host.h3RttMs, rttvarMs: host.h3RttVarMs, atMs: host.h3RttAtMs },
      { handshakeMs: host.h3HandshakeMs, lossRate: host.h3LossRate },
      nowMs,
    ),
    h2: pathHint(
      { srttMs: host.tcpRttMs, rttvarMs: host.tcpRttVarMs, atMs: host.tcpRttAtMs },
      { handshakeMs: host.tcpHandshakeMs, lossRate: null },
      nowMs,
    ),
    h3Broken:
      inForce && h3Failure !== null && h3BackOffUntilMs !== null
        ? { code: h3Failure, untilMs: h3BackOffUntilMs }
        : null,
    shared: null,
    addresses,
  };
}

/** A record's Alt-Svc value with the remaining lifetimes of its alternatives. */
function altSvcNow({ altSvc, altSvcAtMs }: HostRecord, nowMs: number): AltSvc | null {
  const ageSeconds = Math.max(0, Math.floor((nowMs - (altSvcAtMs ?? nowMs)) / 1000));
  return altSvc === null ? null : parseAltSvc(altSvc, ageSeconds);
}

/**
 * Everything fresh that is known here; null if there is nothing. `addresses` are those of this network. What other
 * machines shared never decides: without evidence of this machine's own, HTTP/3 that failed elsewhere loses its head
 * start, and is still attempted.
 */
export function recallOf(
  host: HostRecord | null,
  anywhere: HostRecord | null,
  addresses: readonly AddressRecord[],
  nowMs: number,
  shared: SharedRecord | null = null,
): PriorKnowledge | null {
  const reached = host === null ? null : reachedEvidence(host, nowMs);
  const advert =
    [host, anywhere].find(
      (h) => h !== null && nowMs < (h.altSvcUntilMs ?? 0) && !isAhead(h.altSvcAtMs ?? 0, nowMs),
    ) ?? null;
  const protocol = reached?.fresh ? reached.protocol : null;
  // Both are what TCP without h2 gives; a race offers no older ALPN name.
  const decision = protocol === 'http/1.0' ? 'http/1.1' : protocol;
  const recent = addresses.filter((a) => isRecent(a.usedAtMs, nowMs));
  const histories = new Map(recent.map(({ address, srttMs }) => [address, srttMs]));
  const own = host === null ? { ...NO_HINTS, addresses: histories } : hintsOf(host, histories, nowMs);
  const others = reached === null ? freshShared(shared, nowMs) : null;
  const hints = { ...own, shared: others && sharedOutcome(others) };
  const hinted = hints.h3 ?? hints.h2 ?? hints.shared;
  const misdirected = nowMs < (host?.misdirectedUntilMs ?? 0) ? (host?.misdirected ?? null) : null;
  const known = decision ?? advert ?? hinted ?? misdirected;
  if (known === null && histories.size === 0) return null;
  return {
    decision,
    altSvc: advert === null ? null : altSvcNow(advert, nowMs),
    misdirected,
    hints,
  };
}
