// From a journal to what a run has measured, be it complete or not.
import type { LabTrial } from '../trial.ts';
import { turnKey } from './plan.ts';
import type { AdoptionRecord, Turn } from './record.ts';
import type { AdoptionRun, CellResult } from './run.ts';

/** The turns that need not be made again, as `turnKey` names them. */
export function doneTurns({ turns }: Pick<AdoptionRecord, 'turns'>): Set<string> {
  const done = turns.filter((line) => line.kind === 'turn');
  return new Set(done.map(({ scenario, client, turn }) => turnKey(scenario, client, turn)));
}

function cellResult({ meta, turns: lines }: AdoptionRecord, cell: CellResult['cell']): CellResult {
  const here = lines.filter(({ scenario }) => scenario === cell.id);
  const trials: Record<string, readonly LabTrial[]> = {};
  const crashed: Record<string, string> = {};
  for (const { name } of meta.asked.clients) {
    const own = here.filter(({ client }) => client === name);
    const last = own.at(-1);
    if (last?.kind === 'crash') crashed[name] = last.error;
    const turns = own.filter((line) => line.kind === 'turn');
    if (turns.length > 0) trials[name] = turns.flatMap((turn) => turn.trials);
  }
  const turns = here.filter((line): line is Turn => line.kind === 'turn');
  return {
    cell,
    trials,
    link: turns.map(({ client, link }) => ({ client: client, report: link })),
    ...(Object.keys(crashed).length > 0 && { crashed }),
  };
}

/** How many of the trials that the run asks for are in its cells. */
export function progress(recorded: AdoptionRecord): { readonly made: number; readonly asked: number } {
  const { clients, scenarios } = recorded.meta.asked;
  const perCell = clients.reduce((sum, { trials }) => sum + trials, 0);
  const made = collect(recorded)
    .cells.flatMap(({ trials }) => Object.values(trials))
    .reduce((sum, trials) => sum + trials.length, 0);
  return { made, asked: perCell * scenarios.length };
}

/** What the expectations of `quick` are held against. */
export function collect(recorded: AdoptionRecord): AdoptionRun {
  const { asked, found } = recorded.meta;
  return { absent: found.absent, cells: asked.scenarios.map((cell) => cellResult(recorded, cell)) };
}
