// What racing costs a server in processor time and memory, and what a cache takes away: P1's three test cases over HTTP/2
// and HTTP/3, driven by our own client.
import { say } from '../run/display.ts';
import { type CostOptions, parseOptions, USAGE } from './cost/options.ts';
import { publishCost } from './cost/publish.ts';
import { COST } from './cost/record.ts';
import { DIR, type Outcome, runCost } from './cost/session.ts';
import { laboratoryOpens, runExperiment } from './experiment.ts';
import { readJournal } from './journal.ts';
import { anyMissed } from './results/goal-row.ts';

/** Null after having said why there is nothing. */
async function obtain(options: CostOptions): Promise<Outcome | null> {
  if (options.resultsOnly) {
    const recorded = await readJournal(DIR, COST);
    if (recorded === null) say('Nothing has been measured yet.');
    return recorded && { recorded, complete: true };
  }
  return (await laboratoryOpens()) ? runCost(options) : null;
}

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  const outcome = await obtain(options);
  if (outcome === null) return 1;
  const goals = await publishCost(outcome.recorded);
  return outcome.complete && !(options.strict && anyMissed(goals)) ? 0 : 1;
}

await runExperiment(USAGE, main);
