// Makes a client under test of a peer's program, which runs inside the client's namespace and prints one JSON document.
import * as v from 'valibot';
import type { Namespace, RunOptions } from '../../network/namespace.ts';
import type { Opener } from '../client.ts';
import type { ServedTestbed } from '../testbed.ts';
import { DEADLINE_MS, type LabTrial, parseTrials } from '../trial.ts';

/** A peer's program, ready to run on the testbed. */
export interface PeerProgram {
  /** Of what it is made of, by name, as the program itself says or its lock file. */
  readonly versions: Readonly<Record<string, string>>;
  run(trials: number): Promise<LabTrial[]>;
}

/** A peer whose program cannot be had, for whatever reason `open` rejects with, is absent. */
export function peer(
  name: string,
  title: string,
  open: (testbed: ServedTestbed) => Promise<PeerProgram>,
): Opener {
  return async (testbed) => {
    try {
      return { name, title, kind: 'peer', ...(await open(testbed)), close: async () => {} };
    } catch (error) {
      return { name, title, kind: 'peer', why: error instanceof Error ? error.message : String(error) };
    }
  };
}

/** Runs a program inside to its end, and gives what it printed. Rejects with what it complained of. */
export async function insistInside(
  client: Namespace,
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await client.run(file, args, options);
  if (code !== 0) throw new Error(`${file}: ${stderr.trim() || `exit code ${code}`}`);
  return stdout;
}

/** Versions by name, as a program prints them. Throws a ValiError for anything else. */
function parseVersions(json: string): Record<string, string> {
  return v.parse(v.record(v.string(), v.string()), JSON.parse(json));
}

/**
 * A program that reads its order from standard input: the origin, the CA file, how many trials and their deadline, and
 * what else it takes. With the word `versions` it prints them instead.
 */
export async function orderedProgram(
  { client, caddy: { host, port, address }, caPath }: ServedTestbed,
  [file, ...words]: readonly [string, ...string[]],
  more: object = {},
): Promise<PeerProgram> {
  const versions = parseVersions(await insistInside(client, file, [...words, 'versions']));
  const run = async (trials: number): Promise<LabTrial[]> => {
    const order = { origin: { host, port, address }, ca: caPath, trials, deadlineMs: DEADLINE_MS, ...more };
    const input = JSON.stringify(order);
    return parseTrials(await insistInside(client, file, [...words, 'trials'], { input }));
  };
  return { versions, run };
}
