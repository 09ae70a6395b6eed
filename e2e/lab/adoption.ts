// Which protocol a race ends with and how soon there is a connection, over P2's delays and losses: ours beside peers and
// browsers.
import { say } from '../run/display.ts';
import { collect, progress } from './adoption/collect.ts';
import { ENTRANTS } from './adoption/contestants.ts';
import { Overdue } from './adoption/measure.ts';
import { type AdoptionOptions, parseOptions, USAGE } from './adoption/options.ts';
import { ADOPTION, type AdoptionRecord } from './adoption/record.ts';
import { runAdoption } from './adoption/session.ts';
import { laboratoryOpens, runExperiment } from './experiment.ts';
import { folderOf } from './folder.ts';
import { readJournal } from './journal.ts';
import { anyMissed } from './results/goal-row.ts';
import { publishAdoption } from './results/publish.ts';

const DIR = folderOf('adoption');

/** Null after having said why there is nothing. */
async function obtain(options: AdoptionOptions): Promise<AdoptionRecord | null> {
  if (options.resultsOnly) {
    const recorded = await readJournal(DIR, ADOPTION);
    if (recorded === null) say('Nothing has been measured yet.');
    return recorded;
  }
  if (!(await laboratoryOpens())) return null;
  try {
    return await runAdoption({ ...options, checksLink: true }, DIR);
  } catch (error) {
    if (!(error instanceof Overdue)) throw error;
    process.stderr.write(`${error.message}\n`);
    return null;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args, ENTRANTS);
  const recorded = await obtain(options);
  if (recorded === null) return 1;
  say();
  const goals = await publishAdoption(collect(recorded));
  const { made, asked } = progress(recorded);
  if (made < asked) say(`\n${made} of ${asked} trials were measured; run it again to measure the others.`);
  const missed = options.strict && anyMissed(goals);
  return made < asked || missed ? 1 : 0;
}

await runExperiment(USAGE, main);
