// The measuring loop: cell by cell and turn by turn, nothing in parallel.
import type { Peer } from '../../network/open.ts';
import { beginStep, formatDuration, say } from '../../run/display.ts';
import { type Client, DEADLINE_MS } from '../client.ts';
import { RunInterrupted } from '../experiment.ts';
import type { Line } from './adoption-record.ts';
import type { Cell, CellPlan, Estimate, Turn } from './turn-plan.ts';

/** The end of the link that changes it and reports on it. */
type Link = Pick<Peer, 'shape' | 'report'>;

export interface Measuring {
  readonly link: Link;
  readonly clients: readonly Client[];
  readonly journal: { append(line: Line): Promise<void> };
  readonly estimate: Estimate;
}

async function setLink(link: Link, { delayMs, loss }: Cell): Promise<void> {
  const half = { delayMs: delayMs / 2 };
  await link.shape({ up: half, down: { ...half, loss: { kind: 'independent', share: loss } } });
}

/** Twice the deadline, for browsers that visit twice; a client that takes longer has hung. */
const TRIAL_LIMIT_MS = 2 * DEADLINE_MS;
const GRACE_MS = 60_000;
/** A preparation takes some dozens of trials. */
const PREPARATION_LIMIT_MS = GRACE_MS + 50 * TRIAL_LIMIT_MS;

/** A client that hangs would keep using the link on which others are measured, so the run ends with it. */
async function inTime<T>(name: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const limit = formatDuration(limitMs);
      reject(
        new RunInterrupted(
          `${name} has hung for ${limit}. What was measured is kept: run it again to go on.`,
        ),
      );
    }, limitMs);
  });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/** One cell's part of the run: the clients still taking part, and progress messages. */
class CellRun {
  readonly #measuring: Measuring;
  readonly #cell: Cell;
  readonly #inIt: Map<string, Client>;
  readonly #crashes: string[] = [];

  constructor(measuring: Measuring, { cell, turns }: CellPlan) {
    this.#measuring = measuring;
    this.#cell = cell;
    const names = new Set(turns.map(({ client }) => client));
    const present = measuring.clients.filter(({ name }) => names.has(name));
    this.#inIt = new Map(present.map((client) => [client.name, client]));
  }

  /** The clients that crashed, as sentences. */
  get crashes(): readonly string[] {
    return this.#crashes;
  }

  get inIt(): readonly Client[] {
    return [...this.#inIt.values()];
  }

  /**
   * The client's result, or null if it crashed: it then has no more turns in this cell, and its error is recorded.
   * Rejects with RunInterrupted if it takes longer than the limit.
   */
  async #orOut<T>(client: Client, limitMs: number, work: () => Promise<T>): Promise<T | null> {
    const { name } = client;
    try {
      return await inTime(name, limitMs, work());
    } catch (cause) {
      if (cause instanceof RunInterrupted) throw cause;
      this.#inIt.delete(name);
      const error = cause instanceof Error ? cause.message : String(cause);
      this.#crashes.push(`${name} broke off at ${this.#cell.id} and has no more turns there: ${error}`);
      const where = { scenario: this.#cell.id, client: name, endedAtMs: Date.now() };
      await this.#measuring.journal.append({ kind: 'crash', ...where, error });
      return null;
    }
  }

  async prepare(client: Client): Promise<void> {
    const startedMs = performance.now();
    await this.#orOut(client, PREPARATION_LIMIT_MS, async () => client.prepare?.());
    const tookMs = performance.now() - startedMs;
    if (client.prepare !== undefined) this.#measuring.estimate.prepared(client.name, this.#cell, tookMs);
  }

  async take({ client: name, number, trials: wanted }: Turn): Promise<void> {
    const client = this.#inIt.get(name);
    if (client === undefined) return;
    const { link, journal, estimate } = this.#measuring;
    // Discards what the previous client's connections were still sending.
    await link.report();
    const startedMs = performance.now();
    const trials = await this.#orOut(client, GRACE_MS + wanted * TRIAL_LIMIT_MS, async () => {
      const given = await client.run(wanted);
      if (given.length !== wanted)
        throw new Error(`${name} gave ${given.length} trials when asked for ${wanted}`);
      return given;
    });
    if (trials === null) return;
    estimate.measured(name, this.#cell, wanted, performance.now() - startedMs);
    const where = { scenario: this.#cell.id, client: name, turn: number, endedAtMs: Date.now() };
    await journal.append({ kind: 'turn', ...where, trials, link: await link.report() });
  }
}

/** Measures what remains of the plan, recording each turn in the journal. Rejects with RunInterrupted. */
export async function measure(measuring: Measuring, plan: readonly CellPlan[]): Promise<void> {
  for (const [index, cellPlan] of plan.entries()) {
    const { cell, turns } = cellPlan;
    if (turns.length === 0) continue;
    const step = beginStep(`${cell.id}, cell ${index + 1} of ${plan.length}`);
    await setLink(measuring.link, cell);
    const run = new CellRun(measuring, cellPlan);
    for (const client of run.inIt) {
      step.detail(`preparing ${client.name}`);
      await run.prepare(client);
    }
    for (const [done, turn] of turns.entries()) {
      const { estimate } = measuring;
      const hereMs = estimate.turnsMs({ cell, turns: turns.slice(done) });
      const left = formatDuration(hereMs + estimate.cellsMs(plan.slice(index + 1)));
      step.detail(`${turn.client}, turn ${done + 1} of ${turns.length}, ${left} left in all`);
      await run.take(turn);
    }
    step.end(run.crashes.length === 0, `${turns.reduce((sum, { trials }) => sum + trials, 0)} trials`);
    for (const crash of run.crashes) say(`    ${crash}`);
  }
}
