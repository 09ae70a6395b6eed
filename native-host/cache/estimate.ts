// Measurements of a path made into estimates: round-trip time with its variance, handshake time, loss. Pure.
import type { Attempt } from '@photofinish/shared/race/outcome';

/** RFC 6298 section 2: alpha and beta. */
const RTT_GAIN = 1 / 8;
const VARIANCE_GAIN = 1 / 4;
/** One that was sent again took a multiple, its sender's timer and not its path: no sample counts for more than this. */
const MOST_OF_OLD = 2;
/** RFC 6298 section 2: the first retransmission of a SYN. A connection that took longer may have needed it. */
const SYN_RETRANSMIT_MS = 1000;

/** Moves an estimate by an eighth of the way to the sample; the first sample is the estimate. */
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
    // The variance is taken from the old mean, so it goes first.
    rttvarMs: old.rttvarMs + VARIANCE_GAIN * (deviationMs - old.rttvarMs),
    srttMs: smoothed(old.srttMs, sampleMs),
  };
}

/**
 * What a handshake takes when nothing of it is lost: a minimum that ages (as `min_rtt`, RFC 9002 section 5.2), for a
 * mean would be made of the servers' retransmission timers as soon as the path loses packets.
 */
export function undisturbed(old: number | null, sampleMs: number): number {
  if (old === null || sampleMs < old) return sampleMs;
  return smoothed(old, Math.min(sampleMs, MOST_OF_OLD * old));
}

/**
 * One round trip as the attempt saw it, in milliseconds: the transport's own estimate, else the time to the peer's first
 * sign of life. Null where that may include a retransmission, for then nobody knows which packet was answered (Karn,
 * RFC 6298 section 3).
 */
export function rttSampleMs(attempt: Attempt): number | null {
  const { transportMs, startedMs, packets, protocol } = attempt;
  const firstSignMs = transportMs == null ? null : Math.max(0, transportMs - startedMs);
  // A transport that counts its packets knows which were answered, and when it does not know nobody does.
  if (attempt.establishedMs !== null && packets !== undefined) return attempt.rttMs ?? null;
  if (firstSignMs === null || (packets?.lost ?? 0) > 0) return null;
  const ambiguous = protocol !== 'h3' && firstSignMs >= SYN_RETRANSMIT_MS;
  return ambiguous ? null : (attempt.rttMs ?? firstSignMs);
}

/** Milliseconds from start to established; null for a handshake that led to no answer. */
export function handshakeSampleMs(attempt: Attempt): number | null {
  if (attempt.establishedMs === null || attempt.outcome === 'failed') return null;
  return Math.max(0, attempt.establishedMs - attempt.startedMs);
}

/** Lost of sent, from 0 to 1; null where the peer never answered, for a dead path is not a lossy one. */
export function lossSample({ packets, transportMs }: Attempt): number | null {
  if (packets === undefined || packets.sent === 0 || transportMs == null) return null;
  return Math.min(1, packets.lost / packets.sent);
}
