// Both paths dead: a race ends at its deadline.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type CommandLine, recordIn } from '../../photofinish.ts';
import { atLeast, atMost, type Figure, figureOf } from '../figure.ts';
import { LOST_TCP, LOST_UDP } from '../obstacles.ts';
import { CLEAN, type Row } from '../row.ts';

const DEADLINES_MS = [1000, 3000];
/** Seconds of waiting, most of them: the trials of all deadlines. */
const WAITED_MS = DEADLINES_MS.reduce((sum, ms) => sum + ms, 0);
const START_MS = 400;
const WITHIN_MS = 10;

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
  async measure({ scene: { server }, command, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([LOST_UDP, LOST_TCP]);
    const figures: Figure[] = [];
    for (const deadlineMs of DEADLINES_MS) {
      const samples: number[] = [];
      while (samples.length < trials) {
        progress(`deadline ${deadlineMs} ms, ${samples.length} of ${trials} trials`);
        const client = {
          name: `deadline-${deadlineMs}`,
          title: `ours, deadline ${deadlineMs} ms`,
          kind: 'ours',
        } as const;
        const where = { scenario: 'dead', turn: samples.length };
        const made = await record(where, client, async () => [
          { beyondDeadlineMs: await beyondDeadlineMs(command, deadlineMs) },
        ]);
        samples.push(...made.map((trial) => trial.beyondDeadlineMs));
      }
      const saying = { group: dead.title, unit: 'ms', anchor: "the paper's code waits for ever" };
      const name = `ours, deadline ${deadlineMs} ms`;
      figures.push(
        figureOf({ ...saying, name: `${name}, median`, goal: atMost(WITHIN_MS) }, 'median', samples),
        figureOf({ ...saying, name: `${name}, median, not before it`, goal: atLeast(0) }, 'median', samples),
        figureOf({ ...saying, name: `${name}, worst` }, 'max', samples),
      );
    }
    return figures;
  },
};
