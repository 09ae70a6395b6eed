// Input and output of the race's state machine: the complete interface between engine and driver.

import type { Progress } from '@photofinish/shared/port/wire';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { Endpoint } from '../discover/discoverer.ts';
import type { AttemptAnswer, AttemptFailure, AttemptHandshake } from './transport.ts';

/**
 * `group-N` paces the endpoints of the nth group; `hedge` limits the first QUIC attempt, `answer` the time for which
 * only the adopted attempt's answer is awaited.
 */
export type TimerName = 'stagger' | 'deadline' | 'hedge' | 'answer' | `group-${number}`;

/** An event; times are milliseconds from the start of the trial, `attempt` is the number from its `start`. */
export type TrialEvent =
  /** The peer responded; the handshake is not done. */
  | { readonly type: 'progressed'; readonly attempt: number; readonly transportMs: number }
  | ({ readonly type: 'established'; readonly attempt: number } & Omit<AttemptHandshake, 'ok' | 'knownRoot'>)
  | ({ readonly type: 'failed'; readonly attempt: number } & Omit<
      AttemptFailure,
      'ok' | 'atMs' | 'receivedAltSvc'
    >)
  | ({
      readonly type: 'answered';
      readonly attempt: number;
      /** Whether the answer names unexpired HTTP/3 alternatives. */
      readonly advertises: boolean;
    } & Pick<AttemptAnswer, 'firstByteMs' | 'status' | 'packets' | 'traffic' | 'repeated'>)
  /** Endpoints of the alternatives that were followed; empty if there are none. */
  | { readonly type: 'alternatives'; readonly attempt: number; readonly endpoints: readonly Endpoint[] }
  /** The complete list as discovery has it now; `final`: no further list will come. */
  | { readonly type: 'endpoints'; readonly endpoints: readonly Endpoint[]; readonly final: boolean }
  /** Discovery ended without any endpoint. */
  | { readonly type: 'discovery-failed' }
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
