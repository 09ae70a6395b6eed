// What each browser's edition implements. The background imports it as `#edition`; the build includes the
// implementation of one browser and leaves the other out. Unit tests run with Chromium's.

import type { Timing } from '../../common/timing.ts';
import type { RequestSink } from '../observe/details.ts';
import type { EndedRequest } from '../observe/requests.ts';
import type { SteerDeps, Steering } from '../steer/steering.ts';
import type { SteeredAnswer } from '../steer/steering-state.ts';

export interface EditionModule {
  /** Starts listening; must be called synchronously when the background starts, or events are lost. */
  readonly observeRequests: (sink: RequestSink) => void;
  /** How long a batch should wait, in milliseconds, until the requests of its newest entries have been reported. */
  readonly waitForRequests: (entries: readonly Timing[], nowMs: number) => number;
  /** Null in a browser that ignores alternatives set by an extension. Rejects when storage or rules fail. */
  readonly openBrowserSteering: (
    deps: Pick<SteerDeps, 'advertised' | 'nowMs' | 'onChange' | 'store'>,
  ) => Promise<Steering | null>;
  /** What steering learns from an answer; null: nothing. */
  readonly answerOf: (request: EndedRequest) => SteeredAnswer | null;
  /** The request without our own header; `steering` is null until its state is loaded. */
  readonly asServed: (request: EndedRequest, steering: Pick<Steering, 'isOurs'> | null) => EndedRequest;
}
