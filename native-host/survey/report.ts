// What a survey found, by vantage point: the counts of its report. Made in one pass over the archive; what differs
// between vantage points is found in the bytes kept for each job, and named in a second pass that ends early.
import { isOurDoing } from '@photofinish/shared/race/conclusive';
import { isQueriedForBoth } from '@photofinish/shared/race/discovered';
import type { NetworkEvidence, OriginRace } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import type { VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { isFailed, isH3, NO_OTHERS } from '@photofinish/shared/verdict/evidence';
import { differenceMsOf } from '@photofinish/shared/verdict/gain';
import { blocksUdp } from '@photofinish/shared/verdict/verdict';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { type Archive, emptyTally, missingFrom, openArchive, resultsOf, type Tally } from './archive.ts';
import { advertisedFailure, type Facts, factsOf } from './facts.ts';

const DIFFERENCES_NAMED = 200;

/** How an origin was reached; `unproven`: nothing that was measured is evidence. */
type OriginReach = 'h3' | 'h2' | 'http/1.1' | 'not' | 'unproven';

/** What is kept of a job at a vantage point, after the archive's 0 and 1: not measured, and no evidence. */
const JOB_STATES = ['missing', 'unproven', 'h3', 'h3-failed', 'tcp', 'not'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Upper ends of the classes of round trips, in milliseconds. */
const ROUND_TRIPS_MS = [10, 25, 50, 100, 200, Number.POSITIVE_INFINITY];
/** Differences are counted in steps, so that their number does not matter. */
const STEPS_PER_MS = 10;

export interface GainClass {
  readonly fromMs: number;
  /** Infinity: no end. */
  readonly toMs: number;
  h3Quicker: number;
  h2Quicker: number;
  unclear: number;
  /** How many origins by difference, in tenths of a millisecond. */
  readonly differences: Map<number, number>;
}

export interface VantageReport {
  readonly vantage: string;
  readonly reach: Record<OriginReach, number>;
  readonly verdicts: Map<VerdictCode, number>;
  /** Why HTTP/3 failed where it is advertised and TCP works. */
  readonly causes: Map<AttemptErrorCode, number>;
  network: NetworkEvidence;
  readonly gains: readonly GainClass[];
  measured: number;
  missing: number;
}

interface Difference {
  readonly job: number;
  readonly origin: Origin;
  /** In the order of the vantage points that are compared. */
  readonly states: readonly JobState[];
}

export type SurveyReport = Readonly<Awaited<ReturnType<typeof surveyReport>>>;

function emptyReport(vantage: string): VantageReport {
  return {
    vantage,
    reach: { h3: 0, h2: 0, 'http/1.1': 0, not: 0, unproven: 0 },
    verdicts: new Map(),
    causes: new Map(),
    network: NO_OTHERS,
    gains: ROUND_TRIPS_MS.map((toMs, i) => ({
      fromMs: ROUND_TRIPS_MS[i - 1] ?? 0,
      toMs,
      h3Quicker: 0,
      h2Quicker: 0,
      unclear: 0,
      differences: new Map(),
    })),
    measured: 0,
    missing: 0,
  };
}

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Without an address, and of one family this machine did not ask. */
function isHalfQueried({ origin, error, discovered }: OriginRace): boolean {
  const { lookups = [] } = discovered.names ?? {};
  return error?.code === 'no-address' && !isQueriedForBoth(originParts(origin).host, lookups);
}

function reachOfRace(race: OriginRace, { h3, tcp }: Facts): OriginReach {
  const attempts = race.trials.flatMap((each) => each.attempts);
  if (h3 === 'established') return 'h3';
  if (tcp === 'established') {
    return attempts.some((a) => a.protocol === 'h2' && a.establishedMs !== null) ? 'h2' : 'http/1.1';
  }
  const isRefused = race.error?.code === 'blocked' || race.error?.code === 'port-blocked';
  if (race.error?.disturbed || isRefused || isOurDoing(race) || isHalfQueried(race)) return 'unproven';
  // A transport that failed by our doing might have reached it.
  if (attempts.some((a) => isOurDoing(a) && (isH3(a) ? h3 : tcp) === 'not-tried')) return 'unproven';
  return isFailed(h3) || isFailed(tcp) || race.error !== undefined ? 'not' : 'unproven';
}

function stateOf(reach: OriginReach, { h3 }: Facts): JobState {
  if (reach !== 'h2' && reach !== 'http/1.1') return reach;
  return isFailed(h3) ? 'h3-failed' : 'tcp';
}

function addGain({ gains }: VantageReport, { gain, rttMs }: Facts): void {
  const one = gains.find(({ toMs }) => rttMs !== null && rttMs < toMs);
  if (gain === null || one === undefined) return;
  if (gain.quicker === null) one.unclear += 1;
  else if (gain.quicker === 'h3') one.h3Quicker += 1;
  else one.h2Quicker += 1;
  addOne(one.differences, Math.round(differenceMsOf(gain) * STEPS_PER_MS));
}

/** The median of a class's differences by nearest rank, to a tenth of a millisecond; null: there are none. */
export function medianDifferenceMs({ differences }: GainClass): number | null {
  const total = differences.values().reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [step, count] of [...differences].toSorted(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= total / 2) return step / STEPS_PER_MS;
  }
  return null;
}

function isDifferent(states: readonly JobState[]): boolean {
  const has = (...wanted: readonly JobState[]): boolean => states.some((state) => wanted.includes(state));
  return has('h3') ? has('h3-failed', 'not') : has('h3-failed', 'tcp') && has('not');
}

/** Between the vantage points whose network carries UDP. */
async function differencesOf(archive: Archive, tally: Tally, vantages: readonly string[]) {
  const jobs = vantages.flatMap((vantage) => tally.vantages.get(vantage)?.jobs ?? []);
  const statesAt = (job: number): JobState[] => jobs.map((of) => JOB_STATES[of[job] ?? 0] ?? 'missing');
  const wanted = new Set<number>();
  let count = 0;
  for (let job = 1; job <= archive.survey.list.jobs; job += 1) {
    if (!isDifferent(statesAt(job))) continue;
    count += 1;
    if (wanted.size < DIFFERENCES_NAMED) wanted.add(job);
  }
  const named: Difference[] = [];
  if (wanted.size > 0)
    for await (const { job, race } of resultsOf(archive, emptyTally(archive))) {
      if (!wanted.delete(job)) continue;
      named.push({ job, origin: race.origin, states: statesAt(job) });
      if (wanted.size === 0) break;
    }
  // Those with the lowest numbers, which are in no order of the list.
  return { vantages, count, named: named.toSorted((a, b) => a.job - b.job) };
}

/** Reads the archive in a directory. Rejects with a Complaint. */
export async function surveyReport(dir: string) {
  const archive = openArchive(dir);
  const tally = emptyTally(archive);
  const reports = new Map<string, VantageReport>();
  let periodMs: readonly [from: number, to: number] | null = null;
  for await (const { vantage, job, race, of } of resultsOf(archive, tally)) {
    const report = reports.get(vantage) ?? emptyReport(vantage);
    reports.set(vantage, report);
    const facts = factsOf(race);
    const reach = reachOfRace(race, facts);
    report.reach[reach] += 1;
    of.evidence.add(race, facts);
    addOne(report.verdicts, race.verdict.code);
    const failure = advertisedFailure(facts);
    if (failure !== null) addOne(report.causes, failure.code);
    addGain(report, facts);
    of.jobs[job] = JOB_STATES.indexOf(stateOf(reach, facts));
    const [fromMs, toMs]: readonly [number, number] = periodMs ?? [race.atMs, race.atMs];
    periodMs = [Math.min(fromMs, race.atMs), Math.max(toMs, race.atMs)];
  }
  for (const [vantage, of] of tally.vantages) {
    const report = reports.get(vantage) ?? emptyReport(vantage);
    const { measured, evidence } = of;
    const missing = missingFrom(archive, of);
    reports.set(vantage, Object.assign(report, { network: evidence.all(), measured, missing }));
  }
  const vantages = [...reports.values()];
  const open = vantages.filter(({ network }) => !blocksUdp(network)).map(({ vantage }) => vantage);
  return {
    archive,
    tally,
    vantages,
    differences: await differencesOf(archive, tally, open),
    /** When the first and the last race began; null: there is none. */
    periodMs,
  };
}
