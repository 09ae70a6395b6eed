// The links that P2 measured, which client is measured there when, and how long that takes. Within a cell clients take
// turns, spread over the cell's whole time in an order randomised for each round, so that a machine that slows down
// affects all of them.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { shuffled } from '../../bench/measure.ts';
import type { ClientKind } from '../client.ts';

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
/** P2, tables 3 and 4, in addition to no loss. */
const LOSS_PERCENTS = [3, 10, 25, 50];

/** Delay 0 without loss belongs to both sweeps. */
export const CELLS: readonly Cell[] = [
  ...DELAYS_MS.map((delayMs) => ({ id: `delay-${delayMs}`, delayMs, loss: 0 })),
  ...LOSS_PERCENTS.map((percent) => ({ id: `loss-${percent}`, delayMs: 0, loss: percent / 100 })),
];

/** One client's share of the work in every cell. */
export interface Portion {
  readonly name: string;
  readonly trials: number;
  /** Trials per turn; the last turn may have fewer. */
  readonly batch: number;
}

export interface Turn {
  readonly client: string;
  /** Numbers this client's turns in the cell from 0. */
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

/** The turns of every cell in the order that the seed determines. */
export function planRun(cells: readonly Cell[], portions: readonly Portion[], seed: number): CellPlan[] {
  const random = seededRandom(seed);
  const all = portions.map(turnsOf);
  const rounds = Math.max(0, ...all.map((turns) => turns.length));
  // A client with fewer turns than there are rounds is spread evenly instead of finishing early.
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

/** The plan without completed turns; `done` contains their `turnKey`. */
export function remaining(plan: readonly CellPlan[], done: { has(key: string): boolean }): CellPlan[] {
  return plan.map(({ cell, turns }) => ({
    cell,
    turns: turns.filter((turn) => !done.has(turnKey(cell.id, turn.client, turn.number))),
  }));
}

/** Identifies a turn within a run. */
export function turnKey(cell: string, client: string, number: number): string {
  return `${cell} ${client} ${number}`;
}

/** By kind: time to start a turn, time per trial on an idle link, and round trips per trial. */
const COSTS: Readonly<Record<ClientKind, { turnMs: number; trialMs: number; roundTrips: number }>> = {
  ours: { turnMs: 500, trialMs: 15, roundTrips: 3 },
  peer: { turnMs: 300, trialMs: 15, roundTrips: 3 },
  // Mostly the start of the browser with a new profile.
  browser: { turnMs: 500, trialMs: 3000, roundTrips: 8 },
};
/** Races that teach the client about the host, before a cell. */
const LESSONS = 20;
/** Multiplied by loss / (1 - loss): a race takes half of it, Alt-Svc several times as much (P2's Table 4: 1100). */
const LOSS_MS = 300;

/** What a turn is expected to take. */
export function expectedTurnMs(kind: ClientKind, { delayMs, loss }: Cell, trials: number): number {
  const { turnMs, trialMs, roundTrips } = COSTS[kind];
  return turnMs + trials * (trialMs + roundTrips * delayMs + (LOSS_MS * loss) / (1 - loss));
}

/** What is known about a client before it is measured. */
export interface ClientTraits {
  readonly kind: ClientKind;
  /** Whether it prepares before each cell. */
  readonly prepares: boolean;
}

export interface Estimate {
  /** Records the actual duration of a client's preparation. */
  prepared(name: string, cell: Cell, tookMs: number): void;
  /** Records the actual duration of a turn. */
  measured(name: string, cell: Cell, trials: number, tookMs: number): void;
  /** For the turns of a cell in which all clients are prepared. */
  turnsMs(plan: CellPlan): number;
  /** For whole cells, including preparations. */
  cellsMs(plans: readonly CellPlan[]): number;
}

/** A duration estimate for these clients, by name; the measured speed of each kind corrects it. */
export function estimate(clients: ReadonlyMap<string, ClientTraits>): Estimate {
  const seen = new Map<ClientKind, { expectedMs: number; tookMs: number }>();
  const see = (name: string, cell: Cell, trials: number, tookMs: number) => {
    const kind = clients.get(name)?.kind;
    if (kind === undefined) return;
    const sums = seen.get(kind) ?? { expectedMs: 0, tookMs: 0 };
    sums.expectedMs += expectedTurnMs(kind, cell, trials);
    sums.tookMs += tookMs;
    seen.set(kind, sums);
  };
  const expect = (name: string, cell: Cell, trials: number) => {
    const kind = clients.get(name)?.kind;
    if (kind === undefined) return 0;
    const { expectedMs, tookMs } = seen.get(kind) ?? { expectedMs: 1, tookMs: 1 };
    return (expectedTurnMs(kind, cell, trials) * tookMs) / expectedMs;
  };
  const turnsMs = ({ cell, turns }: CellPlan) =>
    turns.reduce((sum, { client, trials }) => sum + expect(client, cell, trials), 0);
  const preparationsMs = ({ cell, turns }: CellPlan) => {
    const names = [...new Set(turns.map(({ client }) => client))];
    const learners = names.filter((name) => clients.get(name)?.prepares);
    return learners.reduce((sum, name) => sum + expect(name, cell, LESSONS), 0);
  };
  return {
    prepared: (name, cell, tookMs) => see(name, cell, LESSONS, tookMs),
    measured: see,
    turnsMs,
    cellsMs: (plans) => plans.reduce((sum, plan) => sum + preparationsMs(plan) + turnsMs(plan), 0),
  };
}
