// The ways a path can be while an origin is raced over it, and what the command line's records say of each: one number
// a run, the median of a few cold trials in one process.
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type Attempt,
  type OriginRace,
  raceDocumentSchema,
  type Summary,
  type Trial,
} from '@photofinish/shared/outcome';
import { median } from '@photofinish/shared/statistics';
import * as v from 'valibot';
import { type Laboratory, PORT } from '../network/laboratory.ts';
import type { Obstacle } from '../network/obstacles.ts';
import type { Shape } from '../network/shape.ts';
import { TOP } from '../scratch.ts';
import { buildBareQuinn } from './bare-quinn.ts';

/** Trials in one process: the first pays for nothing, since all is rehearsed before it. */
const TRIALS = 5;
/** Ends a black hole's beaten HTTP/3, which runs on; far later than any old HTTP here is established. */
const SHORT_TIMEOUT = ['--timeout', '400'];
const COLD = ['--memory', 'none', '--trials', String(TRIALS)];
const BARE_TLS = join(TOP, 'e2e/bench/bare-tls.ts');

const LOST_UDP: Obstacle = { transport: 'udp', effect: 'drop', port: PORT };
const LOST_TCP: Obstacle = { transport: 'tcp', effect: 'drop', port: PORT };
const REFUSED_UDP: Obstacle = { transport: 'udp', effect: 'refuse', port: PORT };

function middle(values: readonly number[]): number {
  const value = median(values);
  if (value === null) throw new Error('nothing was measured');
  return value;
}

function attemptOf(trial: Trial, protocol: Attempt['protocol']): Attempt {
  const attempt = trial.attempts.find((candidate) => candidate.protocol === protocol);
  if (attempt === undefined) throw new Error(`no attempt over ${protocol}`);
  return attempt;
}

/** Time to established; most trials must have gone as expected, or it is another measurement. */
function establishedOver(protocol: Attempt['protocol'], { trials }: OriginRace): number {
  const won = trials.filter(({ adopted }) => adopted === protocol);
  if (2 * won.length < trials.length) throw new Error(`${protocol} won ${won.length} of ${trials.length}`);
  return middle(won.map(({ establishedMs }) => establishedMs ?? Number.NaN));
}

/** From HTTP/3's refusal to old HTTP's start. The refusal takes a round trip, and so does TCP's connecting after it. */
function startAfterRefusal({ trials }: OriginRace): number {
  const delays = trials.map((trial) => {
    const [quic, tcp] = [attemptOf(trial, 'h3'), attemptOf(trial, 'h2')];
    if (quic.error?.code !== 'udp-refused') throw new Error(`HTTP/3 ended with ${quic.error?.code}`);
    const roundTripMs = (tcp.transportMs ?? Number.NaN) - tcp.startedMs;
    return tcp.startedMs - quic.startedMs - roundTripMs;
  });
  return middle(delays);
}

/** What can be measured over a laboratory's link, each on the path it needs; the path stays so until the next. */
export function brokenPaths(laboratory: Laboratory, cacheFile: string) {
  const { client, server, origin, caPath } = laboratory;
  const pinned = laboratory.pinned(server.ipv4);
  const on = async (obstacles: readonly Obstacle[], ...args: string[]): Promise<OriginRace> => {
    await server.obstruct(obstacles);
    const [race] = (await laboratory.race(...args, ...pinned)).races;
    if (race === undefined) throw new Error('no race');
    return race;
  };
  const bare = async (file: string, ...args: string[]): Promise<number> => {
    await server.obstruct([]);
    const { code, stdout, stderr } = await client.run(file, args);
    if (code !== 0) throw new Error(stderr);
    return middle(JSON.parse(stdout) as number[]);
  };
  const remembering = ['--memory', 'full', '--cache', cacheFile];

  return {
    bareQuic: async () =>
      bare(await buildBareQuinn(), `${server.ipv4}:${PORT}`, origin.host, caPath, String(TRIALS)),
    bareTls: () =>
      bare(process.execPath, BARE_TLS, server.ipv4, String(PORT), origin.host, caPath, String(TRIALS)),
    alone: async (mode: 'h3' | 'h2') => establishedOver(mode, await on([], '--mode', mode, ...COLD)),
    raced: async () => establishedOver('h3', await on([], ...COLD)),
    blackHole: async () => establishedOver('h2', await on([LOST_UDP], ...COLD, ...SHORT_TIMEOUT)),
    refused: async () => startAfterRefusal(await on([REFUSED_UDP], ...COLD, '--start-delay', '500')),

    /** Lets the helper find out that UDP to the host is lost. */
    async learnBroken(): Promise<void> {
      await on([LOST_UDP], ...remembering, ...SHORT_TIMEOUT);
    },
    /** As `blackHole` once that is known; every attempt over HTTP/3 is an error. */
    async knownBroken(): Promise<number> {
      const race = await on([LOST_UDP], ...remembering, ...SHORT_TIMEOUT, '--trials', String(TRIALS));
      const tried = race.trials.flatMap(({ attempts }) => attempts).filter((a) => a.protocol === 'h3');
      if (tried.length > 0) throw new Error('HTTP/3 was tried although it is known to be broken');
      return establishedOver('h2', race);
    },

    /** From the beginning of a trial with both protocols dead to the first byte of its record; whole milliseconds. */
    async bothDead(timeoutMs: number): Promise<number> {
      await server.obstruct([LOST_UDP, LOST_TCP]);
      const args = ['--memory', 'none', '--timeout', String(timeoutMs), '--json', ...pinned];
      const child = laboratory.start('race', origin.origin, ...args);
      const ended = text(child.stdout);
      await once(child.stdout, 'readable');
      const endedAtMs = Date.now();
      const [race] = v.parse(raceDocumentSchema, JSON.parse(await ended)).races;
      if (race?.summary.failed !== 1) throw new Error('a dead origin was adopted');
      return endedAtMs - race.atMs;
    },

    /** What cold races adopt over a link of that shape, which stays. */
    async adopted(shape: Shape, trials: number, ...args: string[]): Promise<Summary> {
      await server.shape({ up: shape, down: shape });
      return (await on([], '--memory', 'none', '--trials', String(trials), ...args)).summary;
    },
  };
}
