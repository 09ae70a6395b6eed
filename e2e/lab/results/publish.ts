// What a run of `adoption` leaves behind: tables and goals on the terminal; JSON, CSV and a page in its own folder.
import { describeMachine } from '../../bench/result.ts';
import { say } from '../../run/display.ts';
import type { AdoptionRun } from '../adoption/run.ts';
import { leaveResults } from '../folder.ts';
import { adoptionPage } from './adoption-page.ts';
import { cellsCsv, trialsCsv } from './csv-files.ts';
import { type Derived, derive } from './figures.ts';
import { formatGoals, type GoalRow } from './goal-row.ts';
import { adoptionGoals } from './goals.ts';
import { adoptionDocument } from './json-file.ts';
import { linkAccuracy } from './link-accuracy.ts';
import { formatMisses, MISSING_TITLE, missingClients } from './misses.ts';
import { PAPER_CITATION } from './paper.ts';
import { formatResultTable, linkTable, paperTables } from './tables.ts';

/** Everything for the terminal; without a trailing newline. */
export function adoptionText(derived: Derived, goals: readonly GoalRow[]): string {
  const missing = missingClients(derived.run);
  return [
    ...paperTables(derived)
      .filter(({ rows }) => rows.length > 0)
      .map(formatResultTable),
    PAPER_CITATION,
    ...(missing.length === 0 ? [] : [`${MISSING_TITLE}\n${missing.join('\n')}`]),
    formatResultTable(linkTable(linkAccuracy(derived.run))),
    formatMisses(derived.run),
    formatGoals(goals),
  ].join('\n\n');
}

/** Prints the run's tables and goals, writes them with every trial to `.photofinish/lab/adoption/`, and gives the goals. */
export async function publishAdoption(run: AdoptionRun): Promise<readonly GoalRow[]> {
  const derived = derive(run);
  const goals = adoptionGoals(derived);
  say(adoptionText(derived, goals));
  await leaveResults('adoption', {
    'adoption.html': adoptionPage(derived, goals, describeMachine({})),
    'adoption.json': adoptionDocument(derived, goals),
    'cells.csv': cellsCsv(derived),
    'trials.csv': trialsCsv(run),
  });
  return goals;
}
