// A running race, drawn like its eventual result: progress events folded into two lanes.

import { absentLane, finishOf, type Lane, type PhotoFinish } from '@photofinish/shared/drawing/photo-finish';
import type { Progress } from '@photofinish/shared/port/wire';
import { median } from '@photofinish/shared/race/statistics';
import type { TransportName } from '@photofinish/shared/race/terms';
import { getMessage } from '../../common/catalog.ts';

interface LiveAttempt {
  readonly trial: number;
  readonly establishedMs: number | null;
  readonly firstByteMs: number | null;
  readonly ended: 'failed' | 'cancelled' | null;
}

export interface LiveRace {
  readonly trial: number;
  readonly trials: number;
  readonly attempts: Readonly<Record<TransportName, readonly LiveAttempt[]>>;
}

export const NO_PROGRESS: LiveRace = { trial: 0, trials: 0, attempts: { h3: [], h2: [] } };

function advanced(attempt: LiveAttempt, progress: Progress): LiveAttempt {
  switch (progress.event) {
    case 'established':
      return { ...attempt, establishedMs: attempt.establishedMs ?? progress.atMs };
    case 'first-byte':
      return { ...attempt, firstByteMs: attempt.firstByteMs ?? progress.atMs };
    case 'failed':
    case 'cancelled':
      return { ...attempt, ended: progress.event };
    case 'started':
    case 'adopted':
      return attempt;
  }
}

/** Folds in one more event; several addresses of one transport in one trial count as one attempt. */
export function progressed(live: LiveRace, progress: Progress): LiveRace {
  const { contender: transport, trial } = progress;
  const before = live.attempts[transport];
  const found = before.find((a) => a.trial === trial);
  const fresh = { trial, establishedMs: null, firstByteMs: null, ended: null };
  const after = advanced(found ?? fresh, progress);
  const attempts = found ? before.map((a) => (a === found ? after : a)) : [...before, after];
  return {
    trial: Math.max(live.trial, trial),
    trials: progress.trials,
    attempts: { ...live.attempts, [transport]: attempts },
  };
}

function liveLane(transport: TransportName, attempts: readonly LiveAttempt[]): Lane {
  if (attempts.length === 0) return absentLane(transport);
  const done = attempts.flatMap((a) => a.establishedMs ?? []);
  const first = attempts.flatMap((a) => a.firstByteMs ?? []);
  const ended = attempts.at(-1)?.ended ?? null;
  return {
    ...absentLane(transport),
    state: done.length > 0 ? 'established' : (ended ?? 'running'),
    establishedMs: median(done),
    firstByteMs: median(first),
    trialsMs: done,
    established: done.length,
    tried: attempts.length,
  };
}

/**
 * The lanes so far: medians of the trials already done, never a margin. A comparison has two trials per pair, and as
 * many pairs as it needs.
 */
export function liveFinish(live: LiveRace): PhotoFinish {
  const pair = { pair: Math.ceil(live.trial / 2), pairs: live.trials / 2 };
  const caption = live.trials === 0 ? getMessage('popupRacing') : getMessage('popupRacingPair', pair);
  const lanes = [liveLane('h3', live.attempts.h3), liveLane('h2', live.attempts.h2)] as const;
  return finishOf('compare', lanes, null, caption);
}
