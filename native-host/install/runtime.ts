// Which Node a launcher names: the one that runs the installation, by a path that outlives its next update.
import { posix } from 'node:path';

/** Homebrew keeps each version in a directory of its own, which an update removes, and links the newest from `opt`. */
const CELLAR = /^(?<prefix>.*)\/Cellar\/(?<formula>[^/]+)\/[^/]+\/(?<rest>.+)$/;

/** A lasting path of the same program where there is one, else the path itself. */
export function lastingRuntime(runtime: string, exists: (path: string) => boolean): string {
  const { prefix, formula, rest } = CELLAR.exec(runtime)?.groups ?? {};
  if (prefix === undefined || formula === undefined || rest === undefined) return runtime;
  const linked = posix.join(prefix, 'opt', formula, rest);
  return exists(linked) ? linked : runtime;
}
