// How a race's outcome and a browser's observation change a record, pure: the one way in which evidence becomes memory.
import { h3Alternatives, parseAltSvc } from '@photofinish/shared/alt-svc';
import type { Observation } from '@photofinish/shared/observation';
import type { Attempt, OriginRace } from '@photofinish/shared/outcome';
import { backOffMs, h3LifeMs, successFreshMs } from './policy.ts';
import type { HostRecord, UseRecord } from './record.ts';

/** RFC 6298 section 2.3: alpha. */
const RTT_GAIN = 1 / 8;
/** Requests closer together than this ride on one connection, so they are one visit. */
const VISIT_GAP_MS = 60_000;

function smoothed(old: number | null, sample: number | null): number | null {
  if (sample === null) return old;
  return old === null ? sample : old + RTT_GAIN * (sample - old);
}

/**
 * A new Alt-Svc header replaces the old one (RFC 7838 section 3). `clear` forgets it, one that cannot be read at all
 * changes nothing, as in browsers, and so does one older than what is known.
 */
export function foldAltSvc(host: HostRecord, altSvc: string, atMs: number): HostRecord {
  if (atMs < (host.altSvcAtMs ?? 0)) return host;
  const parsed = parseAltSvc(altSvc);
  if (parsed.clear) return { ...host, altSvc: null, altSvcAtMs: atMs, altSvcUntilMs: null };
  if (parsed.alternatives.length === 0) return host;
  const lifeMs = h3LifeMs(altSvc);
  return { ...host, altSvc, altSvcAtMs: atMs, altSvcUntilMs: lifeMs === null ? null : atMs + lifeMs };
}

/**
 * The part of a header that outlives a change of network (`persist=1`, RFC 7838 section 3.1), itself a header value;
 * `clear` when it has none, because every new header replaces the whole old list.
 */
export function persistentPart(altSvc: string): string {
  const lasting = h3Alternatives(parseAltSvc(altSvc)).filter((a) => a.persist);
  if (lasting.length === 0) return 'clear';
  return lasting.map((a) => `h3="${a.host}:${a.port}"; ma=${a.maxAgeSeconds}; persist=1`).join(', ');
}

function freshUntilMs(host: HostRecord, atMs: number): number {
  const live = host.altSvcUntilMs !== null && host.altSvcUntilMs > atMs && host.altSvc !== null;
  return atMs + successFreshMs(live && host.altSvc !== null ? h3LifeMs(host.altSvc) : null);
}

/** A handshake that led to no answer is a failure: HTTP/3 can break after it. */
function established(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.findLast((a) => a.establishedMs !== null && a.outcome !== 'failed');
}

function handshakeMs(attempt: Attempt): number | null {
  return attempt.establishedMs === null ? null : attempt.establishedMs - attempt.startedMs;
}

function rttMs(attempt: Attempt): number | null {
  return attempt.transportMs == null ? null : attempt.transportMs - attempt.startedMs;
}

/** Losing an address race or being told to stop says nothing about the host. */
function failure(attempts: readonly Attempt[]): Attempt['error'] {
  return attempts.findLast(
    (a) => a.outcome === 'failed' && a.error?.code !== 'cancelled' && a.error?.code !== 'blocked',
  )?.error;
}

/**
 * A finished race folded in. HTTP/3 established once, adopted or late, is learnt (P2, rule 4). A failure of HTTP/3
 * starts its back-off only when TCP worked in the same race: with both dead it is the network, not the host.
 */
export function foldRace(host: HostRecord, race: Omit<OriginRace, 'verdict'>, nowMs: number): HostRecord {
  const attempts = race.trials.flatMap((t) => t.attempts);
  const h3 = attempts.filter((a) => a.protocol === 'h3');
  const tcp = attempts.filter((a) => a.protocol !== 'h3');
  const { altSvc, knownRoot } = race.discovered;
  let next = altSvc === null ? host : foldAltSvc(host, altSvc, nowMs);
  const tcpUp = established(tcp);
  if (tcpUp !== undefined) {
    next = {
      ...next,
      tcpProtocol: tcpUp.protocol,
      tcpAtMs: nowMs,
      tcpHandshakeMs: handshakeMs(tcpUp),
      tcpRttMs: smoothed(next.tcpRttMs, rttMs(tcpUp)),
    };
  } else {
    const error = failure(tcp);
    if (error !== undefined) next = { ...next, tcpFailedAtMs: nowMs, tcpFailure: error.code };
  }
  const h3Up = established(h3);
  const h3Error = failure(h3);
  if (h3Up !== undefined) {
    next = {
      ...next,
      h3AtMs: nowMs,
      h3UntilMs: freshUntilMs(next, nowMs),
      h3Basis: 'raced',
      h3HandshakeMs: handshakeMs(h3Up),
      h3RttMs: smoothed(next.h3RttMs, rttMs(h3Up)),
      h3FailedAtMs: null,
      h3Failure: null,
      h3Failures: 0,
      h3BackOffUntilMs: null,
    };
  } else if (h3Error !== undefined && tcpUp !== undefined) {
    const failures = next.h3Failures + 1;
    next = {
      ...next,
      h3FailedAtMs: nowMs,
      h3Failure: h3Error.code,
      h3Failures: failures,
      h3BackOffUntilMs: nowMs + backOffMs(failures),
    };
  }
  return {
    ...next,
    adopted: race.trials.findLast((t) => t.adopted !== null)?.adopted ?? next.adopted,
    knownRoot: knownRoot === null ? next.knownRoot : knownRoot ? 1 : 0,
    races: next.races + 1,
    updatedAtMs: nowMs,
  };
}

/**
 * A browser's network answer folded into the host's record. Its HTTP/3 proves that the path carries HTTP/3; its HTTP/2
 * proves nothing about HTTP/3 and leaves that alone. Raced evidence that is still fresh is not replaced.
 */
export function foldSighting(host: HostRecord, o: Observation, atMs: number): HostRecord {
  if (o.delivery !== 'network') return host;
  let next = o.altSvc === undefined ? host : foldAltSvc(host, o.altSvc, atMs);
  if (o.protocol === 'h3') {
    const racedFresh = next.h3Basis === 'raced' && next.h3FailedAtMs === null && atMs < (next.h3UntilMs ?? 0);
    const newest = atMs > Math.max(next.h3AtMs ?? 0, next.h3FailedAtMs ?? 0);
    if (newest && !racedFresh)
      next = {
        ...next,
        h3AtMs: atMs,
        h3UntilMs: freshUntilMs(next, atMs),
        h3Basis: 'observed',
        h3FailedAtMs: null,
        h3Failure: null,
        h3Failures: 0,
        h3BackOffUntilMs: null,
      };
  } else if (o.protocol !== 'unknown' && atMs >= (next.tcpAtMs ?? 0)) {
    next = { ...next, tcpProtocol: o.protocol, tcpAtMs: atMs };
  }
  return next === host ? host : { ...next, updatedAtMs: Math.max(next.updatedAtMs, atMs) };
}

function foldAdvertised(use: UseRecord, altSvc: string, atMs: number): UseRecord {
  const parsed = parseAltSvc(altSvc);
  if (!parsed.clear && parsed.alternatives.length === 0) return use;
  const lifeMs = h3LifeMs(altSvc);
  if (lifeMs === null) return { ...use, advertisedAtMs: null, advertisedUntilMs: null, stays: 0 };
  const known = use.advertisedUntilMs !== null && atMs < use.advertisedUntilMs;
  return {
    ...use,
    advertisedAtMs: known ? use.advertisedAtMs : atMs,
    advertisedUntilMs: atMs + lifeMs,
    stays: known ? use.stays : 0,
  };
}

/** A browser's network answer folded into its own history; an answer older than the newest one changes nothing. */
export function foldUse(use: UseRecord, o: Observation, atMs: number): UseRecord {
  if (o.delivery !== 'network' || atMs < use.seenAtMs) return use;
  const newVisit = o.kind === 'navigation' || atMs - use.seenAtMs > VISIT_GAP_MS;
  let next: UseRecord = { ...use, seenAtMs: atMs };
  if (o.protocol === 'h3') {
    next = { ...next, protocol: 'h3', protocolAtMs: atMs, stays: 0 };
  } else if (o.protocol !== 'unknown') {
    const knew = use.advertisedUntilMs !== null && atMs < use.advertisedUntilMs;
    next = {
      ...next,
      protocol: o.protocol,
      protocolAtMs: atMs,
      tcpProtocol: o.protocol,
      stays: use.stays + (knew && newVisit ? 1 : 0),
    };
  }
  return o.altSvc === undefined ? next : foldAdvertised(next, o.altSvc, atMs);
}
