// Our command line as built, and on the testbed's client, where it races Caddy.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OriginRace, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { TOP } from '../scratch.ts';
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
