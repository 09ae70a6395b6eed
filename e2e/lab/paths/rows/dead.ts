// Both paths dead: a race ends at its deadline.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type CommandLine, recordIn } from '../../photofinish.ts';
import { LOST_TCP, LOST_UDP } from '../obstacles.ts';
import { CLEAN, type Row } from '../row.ts';

const DEADLINES_MS = [1000, 3000];
/** Seconds of waiting, most of them: the trials of all deadlines. */
const WAITED_MS = DEADLINES_MS.reduce((sum, ms) => sum + ms, 0);
const START_MS = 400;

/** From the beginning of a trial, by its record, to the first byte of that record, beyond the deadline; whole ms. */
async function beyondDeadlineMs(command: CommandLine, deadlineMs: number): Promise<number> {
  const child = command.start('--memory', 'none', '--timeout', String(deadlineMs));
  const ended = text(child.stdout);
  await once(child.stdout, 'readable');
  const endedAtMs = Date.now();
  const race = recordIn(await ended);
  if (race.summary.failed !== 1) throw new Error('a dead origin was adopted');
  return endedAtMs - race.atMs - deadlineMs;
}

export const dead: Row = {
  name: 'dead',
  title: 'UDP and TCP lost: the end of a race beyond its deadline',
  trials: { usual: 5, full: 30 },
  trialMs: WAITED_MS + DEADLINES_MS.length * START_MS,
  fixedMs: 1000,
  async measure({ testbed: { server }, command, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([LOST_UDP, LOST_TCP]);
    for (const deadlineMs of DEADLINES_MS) {
      const [name, title] = [`deadline-${deadlineMs}`, `ours, deadline ${deadlineMs} ms`];
      for (let turn = 0; turn < trials; turn += 1) {
        progress(`deadline ${deadlineMs} ms, ${turn} of ${trials} trials`);
        await record({ scenario: 'dead', turn }, { name, title, kind: 'ours' }, async () => [
          { beyondDeadlineMs: await beyondDeadlineMs(command, deadlineMs) },
        ]);
      }
    }
  },
};
