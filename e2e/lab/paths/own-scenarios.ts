// Scenarios that measure only our own command line, from its records: UDP refused, HTTP/3 known to be broken, and both
// paths blocked.
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import { median } from '@photofinish/shared/race/statistics';
import { shuffled } from '../../bench/measure.ts';
import { scratchIn } from '../../scratch.ts';
import { type CommandLine, recordIn } from '../client.ts';
import { batches, CLEAN, LOST_TCP, LOST_UDP, REFUSED_UDP, ROUND_TRIP_MS, type Scenario } from './scenario.ts';

function attemptOf({ attempts }: Trial, protocol: Attempt['protocol']): Attempt {
  const attempt = attempts.find((candidate) => candidate.protocol === protocol);
  if (attempt === undefined) throw new Error(`no attempt over ${protocol}`);
  return attempt;
}

/**
 * From HTTP/3's refusal to old HTTP's start; negative if the start delay ended first. A record does not say when an
 * attempt failed: the refusal takes a round trip from QUIC's start, and so does TCP's connect, which is in the record.
 * Throws if HTTP/3 was not refused, or TCP was not connected.
 */
export function afterRefusalMs(trial: Trial): number {
  const [quic, tcp] = [attemptOf(trial, 'h3'), attemptOf(trial, 'h2')];
  if (quic.error?.code !== 'udp-refused')
    throw new Error(`HTTP/3 was not refused: ${quic.error?.code ?? quic.outcome}`);
  if (tcp.transportMs === undefined || tcp.transportMs === null) throw new Error('TCP was not connected');
  const roundTripMs = tcp.transportMs - tcp.startedMs;
  return tcp.startedMs - quic.startedMs - roundTripMs;
}

const START_DELAYS_MS = [10, 250, 500, 1000];
const MOST_A_BATCH = 10;

/** UDP refused by ICMP: TCP starts because of the refusal, whatever the start delay. */
export const refused: Scenario = {
  name: 'refused',
  title: `UDP refused, round trip ${ROUND_TRIP_MS} ms: from the refusal to the start of TCP`,
  trials: { usual: 20, full: 100 },
  trialMs: 500,
  fixedMs: 3000,
  async measure({ testbed: { server }, command, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([REFUSED_UDP]);
    for (const [turn, batch] of batches(trials, MOST_A_BATCH).entries()) {
      for (const delayMs of START_DELAYS_MS) {
        progress(`start delay ${delayMs} ms, turn ${turn + 1}`);
        const options = ['--memory', 'none', '--start-delay', String(delayMs), '--trials', String(batch)];
        const [name, title] = [`start-delay-${delayMs}`, `ours, start delay ${delayMs} ms`];
        await record({ scenario: 'refused', turn }, { name, title, kind: 'ours' }, async () =>
          (await command.race(...options)).trials.map((trial) => ({ afterRefusalMs: afterRefusalMs(trial) })),
        );
      }
    }
  },
};

/** A round's sample is their median. */
const TRIALS_A_ROUND = 5;
/** Ends the lesson's HTTP/3 attempt, which would continue. */
const LESSON_MS = 600;
const TITLES = { known: 'ours, HTTP/3 known to be broken', alone: 'ours, HTTP/2 alone' };

/** A host whose HTTP/3 is known to be broken: it costs neither time compared with HTTP/2 alone, nor packets. */
export const knownBroken: Scenario = {
  name: 'known-broken',
  title: `UDP lost and known to be, round trip ${ROUND_TRIP_MS} ms: HTTP/2 established`,
  trials: { usual: 50, full: 300 },
  trialMs: 300,
  fixedMs: 2000,
  async measure({ testbed: { client, server }, command, random, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([LOST_UDP]);
    await using closing = new AsyncDisposableStack();
    const dir = await scratchIn(closing, 'lab-known-broken');
    const remembering = ['--memory', 'full', '--cache', join(dir, 'cache.sqlite'), '--network', 'laboratory'];
    const middle = async (...options: string[]) => {
      const race = await command.race('--trials', String(TRIALS_A_ROUND), ...options);
      const value = median(race.trials.flatMap(({ establishedMs }) => establishedMs ?? []));
      if (value === null || race.summary.failed > 0)
        throw new Error('HTTP/2 failed on a path that carries it');
      return value;
    };
    await command.race(...remembering, '--timeout', String(LESSON_MS));
    const counter = await client.countSent({ transport: 'udp' });
    const sides = {
      known: async () => {
        const before = await counter.read();
        const medianMs = await middle(...remembering);
        return { medianMs, udpPackets: (await counter.read()) - before };
      },
      alone: async () => ({ medianMs: await middle('--mode', 'h2', '--memory', 'none') }),
    };
    const rounds = Math.ceil(trials / TRIALS_A_ROUND);
    for (let turn = 0; turn < rounds; turn += 1) {
      progress(`${turn} of ${rounds} rounds`);
      for (const name of shuffled(['known', 'alone'] as const, random)) {
        const client = { name, title: TITLES[name], kind: 'ours' } as const;
        await record({ scenario: 'known-broken', turn }, client, async () => [await sides[name]()]);
      }
    }
  },
};

const DEADLINES_MS = [1000, 3000];
/** Mostly seconds of waiting: the trials of all deadlines. */
const WAITED_MS = DEADLINES_MS.reduce((sum, ms) => sum + ms, 0);
const START_MS = 400;

/**
 * From the start of a trial, according to its record, to the first byte of that record, beyond the deadline; integer
 * ms.
 */
async function beyondDeadlineMs(command: CommandLine, deadlineMs: number): Promise<number> {
  const child = command.start('--memory', 'none', '--timeout', String(deadlineMs));
  const ended = text(child.stdout);
  await once(child.stdout, 'readable');
  const endedAtMs = Date.now();
  const race = recordIn(await ended);
  if (race.summary.failed !== 1) throw new Error('a dead origin was adopted');
  return endedAtMs - race.atMs - deadlineMs;
}

/** Both paths blocked: a race ends at its deadline. */
export const dead: Scenario = {
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
