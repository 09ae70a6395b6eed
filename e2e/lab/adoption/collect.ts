// From a journal to what a run has measured, be it complete or not.
import type { LabTrial } from '../trial.ts';
import type { Recorded, TurnEntry } from './journal.ts';
import { turnKey } from './plan.ts';
import type { AdoptionRun, CellResult } from './run.ts';

/** The turns that need not be made again, as `turnKey` names them. */
export function doneTurns({ entries }: Recorded): Set<string> {
  const turns = entries.filter((entry) => entry.kind === 'turn');
  return new Set(turns.map(({ cell, contestant, number }) => turnKey(cell, contestant, number)));
}

function cellResult({ head, entries }: Recorded, cell: CellResult['cell']): CellResult {
  const here = entries.filter((entry) => entry.cell === cell.id);
  const trials: Record<string, readonly LabTrial[]> = {};
  const crashed: Record<string, string> = {};
  for (const { name } of head.identity.contestants) {
    const own = here.filter((entry) => entry.contestant === name);
    const last = own.at(-1);
    if (last?.kind === 'crash') crashed[name] = last.error;
    const turns = own.filter((entry) => entry.kind === 'turn');
    if (turns.length > 0) trials[name] = turns.flatMap((turn) => turn.trials);
  }
  const turns = here.filter((entry): entry is TurnEntry => entry.kind === 'turn');
  return {
    cell,
    trials,
    link: turns.map(({ contestant, link }) => ({ contestant, report: link })),
    ...(Object.keys(crashed).length > 0 && { crashed }),
  };
}

/** How many of the trials that the run asks for are in its cells. */
export function progress(recorded: Recorded): { readonly made: number; readonly asked: number } {
  const { contestants, cells } = recorded.head.identity;
  const perCell = contestants.reduce((sum, { trials }) => sum + trials, 0);
  const made = collect(recorded)
    .cells.flatMap(({ trials }) => Object.values(trials))
    .reduce((sum, trials) => sum + trials.length, 0);
  return { made, asked: perCell * cells.length };
}

/** What the tables are made of. */
export function collect(recorded: Recorded): AdoptionRun {
  const { head, entries } = recorded;
  const { seed, contestants, cells } = head.identity;
  return {
    startedAtMs: head.startedAtMs,
    endedAtMs: entries.at(-1)?.endedAtMs ?? head.startedAtMs,
    seed,
    trials: head.trials,
    full: head.full,
    contestants: contestants.map(({ name, title, kind, versions }) => ({ name, title, kind, versions })),
    absent: head.absent,
    cells: cells.map((cell) => cellResult(recorded, cell)),
  };
}
