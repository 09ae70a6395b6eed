// How the program of every experiment begins and ends.
import { networkUnavailable } from '../network/available.ts';
import { say } from '../run/display.ts';
import { BadUsage } from './command-line.ts';

/** Whether the laboratory can be opened here; says why it cannot. */
export async function laboratoryOpens(): Promise<boolean> {
  const why = await networkUnavailable('tun');
  if (why !== null) say(`The laboratory cannot be opened here: ${why}`);
  return why === null;
}

/**
 * Gives the experiment the words of the command line, and the process its exit code; for BadUsage that is 2. `--help`
 * only says what the words are.
 */
export async function runExperiment(
  usage: string,
  experiment: (args: readonly string[]) => Promise<number>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) return say(usage);
  try {
    process.exitCode = await experiment(args);
  } catch (error) {
    if (!(error instanceof BadUsage)) throw error;
    process.stderr.write(`${error.message}\n${usage}\n`);
    process.exitCode = 2;
  }
}
