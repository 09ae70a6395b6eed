// The record of a trial as far as it has come: what of the state machine's own is worth keeping.
import type { Trial } from '@photofinish/shared/outcome';
import { attemptOf, type Run, rounded } from './attempt-run.ts';
import type { TrialState } from './trial-state.ts';

/** Whether HTTP/3 failed somewhere and yet is not lost: the race was decided before its other places were. */
function h3Undecided(s: TrialState): boolean {
  const h3 = s.runs.filter((run) => run.endpoint.contender === 'h3');
  const proven = (run: Run): boolean => run.outcome === 'adopted' || run.outcome === 'established-late';
  if (s.expired || h3.some(proven) || !h3.some((run) => run.outcome === 'failed')) return false;
  return h3.some((run) => run.outcome === 'cancelled') || s.lanes.some((lane) => lane.holds('h3'));
}

/** The trial as its record keeps it. */
export function trialOf(s: TrialState): Trial {
  return {
    adopted: s.adopted?.protocol ?? null,
    establishedMs: rounded(s.adopted?.establishedMs ?? null),
    firstByteMs: rounded(s.adopted?.firstByteMs ?? null),
    lateH3: s.lateH3,
    cacheHit: s.plan.cacheHit,
    ...(h3Undecided(s) && { h3Undecided: true }),
    attempts: s.runs.filter((run) => !run.needless).map((run) => attemptOf(run, s.plan.host)),
  };
}
