// Benchmarks and experiments, each a file of one folder that an npm script runs by its name: how they are started.
import { build } from './build.ts';
import { type Command, runInView } from './command.ts';
import { artefactsFor, nounOf, programFile, readCommandLine } from './command-lines.mjs';
import { heading } from './display.ts';

type Invocation = Pick<Command, 'file' | 'args'>;

/**
 * Makes what they need, then runs the programs that the words name, one after the other. `prepare` gives what a
 * program's command line has to become for it to do its work here. Gives the code to exit with: the worst of theirs, 1 if
 * the build fails.
 */
export async function buildAndRun(
  command: 'bench' | 'lab',
  words: readonly string[],
  prepare: (command: Invocation) => Promise<Invocation> = async (plain) => plain,
): Promise<number> {
  const asked = readCommandLine(command, words);
  if (!(await build(artefactsFor(asked)))) return 1;
  const noun = nounOf(command);
  let worst = 0;
  for (const name of asked.names) {
    heading(`${noun[0]?.toUpperCase()}${noun.slice(1)} ${name}`);
    const plain = { file: process.execPath, args: [programFile(command, name), ...(asked.rest ?? [])] };
    worst = Math.max(worst, await runInView(await prepare(plain)));
  }
  return worst;
}
