// Our command line as built, on the testbed's client, where it races Caddy: as a program, and as a client under test in
// one of its modes.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type OriginRace, raceDocumentSchema, type Trial } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { scratchDirectory, TOP } from '../scratch.ts';
import { DEADLINE_MS, type LabTrial, type Opener } from './client.ts';
import type { ServedTestbed } from './testbed.ts';

export const PHOTOFINISH = join(TOP, 'native-host/bin/photofinish');
/** The build output of the command line: its modules and the QUIC addon. */
const BUILT = join(TOP, 'native-host', 'dist');
const PROGRAM = /\.(?:js|cjs|node)$/;

/** SHA-256 of the command line's build output, hexadecimal. */
export async function digestOfBuild(): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(BUILT)).filter((name) => PROGRAM.test(name)).sort();
  for (const name of names) hash.update(`${name}\n`).update(await readFile(join(BUILT, name)));
  return hash.digest('hex');
}

export interface CommandLine {
  /** Races Caddy with these options; returns the record. Rejects if there is none. */
  race(...options: string[]): Promise<OriginRace>;
  /** The same, without waiting for it. */
  start(...options: string[]): ChildProcessWithoutNullStreams;
}

/**
 * The record in the output of `photofinish race --json`. Throws if there is none, or if it could not be raced at all.
 */
export function recordIn(json: string): OriginRace {
  const [race] = v.parse(raceDocumentSchema, JSON.parse(json)).races;
  if (race === undefined || race.error !== undefined) throw new Error(race?.error?.message ?? 'no race');
  return race;
}

export function commandLine({ client, caddy, caPath }: ServedTestbed): CommandLine {
  const pinned = ['--resolve', `${caddy.host}:${caddy.port}:${caddy.address}`];
  const all = ['race', caddy.origin, '--json', '--allow-private', '--ca', caPath, ...pinned];
  return {
    async race(...options) {
      const { stdout, stderr } = await client.run(PHOTOFINISH, [...all, ...options]);
      if (stdout === '') throw new Error(stderr);
      return recordIn(stdout);
    },
    start: (...options) => client.spawn(PHOTOFINISH, [...all, ...options]),
  };
}

/** Default number of races on the cell's own link that teach the client about the host. */
const LESSONS = 20;
/** The network under which these races are recorded: identification would examine the machine's own. */
const NETWORK = ['--network', 'laboratory'];

export interface PhotofinishClientOptions {
  readonly name: string;
  readonly title: string;
  /** The mode of `photofinish race`. */
  readonly mode: 'race' | 'alt-svc' | 'v3' | 'naive' | 'h3' | 'h2';
  /** Whether the host was raced before on the cell's own link: memory `hints` instead of `none`. */
  readonly known?: boolean;
  /** How many races taught it; default: 20. */
  readonly lessons?: number;
  /** Further command-line options. */
  readonly options?: readonly string[];
}

/**
 * When there was a usable connection. By Alt-Svc on first contact that is old HTTP's, which the trial later leaves for
 * HTTP/3: the papers' tables use the former. A connection that broke before it responded was not usable.
 */
function usableMs({ establishedMs, attempts }: Trial): number | null {
  if (establishedMs === null) return null;
  const sound = attempts.filter(({ outcome }) => outcome !== 'failed');
  return Math.min(establishedMs, ...sound.flatMap((attempt) => attempt.establishedMs ?? []));
}

/** A trial of `photofinish race` as a laboratory trial. */
export function labTrial(trial: Trial): LabTrial {
  const { adopted, firstByteMs, attempts } = trial;
  const sent = attempts.map(({ packets }) => packets?.sent ?? 0).reduce((sum, count) => sum + count, 0);
  const error = attempts.findLast((attempt) => attempt.error !== undefined)?.error;
  return {
    adopted,
    establishedMs: usableMs(trial),
    firstByteMs,
    datagramsSent: sent,
    ...(adopted === null && error !== undefined && { error: `${error.code}: ${error.message}` }),
    ...(adopted !== 'h3' && { trace: trial }),
  };
}

/** Opens our client in one mode, against Caddy. */
export function ours({
  name,
  title,
  mode,
  known = false,
  lessons = LESSONS,
  options = [],
}: PhotofinishClientOptions): Opener {
  return async (testbed) => {
    const dir = await scratchDirectory(`lab-${name}`);
    const cache = join(dir, 'cache', 'host-cache.sqlite');
    const command = commandLine(testbed);
    const race = async (trials: number, ...args: readonly string[]): Promise<readonly Trial[]> => {
      const how = ['--mode', mode, '--trials', String(trials), '--timeout', String(DEADLINE_MS)];
      try {
        return (await command.race(...how, ...args)).trials;
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
      }
    };
    const remembering = ['--cache', cache, ...NETWORK];
    return {
      name,
      title,
      kind: 'ours',
      versions: {},
      ...(known && {
        async prepare() {
          await rm(join(dir, 'cache'), { recursive: true, force: true });
          await mkdir(join(dir, 'cache'));
          await race(lessons, '--memory', 'full', ...remembering);
        },
      }),
      async run(trials) {
        const memory = known ? ['--memory', 'hints', ...remembering] : ['--memory', 'none'];
        return (await race(trials, ...memory, ...options)).map(labTrial);
      },
      close: () => rm(dir, { recursive: true, force: true }),
    };
  };
}
