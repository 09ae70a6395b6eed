// `npm run bench -- NAME`: makes what it needs, then runs e2e/bench/NAME.ts; `all` runs each of them.
import { endCommandsOnSignals } from './command.ts';
import { buildAndRun } from './programs.ts';

endCommandsOnSignals();
process.exitCode = await buildAndRun('bench', process.argv.slice(2));
