// What goes into the race's state machine and what comes out of it: the whole language between engine and driver.

import type { Progress } from '@photofinish/shared/port/wire';
import type { AttemptError, ContenderName } from '@photofinish/shared/race/outcome';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import type { Endpoint } from '../discover/endpoint.ts';
import type { AttemptAnswer, AttemptFailure, AttemptHandshake, Packets, Traffic } from './contender.ts';

/**
 * `group-N` paces the endpoints of the nth group; `hedge` is how long the first QUIC attempt may take, `answer` how long the
 * adopted one's answer alone is waited for.
 */
export type TimerName = 'stagger' | 'deadline' | 'hedge' | 'answer' | `group-${number}`;

/** What happened; times are milliseconds from the start of the trial, `attempt` is the number from its `start`. */
export type TrialEvent =
  /** The peer shows life, and the handshake is not done. */
  | { readonly type: 'progressed'; readonly attempt: number; readonly transportMs: number }
  | {
      readonly type: 'established';
      readonly attempt: number;
      readonly protocol: KnownProtocol;
      readonly transportMs: number | null;
      readonly establishedMs: number;
      readonly rttMs: number | null;
      readonly packets: Packets | null;
      readonly traffic?: Traffic;
    }
  | {
      readonly type: 'failed';
      readonly attempt: number;
      readonly error: AttemptError;
      readonly transportMs: number | null;
      readonly packets: Packets | null;
      readonly traffic?: Traffic;
    }
  | {
      readonly type: 'answered';
      readonly attempt: number;
      readonly firstByteMs: number;
      readonly packets: Packets | null;
      readonly traffic?: Traffic;
      /** Whether the answer names unexpired HTTP/3 alternatives. */
      readonly advertises: boolean;
      /** The server wanted the request over HTTP/1.1, and this connection was established for it. */
      readonly repeated?: { readonly protocol: KnownProtocol; readonly establishedMs: number };
    }
  /** Where the alternatives are that were to be followed; none: they lead nowhere. */
  | { readonly type: 'alternatives'; readonly attempt: number; readonly endpoints: readonly Endpoint[] }
  /** The whole list as discovery has it now; `final`: no further one will come. */
  | { readonly type: 'endpoints'; readonly endpoints: readonly Endpoint[]; readonly final: boolean }
  /** Discovery has ended without any endpoint. */
  | { readonly type: 'undiscovered' }
  | { readonly type: 'timer'; readonly timer: TimerName }
  /** The user gave up, or the network changed. */
  | { readonly type: 'cancelled' };

/** What is to be done, in order. */
export type TrialAction =
  | { readonly type: 'start'; readonly attempt: number; readonly endpoint: Endpoint }
  | { readonly type: 'request'; readonly attempt: number }
  /** Finds out where the alternatives are that this attempt's answer named, and says so by `alternatives`. */
  | { readonly type: 'follow'; readonly attempt: number }
  /** Ends the attempt's connection at once, whatever it is doing. */
  | { readonly type: 'end'; readonly attempt: number }
  /** Sets the timer anew, or forgets it. */
  | { readonly type: 'timer'; readonly timer: TimerName; readonly atMs: number | null }
  | {
      readonly type: 'tell';
      readonly event: Progress['event'];
      readonly attempt: number;
      readonly contender: ContenderName;
      readonly atMs: number;
    }
  /** Nothing runs any more; `record` is final, but for packets and traffic still to be told of. */
  | { readonly type: 'done' };

/** That an attempt which began at `startedMs` failed. */
export function failureEvent(attempt: number, failure: AttemptFailure, startedMs: number): TrialEvent {
  const transportMs = failure.transportMs === null ? null : startedMs + failure.transportMs;
  const packets = failure.packets ?? null;
  const { error, traffic } = failure;
  return { type: 'failed', attempt, error, transportMs, packets, ...(traffic && { traffic }) };
}

/** How the handshake of an attempt ended that began at `startedMs`. */
export function handshakeEvent(
  attempt: number,
  result: AttemptHandshake | AttemptFailure,
  startedMs: number,
): TrialEvent {
  if (!result.ok) return failureEvent(attempt, result, startedMs);
  return {
    type: 'established',
    attempt,
    protocol: result.protocol,
    transportMs: result.transportMs === null ? null : startedMs + result.transportMs,
    establishedMs: startedMs + result.establishedMs,
    rttMs: result.rttMs,
    packets: result.packets ?? null,
    ...(result.traffic && { traffic: result.traffic }),
  };
}

/** That an attempt which began at `startedMs` was answered; what the answer advertises is not for it to say. */
export function answerEvent(
  attempt: number,
  { firstByteMs, packets, traffic, repeated }: AttemptAnswer,
  startedMs: number,
): Omit<TrialEvent & { type: 'answered' }, 'advertises'> {
  return {
    type: 'answered',
    attempt,
    firstByteMs: startedMs + firstByteMs,
    packets: packets ?? null,
    ...(traffic && { traffic }),
    ...(repeated && { repeated: { ...repeated, establishedMs: startedMs + repeated.establishedMs } }),
  };
}
