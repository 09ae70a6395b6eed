// How a race's outcome and a browser's observation change a host's record, and an observation also that browser's own
// history with an origin. Pure; the only way in which evidence becomes memory, and the only owner of its reconciliation.
import { conclusiveAttempts, isOurDoing, timedTrials } from '@photofinish/shared/race/conclusive';
import type { Attempt, OriginRace } from '@photofinish/shared/race/outcome';
import { type AltSvc, parseAltSvc } from '@photofinish/shared/web/alt-svc';
import type { Observation } from '@photofinish/shared/web/observation';
import {
  type AgedAltSvc,
  foldAltSvc,
  foldMisdirected,
  foldServices,
  h3LifeMs,
  isUnreadable,
  type Receipt,
} from './advertised.ts';
import { backOffMs, failuresAfterSuccess, h3FailureOf, LOSSY_RATE } from './back-off.ts';
import { advertisedUntilMs, successFreshMs } from './policy.ts';
import type { AddressRecord, Basis, HostRecord, UseRecord } from './record.ts';

/** A race to be folded in; `received`: its Alt-Svc header if that was received and not from memory. */
interface FinishedRace {
  readonly race: Omit<OriginRace, 'verdict'>;
  readonly received: AgedAltSvc | null;
}

/**
 * Folds in a finished race. How races and browsers are reconciled, for one origin on one network:
 *
 * | evidence | effect on "HTTP/3 can be reached here" |
 * |---|---|
 * | race: HTTP/3 established and answered, adopted or late (P2, rule 4) | works, by a race; ends the back-off, halves the failures |
 * | race: HTTP/3 failed, TCP worked | broken: backed off by cause, one more failure |
 * | race: HTTP/3 failed, TCP failed too or was not tried | nothing: it may be the network |
 * | race: HTTP/3 cancelled, beaten or blocked, or failed at some addresses and not tried at others | nothing |
 * | race: only an alternative that responded with 421 failed | nothing; that alternative is removed |
 * | browser used HTTP/3, later than all other evidence | works, by a browser; ends the back-off, halves the failures |
 * | the same, while a race's success is fresh | worked then, too; basis and freshness stay those of the race |
 * | the same, earlier than the newest success or failure | nothing |
 * | browser used TCP | nothing: browsers may have other reasons; its protocol over TCP is stored |
 * | browser answered from a cache, a service worker or a prefetch | nothing |
 * | Alt-Svc header or HTTPS record, whoever received it | nothing: it only replaces what is *advertised* |
 * | Alt-Svc header that withdraws HTTP/3 | what a browser did is no longer fresh; what a race found holds |
 *
 * Times are measured in races only, and not in trials disturbed by a busy machine.
 */
export function foldRace(host: HostRecord, { race, received }: FinishedRace, nowMs: number): HostRecord {
  const attempts = race.trials.flatMap((t) => t.attempts);
  const h3 = attempts.filter((a) => a.protocol === 'h3');
  const tcp = attempts.filter((a) => a.protocol !== 'h3');
  let next = foldServices(host, race.discovered.names, nowMs);
  if (received !== null)
    next = foldAltSvc(next, received.altSvc, { atMs: nowMs, by: 'race', ageMs: received.ageMs });
  const timed = timedTrials(race.trials).flatMap((t) => t.attempts);
  next = foldMeasurements(foldMisdirected(next, attempts, nowMs), timed, nowMs);
  const tcpUp = established(tcp);
  if (tcpUp !== undefined) {
    next = { ...next, tcpProtocol: tcpUp.protocol, tcpAtMs: nowMs };
  } else {
    const error = tcpFailureOf(tcp);
    if (error !== undefined) next = { ...next, tcpFailedAtMs: nowMs, tcpFailure: error.code };
  }
  const h3Failure = h3FailureOf(race.trials.flatMap(conclusiveAttempts).filter((a) => a.protocol === 'h3'));
  if (established(h3) !== undefined) next = h3Works(next, 'raced', nowMs);
  else if (h3Failure !== null && tcpUp !== undefined) next = h3Failed(next, h3Failure, nowMs);
  const { knownRoot } = race.discovered;
  return {
    ...next,
    adopted: race.trials.findLast((t) => t.adopted !== null)?.adopted ?? next.adopted,
    knownRoot: knownRoot === null ? next.knownRoot : knownRoot ? 1 : 0,
    races: next.races + 1,
    updatedAtMs: nowMs,
  };
}

/** What a browser saw, with the parsed Alt-Svc value of its answer; null if there was none. */
interface ParsedObservation extends Omit<Observation, 'altSvc'> {
  readonly altSvc: AltSvc | null;
}

/** Parses an observation's Alt-Svc value. */
export function parseObservation(o: Observation): ParsedObservation {
  return { ...o, altSvc: o.altSvc === undefined ? null : parseAltSvc(o.altSvc) };
}

/** Folds a browser's network answer into the host's record, by the table at `foldRace`. */
export function foldObservation(host: HostRecord, o: ParsedObservation, atMs: number): HostRecord {
  const receipt: Receipt = { atMs, by: 'browser' };
  let next = o.altSvc === null ? host : foldAltSvc(host, o.altSvc, receipt);
  if (o.protocol === 'h3') {
    const racedFresh = next.h3Basis === 'raced' && next.h3FailedAtMs === null && atMs < (next.h3UntilMs ?? 0);
    const newest = atMs > Math.max(next.h3AtMs ?? 0, next.h3FailedAtMs ?? 0);
    if (newest) next = racedFresh ? { ...next, h3AtMs: atMs } : h3Works(next, 'observed', atMs);
  } else if (o.protocol !== 'unknown' && atMs >= (next.tcpAtMs ?? 0)) {
    next = { ...next, tcpProtocol: o.protocol, tcpAtMs: atMs };
  }
  return next === host ? host : { ...next, updatedAtMs: Math.max(next.updatedAtMs, atMs) };
}

/** Requests closer together than this share a connection, so they are one visit. */
const VISIT_GAP_MS = 60_000;

/** Folds a browser's network answer into its own history; an answer older than the newest one changes nothing. */
export function foldUse(use: UseRecord, o: ParsedObservation, atMs: number): UseRecord {
  if (atMs < use.seenAtMs) return use;
  const newVisit = o.kind === 'navigation' || atMs - use.seenAtMs > VISIT_GAP_MS;
  let next: UseRecord = { ...use, seenAtMs: atMs };
  if (o.protocol === 'h3') {
    next = { ...next, protocol: 'h3', protocolAtMs: atMs, stays: 0 };
  } else if (o.protocol !== 'unknown') {
    const knew = atMs < (use.advertisedUntilMs ?? 0);
    next = {
      ...next,
      protocol: o.protocol,
      protocolAtMs: atMs,
      tcpProtocol: o.protocol,
      stays: use.stays + (knew && newVisit ? 1 : 0),
    };
  }
  return o.altSvc === null ? next : foldAdvertised(next, o.altSvc, atMs);
}

function foldAdvertised(use: UseRecord, altSvc: AltSvc, atMs: number): UseRecord {
  if (isUnreadable(altSvc)) return use;
  const lifeMs = h3LifeMs(altSvc) ?? 0;
  if (lifeMs === 0) {
    // Keep it as expired: without any advertisement on record, HTTP/3 would seem to have been learnt elsewhere.
    const untilMs = use.advertisedUntilMs === null ? null : Math.min(use.advertisedUntilMs, atMs);
    return { ...use, advertisedAtMs: null, advertisedUntilMs: untilMs, stays: 0 };
  }
  const known = atMs < (use.advertisedUntilMs ?? 0);
  return {
    ...use,
    advertisedAtMs: known ? use.advertisedAtMs : atMs,
    advertisedUntilMs: atMs + lifeMs,
    stays: known ? use.stays : 0,
  };
}

/** The addresses that answered in a race, each with its smoothed round-trip time. */
export function foldAddresses(
  known: ReadonlyMap<string, AddressRecord>,
  race: Omit<OriginRace, 'verdict'>,
  atMs: number,
): AddressRecord[] {
  const { origin, network } = race;
  const next = new Map<string, AddressRecord>();
  for (const attempt of timedTrials(race.trials).flatMap((t) => t.attempts)) {
    const rttMs = rttSampleMs(attempt);
    if (rttMs === null) continue;
    const { address } = attempt;
    const srttMs = smoothed((next.get(address) ?? known.get(address))?.srttMs ?? null, rttMs);
    next.set(address, { origin, network, address, srttMs, usedAtMs: atMs });
  }
  return [...next.values()];
}

/** A handshake without an answer is a failure, because HTTP/3 can break after it. One that we cut short is neither. */
function established(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.findLast((a) => a.establishedMs !== null && a.outcome !== 'failed' && !isOurDoing(a));
}

/** Losing an address race, being cancelled, and our own faults say nothing about the host. */
function tcpFailureOf(attempts: readonly Attempt[]): Attempt['error'] {
  return attempts.findLast((a) => a.outcome === 'failed' && !isOurDoing(a) && a.error?.code !== 'blocked')
    ?.error;
}

/** Fresh for as long as it is advertised, within bounds: `ma`, or a record's TTL. */
function h3Works(host: HostRecord, basis: Basis, atMs: number): HostRecord {
  const untilMs = advertisedUntilMs(host, atMs);
  return {
    ...host,
    h3AtMs: atMs,
    h3UntilMs: atMs + successFreshMs(untilMs === null ? null : untilMs - atMs),
    h3Basis: basis,
    h3FailedAtMs: null,
    h3Failure: null,
    h3Failures: failuresAfterSuccess(host.h3Failures),
    h3BackOffUntilMs: null,
  };
}

function h3Failed(host: HostRecord, code: NonNullable<HostRecord['h3Failure']>, atMs: number): HostRecord {
  const fresh = host.h3FailedAtMs === null && atMs < (host.h3UntilMs ?? 0);
  const lossy = fresh || (host.h3LossRate ?? 0) >= LOSSY_RATE;
  const failures = host.h3Failures + 1;
  return {
    ...host,
    h3FailedAtMs: atMs,
    h3Failure: code,
    h3Failures: failures,
    // A cause with a shorter delay never shortens a back-off in effect.
    h3BackOffUntilMs: Math.max(host.h3BackOffUntilMs ?? 0, atMs + backOffMs(code, failures, lossy)),
  };
}

interface PathMeasurements {
  rtt: RttEstimate | null;
  rttAtMs: number | null;
  handshakeMs: number | null;
  lossRate: number | null;
}

function measure(known: PathMeasurements, attempts: readonly Attempt[], atMs: number): PathMeasurements {
  const next = { ...known };
  for (const attempt of attempts) {
    const rttMs = rttSampleMs(attempt);
    if (rttMs !== null) {
      next.rtt = smoothedRtt(next.rtt, rttMs);
      next.rttAtMs = atMs;
    }
    const handshakeMs = handshakeSampleMs(attempt);
    if (handshakeMs !== null) next.handshakeMs = undisturbed(next.handshakeMs, handshakeMs);
    const loss = lossSample(attempt);
    if (loss !== null) next.lossRate = smoothed(next.lossRate, loss);
  }
  return next;
}

/** A mean without a variance dates from before that was stored; RFC 6298 section 2.2 starts with half. */
function rttOf(srttMs: number | null, rttvarMs: number | null): PathMeasurements['rtt'] {
  return srttMs === null ? null : { srttMs, rttvarMs: rttvarMs ?? srttMs / 2 };
}

function foldMeasurements(host: HostRecord, attempts: readonly Attempt[], atMs: number): HostRecord {
  const h3 = measure(
    {
      rtt: rttOf(host.h3RttMs, host.h3RttVarMs),
      rttAtMs: host.h3RttAtMs,
      handshakeMs: host.h3HandshakeMs,
      lossRate: host.h3LossRate,
    },
    attempts.filter((a) => a.protocol === 'h3'),
    atMs,
  );
  const tcp = measure(
    {
      rtt: rttOf(host.tcpRttMs, host.tcpRttVarMs),
      rttAtMs: host.tcpRttAtMs,
      handshakeMs: host.tcpHandshakeMs,
      lossRate: null,
    },
    attempts.filter((a) => a.protocol !== 'h3'),
    atMs,
  );
  return {
    ...host,
    h3RttMs: h3.rtt?.srttMs ?? null,
    h3RttVarMs: h3.rtt?.rttvarMs ?? null,
    h3RttAtMs: h3.rttAtMs,
    h3HandshakeMs: h3.handshakeMs,
    h3LossRate: h3.lossRate,
    tcpRttMs: tcp.rtt?.srttMs ?? null,
    tcpRttVarMs: tcp.rtt?.rttvarMs ?? null,
    tcpRttAtMs: tcp.rttAtMs,
    tcpHandshakeMs: tcp.handshakeMs,
  };
}

/** RFC 6298 section 2: alpha and beta. */
const RTT_GAIN = 1 / 8;
const VARIANCE_GAIN = 1 / 4;
/**
 * A retransmitted handshake takes a multiple of the usual time, which reflects its sender's timer and not the path:
 * samples are capped at this multiple of the old value.
 */
const MAX_SAMPLE_RATIO = 2;
/** RFC 6298 section 2: the first retransmission of a SYN. A connection that took longer may have needed it. */
const SYN_RETRANSMIT_MS = 1000;

/** Moves an estimate by an eighth towards the sample; the first sample is the estimate. */
function smoothed(old: number | null, sample: number): number {
  return old === null ? sample : old + RTT_GAIN * (sample - old);
}

interface RttEstimate {
  readonly srttMs: number;
  readonly rttvarMs: number;
}

/** RFC 6298 section 2, rules 2.2 and 2.3. */
export function smoothedRtt(old: RttEstimate | null, sampleMs: number): RttEstimate {
  if (old === null) return { srttMs: sampleMs, rttvarMs: sampleMs / 2 };
  const deviationMs = Math.abs(old.srttMs - sampleMs);
  return {
    // The variance uses the old mean, so it is computed first.
    rttvarMs: old.rttvarMs + VARIANCE_GAIN * (deviationMs - old.rttvarMs),
    srttMs: smoothed(old.srttMs, sampleMs),
  };
}

/**
 * The handshake time without loss: a minimum that ages (like `min_rtt`, RFC 9002 section 5.2), because on a lossy path
 * a mean would consist of the servers' retransmission timers.
 */
export function undisturbed(old: number | null, sampleMs: number): number {
  if (old === null || sampleMs < old) return sampleMs;
  return smoothed(old, Math.min(sampleMs, MAX_SAMPLE_RATIO * old));
}

/**
 * One round trip measured by the attempt, in milliseconds: the transport's own estimate, else the time to the peer's
 * first sign of life. Null if it may include a retransmission, because then it is unknown which packet was answered
 * (Karn, RFC 6298 section 3).
 */
export function rttSampleMs(attempt: Attempt): number | null {
  const { transportMs, startedMs, packets, protocol } = attempt;
  const firstSignMs = transportMs == null ? null : Math.max(0, transportMs - startedMs);
  // A transport that counts its packets knows which were answered; if it does not know, there is no sample.
  if (attempt.establishedMs !== null && packets !== undefined) return attempt.rttMs ?? null;
  if (firstSignMs === null || (packets?.lost ?? 0) > 0) return null;
  const ambiguous = protocol !== 'h3' && firstSignMs >= SYN_RETRANSMIT_MS;
  return ambiguous ? null : (attempt.rttMs ?? firstSignMs);
}

/** Milliseconds from start to established; null for a handshake without an answer. */
export function handshakeSampleMs(attempt: Attempt): number | null {
  if (attempt.establishedMs === null || attempt.outcome === 'failed') return null;
  return Math.max(0, attempt.establishedMs - attempt.startedMs);
}

/**
 * Packets lost as a share of those sent, from 0 to 1; null if the peer never answered, because a dead path is not a
 * lossy one.
 */
export function lossSample({ packets, transportMs }: Attempt): number | null {
  if (packets === undefined || packets.sent === 0 || transportMs == null) return null;
  return Math.min(1, packets.lost / packets.sent);
}
