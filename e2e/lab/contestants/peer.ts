// What the peers' contestants have in common: a program that runs inside the client's namespace and prints one JSON
// document.
import * as v from 'valibot';
import type { Namespace, RunOptions } from '../../network/namespace.ts';

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

/** Versions by name, as a peer prints them. Throws a ValiError for anything else. */
export function parseVersions(json: string): Record<string, string> {
  return v.parse(v.record(v.string(), v.string()), JSON.parse(json));
}
