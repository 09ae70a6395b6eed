// The interface of a client under test, which makes cold connections to one origin over the testbed's link, one after
// the other; the trial that each connection yields, validated where it enters; and our own client, the command line as
// built, in one of its modes.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type OriginRace,
  raceDocumentSchema,
  type Trial,
  trialSchema,
} from '@photofinish/shared/race/outcome';
import { knownProtocolSchema } from '@photofinish/shared/web/protocol';
import { count, ms } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { scratchDirectory, TOP } from '../scratch.ts';
import type { ServedTestbed } from './testbed.ts';

/**
 * The papers' procedure allows a connection this long before it has failed; a failed trial enters every mean as this.
 */
export const DEADLINE_MS = 30_000;

/** Times are milliseconds from the start of the trial. */
export const labTrialSchema = v.object({
  /** The protocol that the client continued with; null if it failed. */
  adopted: v.nullable(knownProtocolSchema),
  /** The first secure handshake of a connection that was used; null if it failed, or the client does not report it. */
  establishedMs: v.nullable(ms),
  /** The first byte of the response; null if there was none, or the client does not report it. */
  firstByteMs: v.nullable(ms),
  /** Why it failed, in the client's own words. */
  error: v.optional(v.string()),
  /** QUIC datagrams sent until the trial ended, if the client reports them. */
  datagramsSent: v.optional(count),
  /** Our own client's complete record, kept for trials that did not adopt HTTP/3. */
  trace: v.optional(trialSchema),
});
export type LabTrial = v.InferOutput<typeof labTrialSchema>;

/** Parses a peer's output, a JSON array. Throws a ValiError for anything else. */
export function parseTrials(json: string): LabTrial[] {
  return v.parse(v.array(labTrialSchema), JSON.parse(json));
}

export const clientKindSchema = v.picklist(['ours', 'peer', 'browser']);
export type ClientKind = v.InferOutput<typeof clientKindSchema>;

export interface Client {
  /** Used in results and on the command line: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Used in tables. */
  readonly title: string;
  readonly kind: ClientKind;
  /** Versions of its components, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * Runs before a cell, with the link already set: forgets the previous cell, and learns what a client that knows the
   * host has learnt. Not part of the results.
   */
  prepare?(): Promise<void>;
  /** Makes `trials` cold connections one after the other; each yields a trial, whatever its outcome. */
  run(trials: number): Promise<LabTrial[]>;
  close(): Promise<void>;
}

/** A client that is unavailable here; the tables name it. */
export interface UnavailableClient extends Pick<Client, 'name' | 'title' | 'kind'> {
  readonly why: string;
}

/** Opens a client on a testbed; never rejects because something is not installed. */
export type Opener = (testbed: ServedTestbed) => Promise<Client | UnavailableClient>;

export function isAbsent(entry: Client | UnavailableClient): entry is UnavailableClient {
  return 'why' in entry;
}

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
 * When there was a usable connection. By Alt-Svc on first contact that is TCP's, which the trial later leaves for
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
