// A vantage point as its worker sees it: its network, the health of the path by its canaries (origins that every
// vantage point reaches), and the results that await a good canary. Where the path fails or changes, what was measured
// on it is measured again.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { evidenceOfRace, isH3, reachOf } from '@photofinish/shared/verdict/evidence';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import { withOtherHosts } from '../racer.ts';
import { VantageEvidence } from './facts.ts';
import { followRule, surveySpec, useRule } from './job-race.ts';
import type { JobResult } from './messages.ts';
import type { OptOut } from './opt-out.ts';
import type { Task } from './schema.ts';
import type { WorkerParts } from './worker.ts';

/** One pair, which shows what each transport reaches; a canary is near enough to answer in that time. */
const CANARY_TRIAL = { trials: 1, pairs: 1, timeoutMs: 3000 } as const;
/** How long a sick vantage keeps its jobs before it returns them. */
export const MAX_JOB_HOLD_MS = 600_000;

const NO_CANARY_LEFT =
  'every canary of the survey has opted out: no result can be confirmed, so the survey needs other canaries';

export interface VantageParts
  extends Pick<WorkerParts, 'control' | 'survey' | 'race' | 'network' | 'clock' | 'drains' | 'log'> {
  /** What is in force now. */
  readonly optOut: () => OptOut;
  /** Takes jobs that are to be raced again. */
  readonly again: (tasks: readonly Task[]) => void;
  /** Begins to publish, without waiting: a slow server must not keep the canaries from watching the path. */
  readonly publish: (measured: readonly JobResult[]) => void;
  /** Gives the jobs back to the server: called while it has been sick for long. */
  readonly letGo: () => void;
  /** Called when races may begin again. */
  readonly recovered: () => void;
  readonly isOver: () => boolean;
}

export class Vantage {
  readonly #parts: VantageParts;
  readonly #evidence = new VantageEvidence();
  readonly #canaries = new CanaryWatch();
  readonly #held = new HeldResults<Task, OriginRace>();
  /** Aborts the races under way when the network changes or the worker ends. */
  #round = new AbortController();
  #network: string;
  /** The machine is between networks: a race would be recorded under the wrong one. */
  #moving = false;
  #stopWatching: () => void = () => {};
  #sickSinceMs: number | null = null;
  #canariesOptedOut = false;

  constructor(parts: VantageParts, network: string) {
    this.#parts = parts;
    this.#network = network;
  }

  /** Since when its canaries have failed, or it has none left, in milliseconds since the epoch; null: they succeed. */
  get sickSinceMs(): number | null {
    return this.#sickSinceMs;
  }

  get canariesOptedOut(): boolean {
    return this.#canariesOptedOut;
  }

  /** Whether a race that begins now is one from here. */
  get mayRace(): boolean {
    return !this.#moving && this.#sickSinceMs === null;
  }

  /** Results that wait for a canary. */
  get held(): number {
    return this.#held.size;
  }

  /** The network now, and the signal that ends what is measured on it. */
  where(): { readonly network: string; readonly signal: AbortSignal } {
    return { network: this.#network, signal: this.#round.signal };
  }

  hold(job: Task, result: OriginRace): void {
    this.#evidence.add(result);
    this.#held.add({ job, result, endedMs: this.#parts.clock.nowMs() });
  }

  abort(): void {
    this.#round.abort();
  }

  /** The path is another one: what is held was measured on the old one, or on both. */
  watchNetwork(): void {
    const { network, isOver, recovered, log } = this.#parts;
    this.#stopWatching = network.watch(this.#network, () => {
      log('the network changed: what was measured since the last good canary is measured again');
      this.#endRaces();
      this.#canaries.forget();
      this.#discard();
      this.#moving = true;
      void network.settled().then((key) => {
        this.#moving = false;
        if (isOver()) return;
        this.#network = key;
        this.watchNetwork();
        recovered();
      });
    });
  }

  stopWatching(): void {
    this.#stopWatching();
  }

  /** One round of canaries: results that ended before a good one are published. */
  async canaryRound(): Promise<void> {
    const { clock, control, survey, log, letGo, recovered } = this.#parts;
    const { signal } = this.#round;
    const beganMs = clock.nowMs();
    if (this.#moving) return;
    if (survey.canaries.length === 0) return this.#publishUntil(beganMs);
    if (control.state().paused) return;
    const races = await this.#raceCanaries();
    if (signal.aborted) return;
    if (races.length === 0) return this.#goWithoutCanaries();
    this.#canariesOptedOut = false;
    const health = this.#canaries.record(reachOfCanaries(races), clock.nowMs());
    if (health.state === 'sick') {
      if (this.#sickSinceMs === null) {
        this.#endRaces();
        log(`the canaries fail${failuresOf(races)}: nothing is written until they succeed again`);
      }
      this.#discard();
      this.#sickSinceMs ??= clock.epochMs();
      if (clock.nowMs() - health.sinceMs >= MAX_JOB_HOLD_MS) letGo();
      return;
    }
    const recovers = this.#sickSinceMs !== null;
    if (recovers) log('the canaries succeed again');
    this.#sickSinceMs = null;
    if (health.state === 'changed') this.#endRaces();
    if (health.state === 'changed' || recovers) this.#discard();
    else {
      for (const race of races) this.#evidence.add(race);
      this.#publishUntil(beganMs);
    }
    recovered();
  }

  /** Those of the canaries that have not opted out. */
  async #raceCanaries(): Promise<readonly OriginRace[]> {
    const { survey } = this.#parts;
    const where = this.where();
    const races = await Promise.all(survey.canaries.map((text) => this.#raceCanary(text, where)));
    return races.filter((race) => race !== null);
  }

  /** Null: it has opted out, by its name or by an address of it. */
  async #raceCanary(text: string, where: ReturnType<Vantage['where']>): Promise<OriginRace | null> {
    const { survey, race, optOut } = this.#parts;
    const origin = parseOrigin(text);
    if (!origin.ok || optOut().refusesHost(origin.value.host)) return null;
    const request = { origin: origin.value, mode: 'compare' } as const;
    const allows = useRule(optOut);
    let isOptedOut = false;
    const mayUse: typeof allows = (...used) => {
      isOptedOut ||= !allows(...used);
      return !isOptedOut;
    };
    const raced = await race({
      ...surveySpec(survey, request, where),
      ...CANARY_TRIAL,
      ...{ mayUse, mayFollow: followRule(optOut) },
    });
    return isOptedOut ? null : raced;
  }

  /** Who opted out does not come back, so a worker that is to end has nothing to wait for. */
  #goWithoutCanaries(): void {
    const { clock, drains, log, letGo } = this.#parts;
    if (drains) throw new Complaint('bad-survey', NO_CANARY_LEFT, EXIT_FAILED);
    if (!this.#canariesOptedOut) {
      this.#endRaces();
      log(NO_CANARY_LEFT);
    }
    this.#canariesOptedOut = true;
    this.#sickSinceMs ??= clock.epochMs();
    this.#discard();
    letGo();
  }

  /** Publishes results with verdicts that take the other hosts of this vantage into account. */
  #publishUntil(canaryBeganMs: number): void {
    const released = this.#held.release(canaryBeganMs);
    if (released.length === 0) return;
    this.#parts.publish(
      released.map(({ job, result }) => ({
        job,
        result: withOtherHosts(result, () => this.#evidence.except(result)),
      })),
    );
  }

  /** Races under way saw the path that failed, and what they and earlier ones said of it is no evidence of this one. */
  #endRaces(): void {
    this.#round.abort();
    this.#round = new AbortController();
    this.#evidence.forget();
  }

  /** What was measured since the last good canary is measured again. */
  #discard(): void {
    this.#parts.again(this.#held.discard().map(({ job }) => job));
  }
}

/** Whether any canary was established over each transport. */
interface Reach {
  readonly h3: boolean;
  readonly h2: boolean;
}

/** What the canaries, raced in mode `compare`, reach together. */
export function reachOfCanaries(races: readonly OriginRace[]): Reach {
  const established = (wantH3: boolean): boolean =>
    races.some((race) => {
      const attempts = evidenceOfRace(race).attempts.filter((attempt) => isH3(attempt) === wantH3);
      return reachOf(attempts) === 'established';
    });
  return { h3: established(true), h2: established(false) };
}

/** In parentheses, each code once: only they tell a wrong option from a bad path. */
function failuresOf(races: readonly OriginRace[]): string {
  const errors = races.flatMap(({ error, trials }) => [
    error,
    ...trials.flatMap(({ attempts }) => attempts.map((attempt) => attempt.error)),
  ]);
  const codes = new Set(errors.flatMap((error) => error?.code ?? []));
  return codes.size === 0 ? '' : ` (${[...codes].join(', ')})`;
}

const BEGINNING_MS = 120_000;
const EVERY_AT_FIRST_MS = 3000;
const EVERY_MS = 30_000;

/**
 * The time between two rounds, for a worker of that age. One that has just begun may be one that is killed again and
 * again: what it measures is soon published. That costs each canary 40 races of a worker's first two minutes instead
 * of 4.
 */
export function canaryEveryMs(ageMs: number): number {
  return ageMs < BEGINNING_MS ? EVERY_AT_FIRST_MS : EVERY_MS;
}

/** What a vantage reaches less than before becomes its norm after that long: the path may only be recovering. */
export const SETTLES_AFTER_MS = 600_000;

type Health =
  | { readonly state: 'good' }
  /** The path has changed: nothing measured since the last good canary is evidence. */
  | { readonly state: 'changed' }
  | { readonly state: 'sick'; readonly sinceMs: number };

function isSame(a: Reach, b: Reach): boolean {
  return a.h3 === b.h3 && a.h2 === b.h2;
}

/**
 * A vantage that never reached HTTP/3 is not sick: UDP may be blocked there, which is a result. One that reaches
 * neither transport is. More than before is a change of path too, from which on everything counts.
 */
export class CanaryWatch {
  #normal: Reach | null = null;
  #sickSinceMs: number | null = null;
  /** What is reached while sick, and since when without interruption. */
  #lesser: (Reach & { readonly sinceMs: number }) | null = null;

  /** The result of one round of canaries, by the monotonic clock. */
  record(reach: Reach, nowMs: number): Health {
    const normal = this.#normal;
    const reachesAny = reach.h3 || reach.h2;
    if (normal !== null && isSame(reach, normal)) {
      this.#accept(reach);
      return { state: 'good' };
    }
    const isLess = normal !== null && ((normal.h3 && !reach.h3) || (normal.h2 && !reach.h2));
    if (reachesAny && !isLess) {
      this.#accept(reach);
      return { state: normal === null ? 'good' : 'changed' };
    }
    this.#sickSinceMs ??= nowMs;
    if (this.#lesser === null || !isSame(reach, this.#lesser)) this.#lesser = { ...reach, sinceMs: nowMs };
    if (!reachesAny || nowMs - this.#lesser.sinceMs < SETTLES_AFTER_MS)
      return { state: 'sick', sinceMs: this.#sickSinceMs };
    this.#accept(reach);
    return { state: 'changed' };
  }

  /** The machine has moved to another network: the next round is the first. */
  forget(): void {
    this.#normal = null;
    this.#sickSinceMs = null;
  }

  #accept(reach: Reach): void {
    this.#normal = reach;
    this.#sickSinceMs = null;
    this.#lesser = null;
  }
}

/** A result that waits for a canary, and the job to acknowledge or to race again. */
interface HeldResult<Job, Result> {
  readonly job: Job;
  readonly result: Result;
  /** When its race ended, by the worker's monotonic clock. */
  readonly endedMs: number;
}

/**
 * What a worker measured since its last good canary: released by the next good one, discarded when that fails or the
 * network has changed.
 */
export class HeldResults<Job, Result> {
  #waiting: HeldResult<Job, Result>[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  add(held: HeldResult<Job, Result>): void {
    this.#waiting.push(held);
  }

  /** Those that ended before a good canary began: what came after it is not covered by it. */
  release(canaryBeganMs: number): readonly HeldResult<Job, Result>[] {
    const covered = this.#waiting.filter(({ endedMs }) => endedMs <= canaryBeganMs);
    this.#waiting = this.#waiting.filter(({ endedMs }) => endedMs > canaryBeganMs);
    return covered;
  }

  /** All of them: a canary failed, so none is evidence of anything but this vantage. */
  discard(): readonly HeldResult<Job, Result>[] {
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }
}
