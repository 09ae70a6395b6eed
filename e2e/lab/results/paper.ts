// The published figures that the tables stand beside: "Happy Eyeballs for HTTP/3" (MDPI, 2022), Tables 1 to 4; 1000 cold
// trials a cell, means and deviations in milliseconds, delay as external round trip, loss at the server's side.
import type { Estimate } from './goal-row.ts';
import { Z_95 } from './intervals.ts';

export const PAPER_TITLE = 'P2, the paper';
export const PAPER_CITATION =
  'P2: "Happy Eyeballs for HTTP/3", MDPI, 2022, Tables 1 to 4 (1000 trials a cell, loss from server to client).';
const PAPER_TRIALS = 1000;

export interface PaperRow {
  /** Of the cell. */
  readonly delayMs: number;
  readonly loss: number;
  /** Share of trials that adopted HTTP/3; null: the table does not say. */
  readonly adoption: number | null;
  readonly meanMs: number;
  readonly sigmaMs: number;
  /** Null: the table does not say. */
  readonly maxMs: number | null;
}

/** The mean with the normal 95 % interval that its deviation over 1000 trials gives; the paper prints none. */
export function paperMean({ meanMs, sigmaMs }: PaperRow): Estimate {
  const half = (Z_95 * sigmaMs) / Math.sqrt(PAPER_TRIALS);
  return { value: meanMs, low: meanMs - half, high: meanMs + half };
}

/** How many of the paper's trials adopted HTTP/3, which its percentages with one decimal say exactly. */
export function paperAdopted({ adoption }: PaperRow): { hits: number; of: number } | null {
  return adoption === null ? null : { hits: Math.round(adoption * PAPER_TRIALS), of: PAPER_TRIALS };
}

const byDelay = (
  delayMs: number,
  adoption: number | null,
  meanMs: number,
  sigmaMs: number,
  maxMs: number | null = null,
): PaperRow => ({ delayMs, loss: 0, adoption, meanMs, sigmaMs, maxMs });
const byLoss = (
  loss: number,
  adoption: number | null,
  meanMs: number,
  sigmaMs: number,
  maxMs: number,
): PaperRow => ({ delayMs: 0, loss, adoption, meanMs, sigmaMs, maxMs });

/** Tables 1 and 3: the race. */
export const PAPER_RACE: readonly PaperRow[] = [
  byDelay(0, 0.997, 3.2, 1.4, 20),
  byDelay(50, 1, 57.4, 4.4),
  byDelay(100, 1, 108.2, 2.7),
  byDelay(150, 1, 158.4, 2.8),
  byDelay(200, 1, 208.4, 4.6),
  byLoss(0.03, 0.964, 4.8, 32.4, 1005),
  byLoss(0.1, 0.91, 18.5, 110.2, 1079),
  byLoss(0.25, 0.78, 79.3, 278, 3115),
  byLoss(0.5, 0.627, 474, 975, 15475),
];

/** Tables 2 and 4: Alt-Svc. At 50 % loss the paper has none: trials ran into the time-out of 30 s. */
export const PAPER_ALT_SVC: readonly PaperRow[] = [
  byDelay(0, null, 2.1, 0.8, 18),
  byDelay(50, null, 109.9, 4.9),
  byDelay(100, null, 209.6, 3.9),
  byDelay(150, null, 310.4, 3.2),
  byDelay(200, null, 410.5, 7.4),
  byLoss(0.03, null, 36.8, 173.1, 1073),
  byLoss(0.1, null, 120.6, 310.2, 3079),
  byLoss(0.25, null, 374, 675.9, 7125),
];

/** The paper's figures for a cell, if it has them. */
export function paperRow(
  rows: readonly PaperRow[],
  cell: { readonly delayMs: number; readonly loss: number },
): PaperRow | undefined {
  return rows.find(({ delayMs, loss }) => delayMs === cell.delayMs && loss === cell.loss);
}
