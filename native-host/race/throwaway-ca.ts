// Certificates for tests, made at test time by the origin server's binary: a throw-away CA and one certificate a host.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BINARY = fileURLToPath(new URL('../../target/release/photofinish-origin', import.meta.url));

export interface ThrowawayCa {
  readonly caPath: string;
  /** Certificate and key of a host, PEM. */
  of(host: string): Promise<{ readonly cert: string; readonly key: string }>;
  remove(): Promise<void>;
}

/** Makes a CA and certificates for `hosts` in a directory of its own. Throws when the binary is not built. */
export async function throwawayCa(hosts: readonly string[]): Promise<ThrowawayCa> {
  if (!existsSync(BINARY)) throw new Error('the origin server is not built; run: npm run build');
  const dir = await mkdtemp(join(tmpdir(), 'photofinish-ca-'));
  await new Promise<void>((resolve, reject) => {
    const settings = JSON.stringify({ dir, origins: [], certificateHosts: hosts });
    const child = execFile(BINARY, [settings], (error) => (error ? reject(error) : resolve()));
    // It serves until its input ends, which is once the certificates are there.
    child.stdout?.once('data', () => child.stdin?.end());
  });
  return {
    caPath: join(dir, 'ca.pem'),
    of: async (host) => ({
      cert: await readFile(join(dir, `${host}.pem`), 'utf8'),
      key: await readFile(join(dir, `${host}.key`), 'utf8'),
    }),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
