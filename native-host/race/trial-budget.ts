// How the time of one trial is shared out between those that wait in it, how much of it an attempt must have had before
// its silence says anything, and how many attempts there are. docs/cli.md#time and #limits tell users the same.
import type { AttemptError, AttemptErrorCode } from '@photofinish/shared/race/outcome';
import { MOST_ENDPOINTS } from '../discover/first-endpoints.ts';
import type { Traffic } from './contender.ts';

/**
 * How long a remembered protocol is tried alone before the other one is started beside it: TCP's initial retransmission
 * time-out (RFC 6298 section 2), which also covers QUIC's first two probes. Never more than half the time-out, so that
 * a path that has gone dead since still leaves room for the other protocol.
 */
const REMEMBERED_PATIENCE_MS = 1000;
/** Of what is left of a trial when a request is sent: how long its answer alone is waited for. */
const ANSWER_SHARE = 1 / 2;
/**
 * What an attempt, or its request, must have had before silence is held against a peer: TCP's initial retransmission
 * time-out (RFC 6298 section 2), or one lost packet would be enough. Of a short trial a third, which is what the first
 * answer's share leaves to whoever comes second and takes another third to connect.
 */
const LEAST_PATIENCE_MS = 1000;
const LEAST_PATIENCE_SHARE = 1 / 3;

/** Attempts of one trial: every endpoint of a look-up once, and some a second time or where an answer led. */
export const MOST_ATTEMPTS_PER_TRIAL = 32;

/**
 * What attempts may take of the network together, both ways, before none is begun any more: a comparison of fifteen pairs
 * with the longest answers that are read takes less. Those under way then are bounded each by itself.
 */
const MOST_BYTES = 16 * 1024 * 1024;
/** As many as those bytes in packets of 1 KiB. */
const MOST_PACKETS = 16_384;

/** How many attempts may be made, at how many endpoints, and what they may take together. */
export interface AttemptLimits {
  readonly attempts: number;
  /** An address, a port and a transport. */
  readonly endpoints: number;
  readonly bytes: number;
  readonly packets: number;
}

/** Whether no further attempt may be made after so many, which cost so much. */
export function isUsedUp(limits: AttemptLimits, attempts: number, traffic: Traffic): boolean {
  return attempts >= limits.attempts || traffic.bytes >= limits.bytes || traffic.packets >= limits.packets;
}

/** What every trial is held to, whoever asked for it. */
export const TRIAL_LIMITS: AttemptLimits = {
  attempts: MOST_ATTEMPTS_PER_TRIAL,
  endpoints: MOST_ENDPOINTS,
  bytes: MOST_BYTES,
  packets: MOST_PACKETS,
};

/** Ends of an attempt that say no more than how long was waited. */
const SILENCES: ReadonlySet<AttemptErrorCode> = new Set([
  'udp-timeout',
  'tcp-timeout',
  'handshake-timeout',
  'response-timeout',
]);

/** How long the remembered protocol is tried alone, in milliseconds. */
export function rememberedPatienceMs(timeoutMs: number): number {
  return Math.min(REMEMBERED_PATIENCE_MS, timeoutMs / 2);
}

/** Until when nothing else is attempted beside a request sent at `askedMs`; milliseconds from the trial's start. */
export function answerDueMs(askedMs: number, timeoutMs: number): number {
  return askedMs + Math.max(0, timeoutMs - askedMs) * ANSWER_SHARE;
}

/** Whether silence of `waitedMs` is too short to be held against anybody, in a trial of `timeoutMs`. */
export function isTooShort(waitedMs: number, timeoutMs: number): boolean {
  return waitedMs < Math.min(LEAST_PATIENCE_MS, timeoutMs * LEAST_PATIENCE_SHARE);
}

/** Whether a failure tells of nothing but silence. */
export function isSilence({ code }: AttemptError): boolean {
  return SILENCES.has(code);
}

/** Why an attempt ended that the trial's end left too little time. */
export function cutShort(waitedMs: number): AttemptError {
  return {
    code: 'cancelled',
    message: `the trial ended after ${Math.round(waitedMs)} ms of waiting, too soon to say anything`,
  };
}
