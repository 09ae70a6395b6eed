// How much one trial, one race and all races requested over the port may do: how many attempts and races are made, how
// the time of a trial is divided between the attempts waiting in it, and how much time an attempt must have had before
// its silence proves anything. docs/cli.md#time and #limits describe the same to users.
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import type { Clock } from '../clock.ts';
import { MAX_ENDPOINTS } from '../discover/discoverer.ts';
import type { Traffic } from './transport.ts';

/** Attempts per trial: every endpoint of a look-up once, and some twice or at endpoints named by an answer. */
export const MAX_ATTEMPTS_PER_TRIAL = 32;

/**
 * Network cost of all attempts in both directions after which no more are started; a comparison of fifteen pairs with
 * the longest answers read stays below it. Attempts in progress at that point have their own limits.
 */
const MAX_BYTES = 16 * 1024 * 1024;
/** The same in packets of 1 KiB. */
const MAX_PACKETS = 16_384;

/** Limits on the number of attempts and endpoints, and on their total network cost. */
export interface AttemptLimits {
  readonly attempts: number;
  /** An address, a port and a transport. */
  readonly endpoints: number;
  readonly bytes: number;
  readonly packets: number;
}

/** Whether no further attempt may start after this many attempts with this cost. */
export function isUsedUp(limits: AttemptLimits, attempts: number, traffic: Traffic): boolean {
  return attempts >= limits.attempts || traffic.bytes >= limits.bytes || traffic.packets >= limits.packets;
}

/** Limits of every trial, whoever requested it. */
export const TRIAL_LIMITS: AttemptLimits = {
  attempts: MAX_ATTEMPTS_PER_TRIAL,
  endpoints: MAX_ENDPOINTS,
  bytes: MAX_BYTES,
  packets: MAX_PACKETS,
};

/**
 * One race over all its trials: a comparison of fifteen pairs makes thirty attempts. Its other limits are those of one
 * trial.
 */
export const RACE_LIMITS: AttemptLimits = { ...TRIAL_LIMITS, attempts: 64 };
/** Why a race is requested: the user pressed a button, or visited a page for the first time. */
export type RaceReason = 'click' | 'navigation';
/**
 * Attempts within a minute after which no further race starts, by reason; races in progress keep their own limits.
 * Thirty first visits may make eight attempts each before that, where two are usual; thirty comparisons on a click are
 * all of fifteen pairs.
 */
export const MAX_ATTEMPTS_PER_MINUTE: Readonly<Record<RaceReason, number>> = { click: 960, navigation: 240 };
const MINUTE_MS = 60_000;

/** A race's share of the budget. */
export interface RaceSlot {
  /** Counts one attempt. */
  countAttempt(): void;
  /** Releases the slot; further calls do nothing. */
  release(): void;
}

export interface RaceBudget {
  /** Takes a slot; null when the budget is used up. */
  take(reason: RaceReason): RaceSlot | null;
}

/** The budget for races requested over the port; the command line is limited by its options instead. */
export function raceBudget(clock: Pick<Clock, 'nowMs'>): RaceBudget {
  let running = 0;
  let races: number[] = [];
  let attempts: number[] = [];

  function forget(): void {
    const nowMs = clock.nowMs();
    const recent = (atMs: number): boolean => nowMs - atMs < MINUTE_MS;
    races = races.filter(recent);
    attempts = attempts.filter(recent);
  }

  return {
    take(reason) {
      forget();
      if (running >= RACES_AT_ONCE || races.length >= RACES_PER_MINUTE) return null;
      if (attempts.length >= MAX_ATTEMPTS_PER_MINUTE[reason]) return null;
      running += 1;
      races.push(clock.nowMs());
      let held = true;
      return {
        countAttempt: () => void attempts.push(clock.nowMs()),
        release() {
          if (held) running -= 1;
          held = false;
        },
      };
    },
  };
}

/**
 * How long a remembered protocol is tried alone before the other starts beside it: TCP's initial retransmission
 * time-out (RFC 6298 section 2), which also covers QUIC's first two probes. Never more than half the time-out, so that
 * the other protocol still has time if the path has died since.
 */
const REMEMBERED_DELAY_MS = 1000;

/** How long the remembered protocol is tried alone, in milliseconds. */
export function rememberedDelayMs(timeoutMs: number): number {
  return Math.min(REMEMBERED_DELAY_MS, timeoutMs / 2);
}

/** Share of a trial's remaining time during which only the first request's answer is awaited. */
const ANSWER_SHARE = 1 / 2;

/** Until when nothing else is attempted beside a request sent at `requestedMs`; milliseconds from the trial's start. */
export function answerDueMs(requestedMs: number, timeoutMs: number): number {
  return requestedMs + Math.max(0, timeoutMs - requestedMs) * ANSWER_SHARE;
}

/**
 * How long an attempt, or its request, must have waited before silence counts against a peer: TCP's initial
 * retransmission time-out (RFC 6298 section 2), or a single lost packet would suffice. For short trials, a third: the
 * first answer's share leaves that much to the second attempt, which needs another third to connect.
 */
const MIN_WAIT_MS = 1000;

const MIN_WAIT_SHARE = 1 / 3;

/** Whether silence of `waitedMs` is too short to count against anybody, in a trial of `timeoutMs`. */
export function isTooShort(waitedMs: number, timeoutMs: number): boolean {
  return waitedMs < Math.min(MIN_WAIT_MS, timeoutMs * MIN_WAIT_SHARE);
}

/** The error of an attempt that had too little time before the trial's end. */
export function cutShort(waitedMs: number): AttemptError {
  return {
    code: 'cancelled',
    message: `the trial ended after ${Math.round(waitedMs)} ms of waiting, too soon to say anything`,
  };
}

/** Failures that only say how long we waited. */
const SILENCES: ReadonlySet<AttemptErrorCode> = new Set([
  'udp-timeout',
  'tcp-timeout',
  'handshake-timeout',
  'response-timeout',
]);

/** Whether a failure means nothing but silence. */
export function isSilence({ code }: AttemptError): boolean {
  return SILENCES.has(code);
}
