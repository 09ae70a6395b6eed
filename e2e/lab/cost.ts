// What racing costs a server in processor time and memory, and what a cache takes away: P1's three test cases over HTTP/2
// and HTTP/3, driven by our own client.
import { parseOptions, USAGE } from './cost/options.ts';
import { DIR, runCost } from './cost/session.ts';
import { laboratoryOpens, runExperiment } from './experiment.ts';
import { sayReport } from './folder.ts';

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if (!(await laboratoryOpens())) return 1;
  const complete = await runCost(options);
  sayReport(DIR);
  return complete ? 0 : 1;
}

await runExperiment(USAGE, main);
