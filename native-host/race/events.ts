// What goes into the race's state machine and what comes out of it: the whole language between engine and driver.
import type { AttemptError, ContenderName } from '@photofinish/shared/outcome';
import type { KnownProtocol } from '@photofinish/shared/protocol';
import type { Progress } from '@photofinish/shared/wire';

export type TimerName = 'stagger' | 'deadline';

/** What happened; times are milliseconds from the start of the trial, `attempt` is the number from its `start`. */
export type TrialEvent =
  | {
      readonly type: 'established';
      readonly attempt: number;
      readonly protocol: KnownProtocol;
      readonly transportMs: number | null;
      readonly establishedMs: number;
    }
  | {
      readonly type: 'failed';
      readonly attempt: number;
      readonly error: AttemptError;
      readonly transportMs: number | null;
    }
  | {
      readonly type: 'answered';
      readonly attempt: number;
      readonly firstByteMs: number;
      /** Where the answer advertises HTTP/3 on this host, null when it does not. */
      readonly advertisedPort: number | null;
    }
  | { readonly type: 'timer'; readonly timer: TimerName }
  /** The user gave up. */
  | { readonly type: 'cancelled' };

/** What is to be done, in order. */
export type TrialAction =
  | {
      readonly type: 'start';
      readonly attempt: number;
      readonly contender: ContenderName;
      readonly address: string;
      readonly port: number;
    }
  | { readonly type: 'request'; readonly attempt: number }
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
  /** Nothing runs any more; `record` is final. */
  | { readonly type: 'done' };
