// `npm run lab -- NAME [args]`: builds, then runs e2e/lab/NAME.ts with the arguments; no name lists them.
import { join } from 'node:path';
import { withNetworks } from '../network/unprivileged.ts';
import { TOP } from '../scratch.ts';
import { endCommandsOnSignals } from './command.ts';
import { buildAndRun, list, type Programs } from './programs.ts';

const EXPERIMENTS: Programs = {
  noun: 'experiment',
  folder: join(TOP, 'e2e', 'lab'),
  // An experiment is what runs one; the folder's other files are parts of such.
  isProgram: (source) => source.includes('await runExperiment('),
  prepare: withNetworks,
};

const [name, ...args] = process.argv.slice(2);
endCommandsOnSignals();
if (name === undefined) list(EXPERIMENTS, 'usage: npm run lab -- NAME [ARGUMENT...]');
else process.exitCode = await buildAndRun(EXPERIMENTS, name, args);
