// `npm run bench -- NAME [args]`: builds, then runs e2e/bench/NAME.ts with the arguments; `all` runs each of them, and
// no name lists them.
import { join } from 'node:path';
import { TOP } from '../scratch.ts';
import { endCommandsOnSignals } from './command.ts';
import { buildAndRun, list, type Programs } from './programs.ts';

const BENCHMARKS: Programs = {
  noun: 'benchmark',
  folder: join(TOP, 'e2e', 'bench'),
  // A benchmark is what publishes a result under its own name; the folder's other files are its parts.
  isProgram: (source, name) => source.includes(`publish('${name}'`),
};

const [name, ...args] = process.argv.slice(2);
endCommandsOnSignals();
if (name === undefined) list(BENCHMARKS, 'usage: npm run bench -- NAME|all [ARGUMENT...]');
else process.exitCode = await buildAndRun(BENCHMARKS, name === 'all' ? null : name, args);
