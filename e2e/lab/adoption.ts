// Which protocol a race ends with and how soon there is a connection, over P2's delays and losses: ours beside peers and
// browsers.
import { say } from '../run/display.ts';
import { CLIENTS } from './adoption/clients.ts';
import { progress } from './adoption/collect.ts';
import { Overdue } from './adoption/measure.ts';
import { parseOptions, USAGE } from './adoption/options.ts';
import { runAdoption } from './adoption/session.ts';
import { laboratoryOpens, runExperiment } from './experiment.ts';
import { folderOf, sayReport } from './folder.ts';

const DIR = folderOf('adoption');

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args, CLIENTS);
  if (!(await laboratoryOpens())) return 1;
  try {
    const { journal } = await runAdoption({ ...options, checksLink: true }, DIR);
    const { made, asked } = progress(journal);
    if (made < asked) say(`\n${made} of ${asked} trials were measured; run it again to measure the others.`);
    sayReport(DIR);
    return made < asked ? 1 : 0;
  } catch (error) {
    if (!(error instanceof Overdue)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

await runExperiment(USAGE, main);
