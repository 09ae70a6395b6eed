// What a run of `cost` leaves behind: tables and claims on the terminal; JSON, CSV and a page in its own folder.
import { cpus, release } from 'node:os';
import { csvText } from '@photofinish/shared/csv';
import { say } from '../../run/display.ts';
import { leaveResults } from '../folder.ts';
import { formatGoals, type GoalRow } from '../results/goal-row.ts';
import { formatResultTable } from '../results/tables.ts';
import { type Cell, SERVER_TITLES } from './cells.ts';
import { costGoals } from './claims.ts';
import type { Recorded } from './journal.ts';
import { JUDGED_SECONDS } from './options.ts';
import { costPage } from './page.ts';
import { summarise } from './summary.ts';
import { costTables, samplesCsvRows } from './tables.ts';

function conditionsOf({ head, segments }: Recorded): (readonly [string, string])[] {
  const { asked, loads, startedAtMs } = head;
  const versions = new Map(
    segments.map(({ cell, serverVersion }) => [cell.split('-')[0] ?? '', serverVersion]),
  );
  return [
    ['begun', new Date(startedAtMs).toISOString()],
    ['machine', `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${process.platform} ${release()}`],
    ['seconds a cell', String(asked.seconds)],
    ['seed', String(asked.seed)],
    ...loads.map(({ server, driven }): readonly [string, string] => [
      `${SERVER_TITLES[server]} ${versions.get(server) ?? ''}`.trim(),
      driven.length === 0 ? 'no load was driven' : `${driven.join(', ')} requests a second`,
    ]),
  ];
}

/** Prints what a run has measured and writes it with every sample to `.photofinish/lab/cost/`; gives the claims' rows. */
export async function publishCost(recorded: Recorded, cells: readonly Cell[]): Promise<GoalRow[]> {
  const { head, segments } = recorded;
  const { seconds, seed } = head.asked;
  const summaries = summarise(cells, segments);
  const tooFew = seconds < JUDGED_SECONDS ? `${seconds} of ${JUDGED_SECONDS} seconds a cell` : undefined;
  const goals = costGoals(summaries, { seed, tooFew });
  const tables = costTables(summaries, head.loads);
  say(`\n${[...tables.map(formatResultTable), formatGoals(goals)].join('\n\n')}`);

  const document = {
    schema: 'photofinish.lab.cost-result/1',
    conditions: Object.fromEntries(conditionsOf(recorded)),
    asked: head.asked,
    loads: head.loads,
    goals,
    cells,
    segments,
  };
  await leaveResults('cost', {
    'cost.json': `${JSON.stringify(document, null, 1)}\n`,
    'samples.csv': csvText(samplesCsvRows(summaries)),
    'cost.html': costPage({ summaries, goals, tables, conditions: conditionsOf(recorded) }),
  });
  return goals;
}
