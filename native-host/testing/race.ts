// The plan of one trial for tests and the decision benchmark, and a whole race on virtual time: scripted peers and
// discovery in; the validated record and all questions out.
import assert from 'node:assert/strict';
import { type OriginRace, originRaceSchema } from '@photofinish/shared/race/outcome';
import { parseOrigin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { NO_HINTS } from '../cache/policy.ts';
import { PACED_BY_PATH, type PacingOptions } from '../race/pacing.ts';
import { type PlanInput, planTrial, type TrialPlan } from '../race/plan.ts';
import { type RaceOptions, raceOrigin } from '../race/run.ts';
import { type DiscoveryScript, ScriptedDiscovery } from './scripted-discovery.ts';
import { type Script, scripted, virtualTime } from './virtual-time.ts';

/** Pacing options may be given beside the other fields. */
export type PlainInput = Pick<PlanInput, 'mode' | 'timeoutMs'> &
  Partial<Omit<PlanInput, 'pacing'> & PacingOptions>;

/** Extracts the pacing options from an object that contains others. */
function pacingIn(options: Partial<PacingOptions>, unless: Partial<PacingOptions> = {}): PacingOptions {
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

export type Overrides = Partial<Omit<RaceOptions, 'transports' | 'clock' | 'discovery' | 'pacing'>> &
  Partial<PacingOptions> & { readonly dns?: DiscoveryScript };

/** Everything for one race of https://a.test:8443, not started yet. */
export function arrange(h3: Script[], h2: Script[], { dns, ...overrides }: Overrides = {}) {
  const parsed = parseOrigin('https://a.test:8443');
  assert.ok(parsed.ok);
  const time = virtualTime();
  const transports = { h3: scripted('h3', time.clock, ...h3), h2: scripted('h2', time.clock, ...h2) };
  const discovery = new ScriptedDiscovery(time.clock, dns);
  const options: RaceOptions = {
    origin: parsed.value,
    discovery,
    network: 'home',
    mode: 'race',
    memory: 'none',
    trials: 1,
    timeoutMs: 3000,
    transports,
    clock: time.clock,
    ...overrides,
    pacing: pacingIn(overrides, { tcpAttemptDelayMs: 10 }),
  };
  return { time, transports, discovery, options };
}

/** Runs one race to its end and checks what must hold for every race. */
export async function race(h3: Script[], h2: Script[], overrides: Overrides = {}) {
  const { time, transports, discovery, options } = arrange(h3, h2, overrides);
  const result = await time.run(raceOrigin(options));
  assert.equal(transports.h3.running() + transports.h2.running(), 0, 'no attempt is left running');
  assert.equal(discovery.live(), 0, 'no discovery is left running');
  v.parse(originRaceSchema, result);
  const { adoption, failed, trials } = result.summary;
  assert.equal(adoption.h3 + adoption.h2 + adoption['http/1.1'] + failed, trials);
  return { result, transports, discovery, endedMs: time.clock.nowMs() };
}

/** What each trial adopted. */
export const adopted = (result: OriginRace): (string | null)[] => result.trials.map((t) => t.adopted);
