// A host whose HTTP/3 is known to be broken: it costs no time against HTTP/2 alone, and no packet.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median } from '@photofinish/shared/statistics';
import { shuffled } from '../../../bench/random.ts';
import { scratchDirectory } from '../../../scratch.ts';
import { atMost, figureOf } from '../figure.ts';
import { LOST_UDP } from '../obstacles.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import type { PathTrial } from '../turn.ts';

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
  async measure({ scene: { client, server }, command, random, record, progress }, trials) {
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
      const packets: number[] = [];
      const sides = {
        known: async () => {
          const before = await counter.read();
          const medianMs = await middle(...remembering);
          return { medianMs, udpPackets: (await counter.read()) - before };
        },
        alone: async () => ({ medianMs: await middle('--mode', 'h2', '--memory', 'none') }),
      };
      const samples: Record<keyof typeof sides, number[]> = { known: [], alone: [] };
      const rounds = Math.ceil(trials / TRIALS_A_ROUND);
      for (let round = 0; round < rounds; round += 1) {
        progress(`${round} of ${rounds} rounds`);
        for (const side of shuffled(['known', 'alone'] as const, random)) {
          const asClient = { name: side, title: TITLES[side], kind: 'ours' } as const;
          const [made] = await record<PathTrial & { medianMs: number; udpPackets?: number }>(
            { scenario: 'known-broken', turn: round },
            asClient,
            async () => [await sides[side]()],
          );
          samples[side].push(made?.medianMs ?? Number.NaN);
          if (made?.udpPackets !== undefined) packets.push(made.udpPackets);
        }
      }
      const { known, alone } = samples;
      const group = knownBroken.title;
      const paired = (compare: (side: number, baseline: number) => number) =>
        known.map((side, round) => compare(side, alone[round] ?? Number.NaN));
      const extra = paired((side, baseline) => side - baseline);
      const ratio = paired((side, baseline) => side / baseline);
      return [
        figureOf(
          { group, name: 'beyond HTTP/2 alone, by round', unit: 'ms', goal: atMost(0) },
          'median',
          extra,
        ),
        figureOf({ group, name: 'to HTTP/2 alone, by round', unit: 'x' }, 'median', ratio),
        figureOf({ group, name: 'HTTP/2 alone, median', unit: 'ms' }, 'median', alone),
        figureOf({ group, name: 'UDP packets sent', unit: 'packets', goal: atMost(0) }, 'total', packets),
      ];
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
};
