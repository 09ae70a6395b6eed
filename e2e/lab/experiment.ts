// How the program of every experiment begins and ends.

import { relative } from 'node:path';
import { networkUnavailable } from '../network/available.ts';
import { say } from '../run/display.ts';
import { TOP } from '../scratch.ts';
import { BadUsage } from './command-line.ts';
import { type Form, type Journal, type Opening, openJournal } from './journal.ts';

/** Whether the laboratory can be opened here; says why it cannot. */
export async function laboratoryOpens(): Promise<boolean> {
  const why = await networkUnavailable('tun');
  if (why !== null) say(`The laboratory cannot be opened here: ${why}`);
  return why === null;
}

/** Opens the journal as `openJournal` does, and says whether that begins a run or goes on with one. */
export async function openRecord<Asked extends object, Found, Turn>(
  dir: string,
  form: Form<Asked, Found, Turn>,
  opening: Opening<Asked, Found>,
): Promise<Journal<Asked, Found, Turn>> {
  const { journal, aside } = await openJournal(dir, form, opening);
  if (aside !== null)
    say(`  Beginning anew (${aside.because}); the earlier run is in ${relative(TOP, aside.dir)}`);
  if (journal.turns.length > 0) say(`  Going on after ${journal.turns.length} turns; --fresh begins anew`);
  return journal;
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
