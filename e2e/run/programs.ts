// `npm run bench -- NAME` and `npm run lab -- NAME [ARGUMENT...]`: builds what the program needs, then runs the file of
// that name in e2e/bench or e2e/lab; `all` runs every benchmark.
import { ONLY_ARGUMENTS } from '../lab/experiment.ts';
import { withNetworks } from '../network/open.ts';
import { build } from './artefacts.ts';
import { artefactsFor, nounOf, programFile, readCommandLine } from './command-lines.mjs';
import { heading } from './display.ts';
import { endCommandsOnSignals, runInView } from './step-command.ts';

/** Builds what the named programs need, then runs them; returns the highest of their exit codes. */
async function buildAndRun(command: 'bench' | 'lab', words: readonly string[]): Promise<number> {
  const request = readCommandLine(command, words);
  const commandOf = (name: string) => ({
    file: process.execPath,
    args: [programFile(command, name), ...(request.rest ?? [])],
  });
  // Only the experiment knows its arguments; a mistake in them must not cost the build.
  if (command === 'lab')
    for (const name of request.names) {
      const code = await runInView({ ...commandOf(name), env: { [ONLY_ARGUMENTS]: '1' } });
      if (code !== 0) return code;
    }
  if (!(await build(artefactsFor(request)))) return 1;
  const noun = nounOf(command);
  let worst = 0;
  for (const name of request.names) {
    heading(`${noun[0]?.toUpperCase()}${noun.slice(1)} ${name}`);
    const plain = commandOf(name);
    worst = Math.max(worst, await runInView(command === 'lab' ? await withNetworks(plain) : plain));
  }
  return worst;
}

endCommandsOnSignals();
const [command, ...words] = process.argv.slice(2);
process.exitCode = await buildAndRun(command === 'lab' ? 'lab' : 'bench', words);
