// The plan of one trial for tests and the decision benchmark: defaults for everything not given.
import { NO_HINTS } from '../cache/hints.ts';
import { PACED_BY_PATH, type PacingOptions } from '../race/pacing.ts';
import { type PlanInput, planTrial, type TrialPlan } from '../race/plan.ts';

/** Pacing options may be given beside the other fields. */
export type PlainInput = Pick<PlanInput, 'mode' | 'timeoutMs'> &
  Partial<Omit<PlanInput, 'pacing'> & PacingOptions>;

/** Extracts the pacing options from an object that contains others. */
export function pacingIn(
  options: Partial<PacingOptions>,
  unless: Partial<PacingOptions> = {},
): PacingOptions {
  const asked = { ...PACED_BY_PATH, ...unless, ...options };
  const { tcpAttemptDelayMs, attemptDelayMs, hedge, initialRttMs } = asked;
  return { tcpAttemptDelayMs, attemptDelayMs, hedge, initialRttMs };
}

/** For `a.test`; without endpoints they are expected during the trial. */
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
