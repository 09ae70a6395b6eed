// The plan of one trial for tests and the benchmark of decisions: nothing remembered, nothing asked for but what they say.
import { NO_HINTS } from '../cache/hints.ts';
import { type PlanInput, planTrial, type TrialPlan } from '../race/plan.ts';

/** For `a.test`; without endpoints they come during the trial. */
export function plainPlan(input: Pick<PlanInput, 'mode' | 'timeoutMs'> & Partial<PlanInput>): TrialPlan {
  return planTrial({
    host: 'a.test',
    endpoints: [],
    decision: null,
    hints: NO_HINTS,
    epochMs: 0,
    startDelayMs: null,
    attemptDelayMs: null,
    initialRttMs: null,
    freshQuic: false,
    ...input,
  });
}
