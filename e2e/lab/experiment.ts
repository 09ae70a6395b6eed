// How the program of every experiment begins and ends.

import { relative } from 'node:path';
import { networkUnavailable } from '../network/available.ts';
import { say } from '../run/display.ts';
import { TOP } from '../scratch.ts';
import { BadUsage } from './command-line.ts';
import { type Form, identify, type Journal, openJournal, readJournal } from './journal.ts';

/** Whether the laboratory can be opened here; says why it cannot. */
export async function laboratoryOpens(): Promise<boolean> {
  const why = await networkUnavailable('tun');
  if (why !== null) say(`The laboratory cannot be opened here: ${why}`);
  return why === null;
}

/** What every experiment does in its own way; the order in which it is done is everyone's. */
export interface Experiment<Asked extends object, Found, Turn, Opened extends { close(): Promise<void> }> {
  readonly form: Form<Asked, Found, Turn>;
  readonly seed: number;
  /** Whether to begin anew instead of going on. */
  readonly fresh: boolean;
  /** Opens testbed and clients, losses being drawn from that seed. */
  open(seed: number): Promise<Opened>;
  /** What is to be measured, as the record says it. */
  asked(opened: Opened): Asked;
  /** What is to be found out before the first turn. */
  find(opened: Opened): Promise<Found>;
  /** Makes and records the turns that the journal does not have; whether it has all that was asked for then. */
  measure(opened: Opened, journal: Journal<Asked, Found, Turn>): Promise<boolean>;
}

/** Runs the experiment into the folder, or goes on with the run that is there. Rejects where no testbed can be opened. */
export async function record<Asked extends object, Found, Turn, Opened extends { close(): Promise<void> }>(
  { form, seed, fresh, open, asked, find, measure }: Experiment<Asked, Found, Turn, Opened>,
  dir: string,
): Promise<{ readonly journal: Journal<Asked, Found, Turn>; readonly complete: boolean }> {
  // Losses are drawn anew by a run that goes on: the same seed again would repeat those of its beginning.
  const earlier = fresh ? null : await readJournal(dir, form);
  const opened = await open(seed + (earlier?.turns.length ?? 0));
  try {
    const { journal, aside } = await openJournal(dir, form, {
      identity: await identify(seed, asked(opened)),
      startedAtMs: Date.now(),
      fresh,
      find: () => find(opened),
    });
    if (aside !== null)
      say(`  Beginning anew (${aside.because}); the earlier run is in ${relative(TOP, aside.dir)}`);
    if (journal.turns.length > 0) say(`  Going on after ${journal.turns.length} turns; --fresh begins anew`);
    return { journal, complete: await measure(opened, journal) };
  } finally {
    await opened.close();
  }
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
