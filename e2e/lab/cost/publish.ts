// What a run of `cost` leaves behind: tables and claims on the terminal; JSON, CSV and a page in its own folder.
import { cpus, release } from 'node:os';
import { csvText } from '@photofinish/shared/csv';
import { say } from '../../run/display.ts';
import { leaveResults } from '../folder.ts';
import { formatGoals, type GoalRow } from '../results/goal-row.ts';
import { formatResultTable } from '../results/tables.ts';
import { SERVER_TITLES } from './cells.ts';
import { costGoals } from './claims.ts';
import { JUDGED_SECONDS } from './options.ts';
import { costPage } from './page.ts';
import type { CostRecord } from './record.ts';
import { summarise } from './summary.ts';
import { costTables, samplesCsvRows } from './tables.ts';

function conditionsOf({ meta, turns }: CostRecord): (readonly [string, string])[] {
  const { asked, seed, startedAtMs } = meta;
  const { loads } = meta.found;
  const versions = new Map(
    turns.map(({ scenario, serverVersion }) => [scenario.split('-')[0] ?? '', serverVersion]),
  );
  return [
    ['begun', new Date(startedAtMs).toISOString()],
    ['machine', `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${process.platform} ${release()}`],
    ['seconds a cell', String(asked.seconds)],
    ['seed', String(seed)],
    ...loads.map(({ server, driven }): readonly [string, string] => [
      `${SERVER_TITLES[server]} ${versions.get(server) ?? ''}`.trim(),
      driven.length === 0 ? 'no load was driven' : `${driven.join(', ')} requests a second`,
    ]),
  ];
}

/** Prints what a run has measured and writes it with every sample to `.photofinish/lab/cost/`; gives the claims' rows. */
export async function publishCost(recorded: CostRecord): Promise<GoalRow[]> {
  const { meta, turns } = recorded;
  const { seed, asked, found } = meta;
  const { seconds } = asked;
  const summaries = summarise(found.scenarios, turns);
  const tooFew = seconds < JUDGED_SECONDS ? `${seconds} of ${JUDGED_SECONDS} seconds a cell` : undefined;
  const goals = costGoals(summaries, { seed, tooFew });
  const tables = costTables(summaries, found.loads);
  say(`\n${[...tables.map(formatResultTable), formatGoals(goals)].join('\n\n')}`);

  const document = {
    schema: 'photofinish.lab.cost-result/1',
    conditions: Object.fromEntries(conditionsOf(recorded)),
    asked,
    loads: found.loads,
    goals,
    cells: found.scenarios,
    segments: turns,
  };
  await leaveResults('cost', {
    'cost.json': `${JSON.stringify(document, null, 1)}\n`,
    'samples.csv': csvText(samplesCsvRows(summaries)),
    'cost.html': costPage({ summaries, goals, tables, conditions: conditionsOf(recorded) }),
  });
  return goals;
}
