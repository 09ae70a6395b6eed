// The links that P2 measured on, and who is measured there when: within a cell all clients take turns, spread over its whole time in an order drawn anew for
// each round, so that a machine that slows down slows all of them.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { shuffled } from '../../bench/random.ts';

/** One setting of the link, in which every client is measured. */
export interface Cell {
  /** `delay-50`, `loss-10`; delay 0 without loss belongs to both of P2's sweeps and is `delay-0`. */
  readonly id: string;
  /** The external round trip, half in each direction (P2, tables 1 and 2). */
  readonly delayMs: number;
  /** From server to client, 0 to 1 (P2, tables 3 and 4). */
  readonly loss: number;
}

/** P2, tables 1 and 2: external round trips. */
const DELAYS_MS = [0, 50, 100, 150, 200];
/** P2, tables 3 and 4, beside none at all. */
const LOSS_PERCENTS = [3, 10, 25, 50];

/** Delay 0 without loss stands for both sweeps. */
export const CELLS: readonly Cell[] = [
  ...DELAYS_MS.map((delayMs) => ({ id: `delay-${delayMs}`, delayMs, loss: 0 })),
  ...LOSS_PERCENTS.map((percent) => ({ id: `loss-${percent}`, delayMs: 0, loss: percent / 100 })),
];

/** What a client is to do in every cell. */
export interface Portion {
  readonly name: string;
  readonly trials: number;
  /** Trials in one turn; the last one may have fewer. */
  readonly batch: number;
}

export interface Turn {
  readonly client: string;
  /** Counts this client's turns in the cell from 0. */
  readonly number: number;
  readonly trials: number;
}

export interface CellPlan {
  readonly cell: Cell;
  readonly turns: readonly Turn[];
}

function turnsOf({ name, trials, batch }: Portion): Turn[] {
  return Array.from({ length: Math.ceil(trials / batch) }, (_, number) => ({
    client: name,
    number,
    trials: Math.min(batch, trials - number * batch),
  }));
}

/** The turns of every cell in their order, which the seed decides. */
export function planRun(cells: readonly Cell[], portions: readonly Portion[], seed: number): CellPlan[] {
  const random = seededRandom(seed);
  const all = portions.map(turnsOf);
  const rounds = Math.max(0, ...all.map((turns) => turns.length));
  // Whoever has fewer turns than there are rounds sits out evenly, instead of being done early.
  const roundOf = ({ number }: Turn, of: number) => Math.floor(((number + 0.5) * rounds) / of);
  return cells.map((cell) => {
    const turns = Array.from({ length: rounds }, (_, round) => {
      const present = all.map((own) => own.find((turn) => roundOf(turn, own.length) === round));
      return shuffled(
        present.filter((turn) => turn !== undefined),
        random,
      );
    });
    return { cell, turns: turns.flat() };
  });
}

/** The plan without the turns that are already done, `done` knowing each by its `turnKey`. */
export function remaining(plan: readonly CellPlan[], done: { has(key: string): boolean }): CellPlan[] {
  return plan.map(({ cell, turns }) => ({
    cell,
    turns: turns.filter((turn) => !done.has(turnKey(cell.id, turn.client, turn.number))),
  }));
}

/** Names a turn within a run. */
export function turnKey(cell: string, client: string, number: number): string {
  return `${cell} ${client} ${number}`;
}
