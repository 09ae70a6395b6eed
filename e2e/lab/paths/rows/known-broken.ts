// A host whose HTTP/3 is known to be broken: it costs no time against HTTP/2 alone, and no packet.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median } from '@photofinish/shared/race/statistics';
import { shuffled } from '../../../bench/random.ts';
import { scratchDirectory } from '../../../scratch.ts';
import { LOST_UDP } from '../obstacles.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';

/** A round's sample is the median of these. */
const TRIALS_A_ROUND = 5;
/** Ends the lesson's HTTP/3, which runs on. */
const LESSON_MS = 600;
const TITLES = { known: 'ours, HTTP/3 known to be broken', alone: 'ours, HTTP/2 alone' };

export const knownBroken: Row = {
  name: 'known-broken',
  title: `UDP lost and known to be, round trip ${ROUND_TRIP_MS} ms: HTTP/2 established`,
  trials: { usual: 50, full: 300 },
  trialMs: 300,
  fixedMs: 2000,
  async measure({ testbed: { client, server }, command, random, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([LOST_UDP]);
    const dir = await scratchDirectory('lab-known-broken');
    const remembering = ['--memory', 'full', '--cache', join(dir, 'cache.sqlite'), '--network', 'laboratory'];
    const middle = async (...options: string[]) => {
      const race = await command.race('--trials', String(TRIALS_A_ROUND), ...options);
      const value = median(race.trials.flatMap(({ establishedMs }) => establishedMs ?? []));
      if (value === null || race.summary.failed > 0)
        throw new Error('HTTP/2 failed on a path that carries it');
      return value;
    };
    try {
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
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
};
