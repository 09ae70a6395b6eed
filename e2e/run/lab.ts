// `npm run lab -- NAME [ARGUMENT...]`: makes what it needs, then runs e2e/lab/NAME.ts with the arguments.
import { withNetworks } from '../network/unprivileged.ts';
import { endCommandsOnSignals } from './command.ts';
import { buildAndRun } from './programs.ts';

endCommandsOnSignals();
process.exitCode = await buildAndRun('lab', process.argv.slice(2), withNetworks);
