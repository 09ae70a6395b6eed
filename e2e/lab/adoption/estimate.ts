// How long a run will take: a guess from the paper's figures at first, then from the speed of what has been measured.
import type { ContestantKind } from '../contestant.ts';
import type { CellPlan } from './plan.ts';
import type { Cell } from './run.ts';

/** Per kind: starting what runs a turn, what a trial takes on an idle link, and its round trips. */
const COSTS: Readonly<Record<ContestantKind, { turnMs: number; trialMs: number; roundTrips: number }>> = {
  ours: { turnMs: 500, trialMs: 15, roundTrips: 3 },
  peer: { turnMs: 300, trialMs: 15, roundTrips: 3 },
  // Starting the browser with a cold profile is most of it.
  browser: { turnMs: 500, trialMs: 3000, roundTrips: 8 },
};
/** What P2's Table 4 comes to: loss / (1 - loss) of this, within a tenth from 3 to 25 %. */
const LOSS_MS = 1100;

/** What a turn is expected to take. */
export function expectedTurnMs(kind: ContestantKind, { delayMs, loss }: Cell, trials: number): number {
  const { turnMs, trialMs, roundTrips } = COSTS[kind];
  return turnMs + trials * (trialMs + roundTrips * delayMs + (LOSS_MS * loss) / (1 - loss));
}

export interface Estimate {
  /** What a turn really took. */
  measured(kind: ContestantKind, cell: Cell, trials: number, tookMs: number): void;
  /** For what is still to be measured. */
  leftMs(plan: readonly CellPlan[]): number;
}

/** An estimate for contestants of these kinds; each kind's speed corrects what is expected of it. */
export function estimate(kinds: ReadonlyMap<string, ContestantKind>): Estimate {
  const seen = new Map<ContestantKind, { expectedMs: number; tookMs: number }>();
  const factor = (kind: ContestantKind) => {
    const { expectedMs, tookMs } = seen.get(kind) ?? { expectedMs: 1, tookMs: 1 };
    return tookMs / expectedMs;
  };
  return {
    measured(kind, cell, trials, tookMs) {
      const sums = seen.get(kind) ?? { expectedMs: 0, tookMs: 0 };
      sums.expectedMs += expectedTurnMs(kind, cell, trials);
      sums.tookMs += tookMs;
      seen.set(kind, sums);
    },
    leftMs(plan) {
      let sumMs = 0;
      for (const { cell, turns } of plan)
        for (const { contestant, trials } of turns) {
          const kind = kinds.get(contestant);
          if (kind !== undefined) sumMs += factor(kind) * expectedTurnMs(kind, cell, trials);
        }
      return sumMs;
    },
  };
}

/** `40 s`, `12 min`, `3 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
