// The plan of one trial for tests and the benchmark of decisions: nothing remembered, nothing asked for but what they say.
import { NO_HINTS } from '../cache/hints.ts';
import { PACED_BY_PATH, type PacingOptions } from '../race/pacing.ts';
import { type PlanInput, planTrial, type TrialPlan } from '../race/plan.ts';

/** Of the options of a pace those that a test is about stand beside the rest. */
export type PlainInput = Pick<PlanInput, 'mode' | 'timeoutMs'> &
  Partial<Omit<PlanInput, 'pacing'> & PacingOptions>;

/** The options of a pace from wherever they stand among others. */
export function pacingIn(
  options: Partial<PacingOptions>,
  unless: Partial<PacingOptions> = {},
): PacingOptions {
  const asked = { ...PACED_BY_PATH, ...unless, ...options };
  const { tcpAttemptDelayMs, attemptDelayMs, hedge, initialRttMs } = asked;
  return { tcpAttemptDelayMs, attemptDelayMs, hedge, initialRttMs };
}

/** For `a.test`; without endpoints they come during the trial. */
export function plainPlan(input: PlainInput): TrialPlan {
  return planTrial({
    host: 'a.test',
    endpoints: [],
    decision: null,
    hints: NO_HINTS,
    epochMs: 0,
    ...input,
    pacing: pacingIn(input, { hedge: false }),
  });
}
