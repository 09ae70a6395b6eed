// Input and output of the race's state machine: the complete interface between engine and driver.

import type { Progress } from '@photofinish/shared/port/wire';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import type { Endpoint } from '../discover/discoverer.ts';
import type { AttemptAnswer, AttemptFailure, AttemptHandshake, Packets, Traffic } from './transport.ts';

/**
 * `group-N` paces the endpoints of the nth group; `hedge` limits the first QUIC attempt, `answer` the time for which
 * only the adopted attempt's answer is awaited.
 */
export type TimerName = 'stagger' | 'deadline' | 'hedge' | 'answer' | `group-${number}`;

/** An event; times are milliseconds from the start of the trial, `attempt` is the number from its `start`. */
export type TrialEvent =
  /** The peer responded; the handshake is not done. */
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
      /** The header section of a response was received then, which did not complete. */
      readonly firstByteMs?: number;
      readonly status?: number;
      readonly packets: Packets | null;
      readonly traffic?: Traffic;
    }
  | {
      readonly type: 'answered';
      readonly attempt: number;
      readonly firstByteMs: number;
      readonly status: number;
      readonly packets: Packets | null;
      readonly traffic?: Traffic;
      /** Whether the answer names unexpired HTTP/3 alternatives. */
      readonly advertises: boolean;
      /** The server required HTTP/1.1 for the request, and this connection was established for it. */
      readonly repeated?: { readonly protocol: KnownProtocol; readonly establishedMs: number };
    }
  /** Endpoints of the alternatives that were followed; empty if there are none. */
  | { readonly type: 'alternatives'; readonly attempt: number; readonly endpoints: readonly Endpoint[] }
  /** The complete list as discovery has it now; `final`: no further list will come. */
  | { readonly type: 'endpoints'; readonly endpoints: readonly Endpoint[]; readonly final: boolean }
  /** Discovery ended without any endpoint. */
  | { readonly type: 'undiscovered' }
  | { readonly type: 'timer'; readonly timer: TimerName }
  /** The user cancelled, or the network changed. */
  | { readonly type: 'cancelled' };

/** Actions to carry out, in order. */
export type TrialAction =
  | { readonly type: 'start'; readonly attempt: number; readonly endpoint: Endpoint }
  | { readonly type: 'request'; readonly attempt: number }
  /** Resolves the alternatives named by this attempt's answer and reports them as `alternatives`. */
  | { readonly type: 'follow'; readonly attempt: number }
  /** Ends the attempt's connection at once, in any phase. */
  | { readonly type: 'end'; readonly attempt: number }
  /** Sets the timer, replacing any earlier setting; null clears it. */
  | { readonly type: 'timer'; readonly timer: TimerName; readonly atMs: number | null }
  | {
      readonly type: 'notify';
      readonly event: Progress['event'];
      readonly attempt: number;
      readonly transport: TransportName;
      readonly atMs: number;
    }
  /** Nothing is running; `record` is final except for packets and traffic not yet reported. */
  | { readonly type: 'done' };

/** The event for the failure of an attempt that began at `startedMs`. */
export function failureEvent(attempt: number, failure: AttemptFailure, startedMs: number): TrialEvent {
  const transportMs = failure.transportMs === null ? null : startedMs + failure.transportMs;
  const packets = failure.packets ?? null;
  const { error, traffic, firstByteMs, status } = failure;
  return {
    type: 'failed',
    attempt,
    error,
    transportMs,
    packets,
    ...(traffic && { traffic }),
    ...(firstByteMs !== undefined && { firstByteMs: startedMs + firstByteMs }),
    ...(status !== undefined && { status }),
  };
}

/** The event for the end of the handshake of an attempt that began at `startedMs`. */
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

/** The event for the answer to an attempt that began at `startedMs`; the caller adds what it advertises. */
export function answerEvent(
  attempt: number,
  { firstByteMs, status, packets, traffic, repeated }: AttemptAnswer,
  startedMs: number,
): Omit<TrialEvent & { type: 'answered' }, 'advertises'> {
  return {
    type: 'answered',
    attempt,
    firstByteMs: startedMs + firstByteMs,
    status,
    packets: packets ?? null,
    ...(traffic && { traffic }),
    ...(repeated && { repeated: { ...repeated, establishedMs: startedMs + repeated.establishedMs } }),
  };
}
