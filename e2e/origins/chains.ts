// Certificate chains, good and bad in one way each, made anew for each run by a library that no contender uses.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchDirectory } from '../scratch.ts';
import { runPython } from './python.ts';
import type { Certificate } from './start.ts';

const SCRIPT = fileURLToPath(new URL('aioquic/chains.py', import.meta.url));

export interface Chains {
  /** The roots to trust, PEM: one in force, and one that has expired. */
  readonly caPath: string;
  /** The files of one of the chains that `chains.py` names. */
  files(name: string): Certificate;
  /** The same, read: what a TLS server is given. */
  read(name: string): Promise<{ readonly cert: string; readonly key: string }>;
  remove(): Promise<void>;
}

/** Makes every chain; the leaves are for `host`. */
export async function makeChains(host: string): Promise<Chains> {
  const dir = await scratchDirectory('chains');
  await runPython(SCRIPT, [dir, host]);
  const files = (name: string): Certificate => ({
    certPath: join(dir, `${name}.pem`),
    keyPath: join(dir, `${name}.key`),
  });
  return {
    caPath: join(dir, 'ca.pem'),
    files,
    async read(name) {
      const { certPath, keyPath } = files(name);
      const [cert, key] = await Promise.all([readFile(certPath, 'utf8'), readFile(keyPath, 'utf8')]);
      return { cert, key };
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
