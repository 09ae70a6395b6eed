// The links that P2 measured on: its sweep over delay without loss, and its sweep over loss without delay.
import type { Cell } from './run.ts';

/** P2, tables 1 and 2: external round trips. */
const DELAYS_MS = [0, 50, 100, 150, 200];
/** P2, tables 3 and 4, beside none at all. */
const LOSS_PERCENTS = [3, 10, 25, 50];

/** Delay 0 without loss stands for both sweeps. */
export const CELLS: readonly Cell[] = [
  ...DELAYS_MS.map((delayMs) => ({ id: `delay-${delayMs}`, delayMs, loss: 0 })),
  ...LOSS_PERCENTS.map((percent) => ({ id: `loss-${percent}`, delayMs: 0, loss: percent / 100 })),
];
