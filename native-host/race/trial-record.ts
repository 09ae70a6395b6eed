// The record of a trial so far, extracted from the state machine.
import type { Trial } from '@photofinish/shared/race/outcome';
import { attemptOf, type Run, rounded } from './attempt-run.ts';
import { isExhausted, type TrialState } from './trial-state.ts';

/** Whether HTTP/3 failed somewhere but is not lost: the race was decided before its other endpoints were tried. */
function h3Undecided(s: TrialState): boolean {
  const h3 = s.runs.filter((run) => run.endpoint.transport === 'h3');
  const proven = (run: Run): boolean => run.outcome === 'adopted' || run.outcome === 'established-late';
  if (s.expired || h3.some(proven) || !h3.some((run) => run.outcome === 'failed')) return false;
  const untried = s.untried.some(({ transport }) => transport === 'h3');
  return (
    untried || h3.some((run) => run.outcome === 'cancelled') || s.groups.some((group) => group.holds('h3'))
  );
}

/** Addresses not tried because of a limit, and for no other reason. */
function untriedAddresses(s: TrialState): number {
  const left = isExhausted(s) && s.adopted === null ? s.groups.flatMap((group) => group.endpoints()) : [];
  const tried = new Set(s.runs.map(({ endpoint }) => endpoint.address));
  const untried = [...s.untried, ...left].map(({ address }) => address);
  return new Set(untried.filter((address) => !tried.has(address))).size;
}

/** The record of the trial. */
export function trialOf(s: TrialState): Trial {
  const untried = untriedAddresses(s);
  return {
    adopted: s.adopted?.protocol ?? null,
    establishedMs: rounded(s.adopted?.establishedMs ?? null),
    firstByteMs: rounded(s.adopted?.firstByteMs ?? null),
    lateH3: s.lateH3,
    cacheHit: s.plan.cacheHit,
    ...(h3Undecided(s) && { h3Undecided: true }),
    ...(untried > 0 && { untried }),
    attempts: s.runs.filter((run) => !run.needless).map((run) => attemptOf(run, s.plan.host)),
  };
}
