// Canaries: origins that every vantage point reaches. What they reach now, compared with what they reached when the
// worker began, tells whether its path is still the one that the results are about; until then a worker holds them.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { evidenceOfRace, isH3, reachOf } from '@photofinish/shared/verdict/evidence';

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
  heard(reach: Reach, nowMs: number): Health {
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
