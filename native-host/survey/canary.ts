// Canaries: origins that every vantage point reaches. What they reach now, compared with what they reached when the
// worker began, tells whether its path is still the one that the results are about.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { evidenceOfRace, isH3, reachOf } from '@photofinish/shared/verdict/evidence';

/** Whether any canary was established over each transport. */
export interface Reach {
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

export interface CanaryWatch {
  /** The result of one round of canaries, by the monotonic clock. */
  heard(reach: Reach, nowMs: number): Health;
  /** The machine has moved to another network: the next round is the first. */
  forget(): void;
}

function isSame(a: Reach, b: Reach): boolean {
  return a.h3 === b.h3 && a.h2 === b.h2;
}

/**
 * A vantage that never reached HTTP/3 is not sick: UDP may be blocked there, which is a result. One that reaches
 * neither transport is. More than before is a change of path too, from which on everything counts.
 */
export function canaryWatch(): CanaryWatch {
  let normal: Reach | null = null;
  let sickSinceMs: number | null = null;
  /** What is reached while sick, and since when without interruption. */
  let lesser: (Reach & { readonly sinceMs: number }) | null = null;
  const accept = (reach: Reach): void => {
    normal = reach;
    sickSinceMs = null;
    lesser = null;
  };
  return {
    heard(reach, nowMs) {
      const reachesAny = reach.h3 || reach.h2;
      if (normal !== null && isSame(reach, normal)) {
        accept(reach);
        return { state: 'good' };
      }
      const isLess = normal !== null && ((normal.h3 && !reach.h3) || (normal.h2 && !reach.h2));
      if (reachesAny && !isLess) {
        const state = normal === null ? 'good' : 'changed';
        accept(reach);
        return { state };
      }
      sickSinceMs ??= nowMs;
      if (lesser === null || !isSame(reach, lesser)) lesser = { ...reach, sinceMs: nowMs };
      if (!reachesAny || nowMs - lesser.sinceMs < SETTLES_AFTER_MS)
        return { state: 'sick', sinceMs: sickSinceMs };
      accept(reach);
      return { state: 'changed' };
    },
    forget() {
      normal = null;
      sickSinceMs = null;
    },
  };
}
