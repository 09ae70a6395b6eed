// The measuring itself: cell by cell, turn by turn, nothing side by side.

import type { Peer } from '../../network/open.ts';
import { beginStep, say } from '../../run/display.ts';
import type { Contestant } from '../contestant.ts';
import { type Estimate, formatDuration } from './estimate.ts';
import type { Journal } from './journal.ts';
import type { CellPlan, Turn } from './plan.ts';
import type { Cell } from './run.ts';

/** The link's end that it is changed by and asked at. */
type Link = Pick<Peer, 'shape' | 'report'>;

export interface Measuring {
  readonly link: Link;
  readonly contestants: readonly Contestant[];
  readonly journal: Journal;
  readonly estimate: Estimate;
}

async function setLink(link: Link, { delayMs, loss }: Cell): Promise<void> {
  const half = { delayMs: delayMs / 2 };
  await link.shape({ up: half, down: { ...half, loss: { kind: 'independent', share: loss } } });
}

/** One cell's part of the work: who is still in it, and what is said meanwhile. */
class CellRun {
  readonly #measuring: Measuring;
  readonly #cell: Cell;
  readonly #inIt: Map<string, Contestant>;

  constructor(measuring: Measuring, { cell, turns }: CellPlan) {
    this.#measuring = measuring;
    this.#cell = cell;
    const names = new Set(turns.map(({ contestant }) => contestant));
    const present = measuring.contestants.filter(({ name }) => names.has(name));
    this.#inIt = new Map(present.map((contestant) => [contestant.name, contestant]));
  }

  get inIt(): readonly Contestant[] {
    return [...this.#inIt.values()];
  }

  /** Does it; a contestant that breaks off is out of this cell, and its words are kept. */
  async #orOut(contestant: Contestant, does: () => Promise<void>): Promise<void> {
    try {
      await does();
    } catch (error) {
      this.#inIt.delete(contestant.name);
      const words = error instanceof Error ? error.message : String(error);
      say(`  ✗ ${contestant.name} broke off at ${this.#cell.id} and is left out of it: ${words}`);
      await this.#measuring.journal.append({
        kind: 'crash',
        cell: this.#cell.id,
        contestant: contestant.name,
        endedAtMs: Date.now(),
        error: words,
      });
    }
  }

  async prepare(contestant: Contestant): Promise<void> {
    await this.#orOut(contestant, async () => contestant.prepare?.());
  }

  async take({ contestant: name, number, trials }: Turn): Promise<void> {
    const contestant = this.#inIt.get(name);
    if (contestant === undefined) return;
    const { link, journal, estimate } = this.#measuring;
    await this.#orOut(contestant, async () => {
      // What the last one's connections still sent is not this one's.
      await link.report();
      const startedMs = performance.now();
      const measured = await contestant.run(trials);
      estimate.measured(contestant.kind, this.#cell, trials, performance.now() - startedMs);
      if (measured.length !== trials)
        throw new Error(`${name} gave ${measured.length} trials when asked for ${trials}`);
      await journal.append({
        kind: 'turn',
        cell: this.#cell.id,
        contestant: name,
        number,
        endedAtMs: Date.now(),
        trials: measured,
        link: await link.report(),
      });
    });
  }
}

/** Measures whatever the plan still has, the journal keeping each turn; gives whether nobody broke off. */
export async function measure(measuring: Measuring, plan: readonly CellPlan[]): Promise<boolean> {
  let complete = true;
  for (const [index, cellPlan] of plan.entries()) {
    const { cell, turns } = cellPlan;
    if (turns.length === 0) continue;
    const step = beginStep(`${cell.id}, cell ${index + 1} of ${plan.length}`);
    await setLink(measuring.link, cell);
    const run = new CellRun(measuring, cellPlan);
    const entered = run.inIt.length;
    for (const contestant of run.inIt) {
      step.detail(`preparing ${contestant.name}`);
      await run.prepare(contestant);
    }
    for (const [done, turn] of turns.entries()) {
      const left = [{ cell, turns: turns.slice(done) }, ...plan.slice(index + 1)];
      const leftText = formatDuration(measuring.estimate.leftMs(left));
      step.detail(`${turn.contestant}, turn ${done + 1} of ${turns.length}, ${leftText} left in all`);
      await run.take(turn);
    }
    const whole = run.inIt.length === entered;
    complete &&= whole;
    step.end(whole, `${turns.reduce((sum, { trials }) => sum + trials, 0)} trials`);
  }
  return complete;
}
