// Path estimates from measurements: round-trip time with its variance, handshake time, loss. Pure.
import type { Attempt } from '@photofinish/shared/race/outcome';

/** RFC 6298 section 2: alpha and beta. */
const RTT_GAIN = 1 / 8;
const VARIANCE_GAIN = 1 / 4;
/**
 * A retransmitted handshake takes a multiple of the usual time, which reflects its sender's timer and not the path:
 * samples are capped at this multiple of the old value.
 */
const MOST_OF_OLD = 2;
/** RFC 6298 section 2: the first retransmission of a SYN. A connection that took longer may have needed it. */
const SYN_RETRANSMIT_MS = 1000;

/** Moves an estimate by an eighth towards the sample; the first sample is the estimate. */
export function smoothed(old: number | null, sample: number): number {
  return old === null ? sample : old + RTT_GAIN * (sample - old);
}

export interface RttEstimate {
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
  return smoothed(old, Math.min(sampleMs, MOST_OF_OLD * old));
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
