// Cost of deciding without any I/O: a simple race, a list of many endpoints, and the same starting from DNS answers, of
// which a race tries no more than its first endpoints.
// Run: node decide.bench.ts SCENARIO [ENDPOINTS]; prints the median microseconds of one decision.
import { argv, stdout } from 'node:process';
import { median } from '@photofinish/shared/race/statistics';
import type { Mode } from '@photofinish/shared/race/terms';
import { serviceRecord } from '@photofinish/shared/testing/race-samples';
import { parseOrigin } from '@photofinish/shared/web/origin';
import type { Answer, QueryKind } from '../discover/answer.ts';
import { type Endpoint, MAX_ENDPOINTS } from '../discover/discoverer.ts';
import { Resolution } from '../discover/resolution.ts';
import { plainPlan } from '../testing/race.ts';
import type { AttemptLimits } from './budget.ts';
import { createTrial, type TrialMachine } from './engine.ts';
import type { TrialAction } from './events.ts';
import type { TrialPlan } from './plan.ts';

export const SCENARIOS = ['simple', 'endpoints', 'answers'] as const;
export type Scenario = (typeof SCENARIOS)[number];

const HOST = 'a.test';
const SAMPLES = 60;
/** A sample is the mean of as many decisions as fit in this time, because of the clock's resolution. */
const SAMPLE_MS = 4;
const WARM_UP_MS = 400;

/** How the engine's own cost grows shows only without a trial's limits, far below which a race remains. */
const UNLIMITED: AttemptLimits = {
  attempts: Infinity,
  endpoints: Infinity,
  bytes: Infinity,
  packets: Infinity,
};

function planOf(mode: Mode, endpoints: readonly Endpoint[]): TrialPlan {
  return plainPlan({ mode, host: HOST, endpoints, timeoutMs: 10_000_000, limits: UNLIMITED });
}

function isDone(actions: readonly TrialAction[]): boolean {
  return actions.at(-1)?.type === 'done';
}

/** The attempt is established, adopted, sent a request and answered; all others end. */
function win(trial: TrialMachine, attempt: number, nowMs: number): void {
  const handshake = { protocol: 'h2', transportMs: nowMs - 1, rttMs: 1 } as const;
  trial.handle({ type: 'established', attempt, establishedMs: nowMs, ...handshake }, nowMs);
  const last = trial.handle(
    { type: 'answered', attempt, firstByteMs: nowMs + 1, status: 200, advertises: false },
    nowMs + 1,
  );
  if (!isDone(last)) throw new Error('the race has not ended');
}

/** P2's usual case: QUIC is silent, TCP starts after the delay, QUIC is established first. */
function simpleRace(plan: TrialPlan): void {
  const trial = createTrial(plan);
  trial.start();
  trial.handle({ type: 'timer', timer: 'stagger' }, 10);
  win(trial, 0, 30);
}

/** All endpoints are started, alternately after a failure and by the timer; the last is established. */
function workThrough(trial: TrialMachine, count: number): void {
  let nowMs = 0;
  const error = { code: 'tcp-refused', message: 'refused' } as const;
  for (let attempt = 0; attempt < count - 1; attempt += 1) {
    nowMs += 250;
    if (attempt % 2 === 0) trial.handle({ type: 'failed', attempt, error, transportMs: null }, nowMs);
    else trial.handle({ type: 'timer', timer: 'group-0' }, nowMs);
  }
  win(trial, count - 1, nowMs + 20);
}

function addressOf(index: number): string {
  return index % 2 === 0 ? `2001:db8::${(index + 1).toString(16)}` : `192.0.2.${index % 256}`;
}

function endpointsOf(count: number): Endpoint[] {
  return Array.from({ length: count }, (_, index) => ({
    transport: index % 4 < 2 ? 'h3' : 'h2',
    address: addressOf(index),
    port: 443 + (index >> 8),
    host: HOST,
    source: 'https-record',
  }));
}

function endpointsRace(plan: TrialPlan, endpoints: readonly Endpoint[]): void {
  const trial = createTrial(plan);
  trial.start();
  trial.handle({ type: 'endpoints', endpoints, final: true }, 0);
  workThrough(trial, endpoints.length);
}

function parsedOrigin() {
  const parsed = parseOrigin(HOST);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

/** One HTTPS record for both protocols, and as many addresses as give `count` endpoints. */
function answersFor(count: number): Record<QueryKind, Answer> {
  const addresses = (family: number) =>
    Array.from({ length: count / 4 }, (_, index) => ({
      address: family === 6 ? `2001:db8::${(index + 1).toString(16)}` : `10.0.${index >> 8}.${index % 256}`,
      ttlSeconds: 60,
    }));
  const service = serviceRecord(HOST, { alpn: ['h3', 'h2'] });
  return {
    HTTPS: { ok: true, kind: 'HTTPS', services: [service] },
    AAAA: { ok: true, kind: 'AAAA', addresses: addresses(6) },
    A: { ok: true, kind: 'A', addresses: addresses(4) },
  };
}

function answersRace(
  plan: TrialPlan,
  origin: ReturnType<typeof parsedOrigin>,
  answers: Record<QueryKind, Answer>,
) {
  const trial = createTrial(plan);
  trial.start();
  const resolution = new Resolution({
    origin,
    alternatives: [],
    assumeH3: false,
    connectivity: { ipv6: true, ipv4: true, preferred: 'ipv6', nat64Prefix: null },
    history: new Map(),
    sourceFor: (destination) => (destination.includes(':') ? '2001:db8:1::1' : '10.1.0.1'),
    random: () => 0.5,
  });
  let listed = 0;
  for (const query of resolution.start(0)) {
    if (query.type !== 'query') continue;
    const answer = answers[query.kind];
    for (const action of resolution.handle({ type: 'answer', query: query.query, answer }, 0)) {
      if (action.type !== 'endpoints') continue;
      listed = action.endpoints.length;
      trial.handle(action, 0);
    }
  }
  workThrough(trial, listed);
  return listed;
}

/** One decision of a scenario, to be repeated. Throws when the scenario does not end as it should. */
export function scenarioOf(scenario: Scenario, count: number): () => void {
  // DNS answers give every address twice, in two families.
  if (!(count > 0 && count % 4 === 0))
    throw new RangeError(`the number of endpoints is a multiple of 4, not ${count}`);
  if (scenario === 'simple') {
    const endpoints = endpointsOf(4).filter(({ address }) => address.includes(':'));
    const plan = planOf('race', endpoints);
    return () => simpleRace(plan);
  }
  const plan = planOf('v3', []);
  if (scenario === 'endpoints') {
    const endpoints = endpointsOf(count);
    return () => endpointsRace(plan, endpoints);
  }
  const origin = parsedOrigin();
  const answers = answersFor(count);
  const listed = answersRace(plan, origin, answers);
  const due = Math.min(count, MAX_ENDPOINTS);
  if (listed !== due) throw new Error(`${listed} endpoints came of the answers, not ${due}`);
  return () => answersRace(plan, origin, answers);
}

function microsecondsEach(decide: () => void, forMs: number): number {
  const zeroMs = performance.now();
  let decisions = 0;
  let tookMs = 0;
  do {
    decide();
    decisions += 1;
    tookMs = performance.now() - zeroMs;
  } while (tookMs < forMs);
  return (tookMs * 1000) / decisions;
}

/** Median microseconds of one decision after a warm-up. */
function measureDecision(scenario: Scenario, count: number): number {
  const decide = scenarioOf(scenario, count);
  microsecondsEach(decide, WARM_UP_MS);
  const samples = Array.from({ length: SAMPLES }, () => microsecondsEach(decide, SAMPLE_MS));
  return median(samples) ?? Number.NaN;
}

if (import.meta.main) {
  const scenario = SCENARIOS.find((name) => name === argv[2]);
  if (scenario === undefined) throw new Error(`no scenario "${argv[2]}"; there are ${SCENARIOS.join(', ')}`);
  stdout.write(`${measureDecision(scenario, Number(argv[3] ?? 4))}\n`);
}
