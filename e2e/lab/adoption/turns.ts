// The turns of `adoption`: their record, their order, how long they take, and the loop that measures, nothing in
// parallel. Within a cell, one of the links that P2 measured, clients take turns spread over the cell's whole time, in
// an order randomised for each round, so that a machine that slows down affects all of them.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { count, messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { shuffled } from '../../bench/measure.ts';
import type { LinkReport } from '../../network/link.ts';
import type { Peer } from '../../network/open.ts';
import { beginStep, formatDuration, printLine } from '../../run/display.ts';
import {
  type Client,
  type ClientKind,
  clientKindSchema,
  DEADLINE_MS,
  type LabTrial,
  labTrialSchema,
} from '../client.ts';
import { RunInterrupted } from '../experiment.ts';
import {
  type ExperimentRecord,
  type Journal,
  linkReportSchema,
  type RecordSchema,
  turnKey,
} from '../journal.ts';
import { servedSchema } from '../testbed.ts';

const askedSchema = v.object({
  served: servedSchema,
  full: v.boolean(),
  /** By kind of client, unless specified for a client. */
  trials: v.object({ ours: count, peer: count, browser: count }),
  scenarios: v.array(
    v.object({
      /** `delay-50`, `loss-10`; delay 0 without loss belongs to both of P2's sweeps and is `delay-0`. */
      id: v.string(),
      /** The external round trip, half in each direction (P2, tables 1 and 2). */
      delayMs: v.number(),
      /** From server to client, 0 to 1 (P2, tables 3 and 4). */
      loss: v.number(),
    }),
  ),
  clients: v.array(
    v.object({
      name: v.string(),
      title: v.string(),
      kind: clientKindSchema,
      versions: v.record(v.string(), v.string()),
      trials: count,
      /** Trials per turn; the last turn may have fewer. */
      batch: count,
    }),
  ),
});
export type AdoptionPlan = v.InferOutput<typeof askedSchema>;
/** One setting of the link, in which every client is measured. */
export type Cell = Readonly<AdoptionPlan['scenarios'][number]>;

const foundSchema = v.object({
  absent: v.array(v.object({ name: v.string(), title: v.string(), kind: clientKindSchema, why: v.string() })),
});

export type AdoptionFindings = v.InferOutput<typeof foundSchema>;

const turnSchema = v.object({
  kind: v.literal('turn'),
  scenario: v.string(),
  client: v.string(),
  /** Numbers this client's turns in the scenario from 0. */
  turn: count,
  endedAtMs: v.number(),
  trials: v.array(labTrialSchema),
  link: linkReportSchema,
});

/** The client crashed in this scenario; a later run tries it again. */
const crashSchema = v.object({
  kind: v.literal('crash'),
  scenario: v.string(),
  client: v.string(),
  endedAtMs: v.number(),
  error: v.string(),
});

const lineSchema = v.variant('kind', [turnSchema, crashSchema]);
export type Line = v.InferOutput<typeof lineSchema>;

export const ADOPTION: RecordSchema<AdoptionPlan, AdoptionFindings, Line> = {
  experiment: 'adoption',
  asked: askedSchema,
  found: foundSchema,
  turn: lineSchema,
  keyOf: (line) => (line.kind === 'turn' ? turnKey(line.scenario, line.client, line.turn) : null),
};
export type AdoptionJournal = Journal<AdoptionPlan, AdoptionFindings, Line>;
type AdoptionRecord = ExperimentRecord<AdoptionPlan, AdoptionFindings, Line>;

/** The results of one cell: every single trial, and the link's reports. */
export interface CellResult {
  readonly cell: Cell;
  /** By client name; clients not measured here are absent. */
  readonly trials: Readonly<Record<string, readonly LabTrial[]>>;
  /** One for each turn, in turn order. */
  readonly link: readonly LinkReport[];
  /** Clients that crashed here, with their error; their trials are those of earlier turns. */
  readonly crashed: Readonly<Record<string, string>>;
}

/** The results of every cell, the input for the expectations of `quick`. */
export function collect({ meta, turns }: AdoptionRecord): CellResult[] {
  return meta.asked.scenarios.map((cell) => {
    const here = turns.filter(({ scenario }) => scenario === cell.id);
    const made = here.filter((line) => line.kind === 'turn');
    const trials = Map.groupBy(made, ({ client }) => client)
      .entries()
      .map(([client, own]) => [client, own.flatMap((turn) => turn.trials)] as const);
    const last = new Map(here.map((line) => [line.client, line]));
    const crashes = [...last.values()].filter((line) => line.kind === 'crash');
    return {
      cell,
      trials: Object.fromEntries(trials),
      link: made.map((turn) => turn.link),
      crashed: Object.fromEntries(crashes.map(({ client, error }) => [client, error])),
    };
  });
}

/** How many of the requested trials are in the run's cells. */
export function progress({ meta, turns }: AdoptionRecord): { readonly made: number; readonly asked: number } {
  const { clients, scenarios } = meta.asked;
  const perCell = clients.reduce((sum, { trials }) => sum + trials, 0);
  const made = turns.reduce((sum, line) => sum + (line.kind === 'turn' ? line.trials.length : 0), 0);
  return { made, asked: perCell * scenarios.length };
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
type Portion = Pick<AdoptionPlan['clients'][number], 'name' | 'trials' | 'batch'>;

interface Turn {
  readonly client: string;
  /** Numbers this client's turns in the cell from 0. */
  readonly number: number;
  readonly trials: number;
}

interface CellPlan {
  readonly cell: Cell;
  readonly turns: readonly Turn[];
}

/** The turns of every cell in the order that the seed determines. */
export function planRun(cells: readonly Cell[], portions: readonly Portion[], seed: number): CellPlan[] {
  const random = seededRandom(seed);
  const all = portions.map(({ name, trials, batch }) =>
    Array.from(
      { length: Math.ceil(trials / batch) },
      (_, number): Turn => ({ client: name, number, trials: Math.min(batch, trials - number * batch) }),
    ),
  );
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

/** What an estimate has to know of a client; one that learns prepares before each cell. */
type EstimatedClient = Pick<Client, 'name' | 'kind' | 'prepare'>;

/** What a turn is expected to take. */
export function expectedTurnMs(kind: ClientKind, { delayMs, loss }: Cell, trials: number): number {
  const { turnMs, trialMs, roundTrips } = COSTS[kind];
  return turnMs + trials * (trialMs + roundTrips * delayMs + (LOSS_MS * loss) / (1 - loss));
}

interface Estimate {
  /** Records the actual duration of a turn, or of a preparation, which is one of `LESSONS` trials. */
  measured(client: EstimatedClient, cell: Cell, trials: number, tookMs: number): void;
  /** For the turns of a cell in which all clients are prepared. */
  turnsMs(plan: CellPlan): number;
  /** For whole cells, including preparations. */
  cellsMs(plans: readonly CellPlan[]): number;
}

/** A duration estimate for these clients; the measured speed of each kind corrects it. */
export function estimate(clients: readonly EstimatedClient[]): Estimate {
  const seen = new Map<ClientKind, { expectedMs: number; tookMs: number }>();
  const measured: Estimate['measured'] = ({ kind }, cell, trials, tookMs) => {
    const sums = seen.get(kind) ?? { expectedMs: 0, tookMs: 0 };
    sums.expectedMs += expectedTurnMs(kind, cell, trials);
    sums.tookMs += tookMs;
    seen.set(kind, sums);
  };
  const expect = ({ kind }: EstimatedClient, cell: Cell, trials: number) => {
    const { expectedMs, tookMs } = seen.get(kind) ?? { expectedMs: 1, tookMs: 1 };
    return (expectedTurnMs(kind, cell, trials) * tookMs) / expectedMs;
  };
  const own = ({ name }: EstimatedClient, turns: readonly Turn[]) =>
    turns.filter(({ client }) => client === name);
  const turnsMs = ({ cell, turns }: CellPlan) =>
    clients
      .flatMap((client) => own(client, turns).map(({ trials }) => expect(client, cell, trials)))
      .reduce((sum, ms) => sum + ms, 0);
  const preparationsMs = ({ cell, turns }: CellPlan) =>
    clients
      .filter((client) => client.prepare !== undefined && own(client, turns).length > 0)
      .reduce((sum, client) => sum + expect(client, cell, LESSONS), 0);
  return {
    measured,
    turnsMs,
    cellsMs: (plans) => plans.reduce((sum, plan) => sum + preparationsMs(plan) + turnsMs(plan), 0),
  };
}

interface MeasuringParts {
  /** The end of the link that changes it and reports on it. */
  readonly link: Pick<Peer, 'shape' | 'report'>;
  readonly clients: readonly Client[];
  readonly journal: Pick<AdoptionJournal, 'append'>;
  readonly estimate: Estimate;
}

/** Twice the deadline, for browsers that visit twice; a client that takes longer has hung. */
const TRIAL_LIMIT_MS = 2 * DEADLINE_MS;
const GRACE_MS = 60_000;
/** A preparation takes some dozens of trials. */
const PREPARATION_LIMIT_MS = GRACE_MS + 50 * TRIAL_LIMIT_MS;

/** A client that hangs would keep using the link on which others are measured, so the run ends with it. */
async function withinLimit<T>(name: string, limitMs: number, work: Promise<T>): Promise<T> {
  const overdue = Promise.withResolvers<never>();
  const words = `${name} has hung for ${formatDuration(limitMs)}. What was measured is kept: run it again to go on.`;
  const timer = setTimeout(() => overdue.reject(new RunInterrupted(words)), limitMs);
  try {
    return await Promise.race([work, overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One cell's part of the run: its clients, and those that crashed, as sentences. */
function beginCell({ link, clients, journal, estimate }: MeasuringParts, { cell, turns }: CellPlan) {
  const names = new Set(turns.map(({ client }) => client));
  const present = clients.filter(({ name }) => names.has(name));
  const inIt = new Map(present.map((client) => [client.name, client]));
  const crashes: string[] = [];

  /**
   * The client's result, or null if it crashed: it then has no more turns in this cell, and its error is recorded.
   * Rejects with RunInterrupted if it takes longer than the limit.
   */
  async function resultOrNull<T>(
    { name }: Client,
    limitMs: number,
    work: () => Promise<T>,
  ): Promise<T | null> {
    try {
      return await withinLimit(name, limitMs, work());
    } catch (cause) {
      if (cause instanceof RunInterrupted) throw cause;
      inIt.delete(name);
      const error = messageOf(cause);
      crashes.push(`${name} crashed at ${cell.id} and has no more turns there: ${error}`);
      const where = { scenario: cell.id, client: name, endedAtMs: Date.now() };
      await journal.append({ kind: 'crash', ...where, error });
      return null;
    }
  }

  return {
    crashes,
    present,
    async prepare(client: Client): Promise<void> {
      const startedMs = performance.now();
      await resultOrNull(client, PREPARATION_LIMIT_MS, async () => client.prepare?.());
      const tookMs = performance.now() - startedMs;
      if (client.prepare !== undefined) estimate.measured(client, cell, LESSONS, tookMs);
    },
    async take({ client: name, number, trials: wanted }: Turn): Promise<void> {
      const client = inIt.get(name);
      if (client === undefined) return;
      // Discards what the previous client's connections were still sending.
      await link.report();
      const startedMs = performance.now();
      const trials = await resultOrNull(client, GRACE_MS + wanted * TRIAL_LIMIT_MS, async () => {
        const given = await client.run(wanted);
        if (given.length !== wanted)
          throw new Error(`${name} gave ${given.length} trials when asked for ${wanted}`);
        return given;
      });
      if (trials === null) return;
      estimate.measured(client, cell, wanted, performance.now() - startedMs);
      const where = { scenario: cell.id, client: name, turn: number, endedAtMs: Date.now() };
      await journal.append({ kind: 'turn', ...where, trials, link: await link.report() });
    },
  };
}

/** Measures what remains of the plan, recording each turn in the journal. Rejects with RunInterrupted. */
export async function measure(measuring: MeasuringParts, plan: readonly CellPlan[]): Promise<void> {
  const { link, estimate } = measuring;
  for (const [index, cellPlan] of plan.entries()) {
    const { cell, turns } = cellPlan;
    if (turns.length === 0) continue;
    const step = beginStep(`${cell.id}, cell ${index + 1} of ${plan.length}`);
    const half = { delayMs: cell.delayMs / 2 };
    await link.shape({ up: half, down: { ...half, loss: { kind: 'independent', share: cell.loss } } });
    const run = beginCell(measuring, cellPlan);
    for (const client of run.present) {
      step.detail(`preparing ${client.name}`);
      await run.prepare(client);
    }
    for (const [done, turn] of turns.entries()) {
      const hereMs = estimate.turnsMs({ cell, turns: turns.slice(done) });
      const left = formatDuration(hereMs + estimate.cellsMs(plan.slice(index + 1)));
      step.detail(`${turn.client}, turn ${done + 1} of ${turns.length}, ${left} left in all`);
      await run.take(turn);
    }
    step.end(run.crashes.length === 0, `${turns.reduce((sum, { trials }) => sum + trials, 0)} trials`);
    for (const crash of run.crashes) printLine(`    ${crash}`);
  }
}
