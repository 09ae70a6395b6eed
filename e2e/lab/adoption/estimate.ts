// How long a run will take: a guess from the paper's figures at first, then from the speed of what has been measured.
import type { ClientKind } from '../client.ts';
import type { Cell, CellPlan } from './plan.ts';

/** Per kind: starting what runs a turn, what a trial takes on an idle link, and its round trips. */
const COSTS: Readonly<Record<ClientKind, { turnMs: number; trialMs: number; roundTrips: number }>> = {
  ours: { turnMs: 500, trialMs: 15, roundTrips: 3 },
  peer: { turnMs: 300, trialMs: 15, roundTrips: 3 },
  // Starting the browser with a cold profile is most of it.
  browser: { turnMs: 500, trialMs: 3000, roundTrips: 8 },
};
/** Races that make a host known, before a cell. */
const LESSONS = 20;
/** loss / (1 - loss) of this: a race takes half of it, Alt-Svc several times as much (P2's Table 4 comes to 1100). */
const LOSS_MS = 300;

/** What a turn is expected to take. */
export function expectedTurnMs(kind: ClientKind, { delayMs, loss }: Cell, trials: number): number {
  const { turnMs, trialMs, roundTrips } = COSTS[kind];
  return turnMs + trials * (trialMs + roundTrips * delayMs + (LOSS_MS * loss) / (1 - loss));
}

/** What is known of a client before it is measured. */
export interface Measured {
  readonly kind: ClientKind;
  /** Whether it learns before each cell. */
  readonly prepares: boolean;
}

export interface Estimate {
  /** What a client's preparation really took. */
  prepared(name: string, cell: Cell, tookMs: number): void;
  /** What a turn of it really took. */
  measured(name: string, cell: Cell, trials: number, tookMs: number): void;
  /** For the turns of a cell in which everyone is prepared. */
  turnsMs(plan: CellPlan): number;
  /** For whole cells, with their preparations. */
  cellsMs(plans: readonly CellPlan[]): number;
}

/** An estimate for these clients, by name; each kind's speed corrects what is expected of it. */
export function estimate(clients: ReadonlyMap<string, Measured>): Estimate {
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
