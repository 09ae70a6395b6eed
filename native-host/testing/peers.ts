// Real peers on loopback for tests of both transports: a throw-away CA, a certificate per host, origins by the origin
// server's binary, and what an attempt at them needs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AttemptTarget } from '../race/transport.ts';
import { readTrust, type Trust } from '../trust.ts';

const BINARY = fileURLToPath(new URL('../../.photofinish/bin/photofinish-origin', import.meta.url));

interface OriginRequest {
  readonly host: string;
  /** Serve HTTP/3; HTTP/2 and HTTP/1.1 are always served on TCP. */
  readonly h3: boolean;
  /** The Alt-Svc field; `auto` advertises its own port. */
  readonly altSvc?: string;
}

export interface ThrowawayOrigins {
  readonly caPath: string;
  /** Ports on 127.0.0.1, both UDP and TCP, in the order of the requests. */
  readonly ports: readonly number[];
  /** Certificate and key of a host, PEM. */
  certificateOf(host: string): Promise<{ readonly cert: string; readonly key: string }>;
  stop(): Promise<void>;
}

/** Certificates for `certificateHosts`, and a server per request. Throws when the binary is not built. */
export async function throwawayOrigins(
  certificateHosts: readonly string[],
  ...origins: OriginRequest[]
): Promise<ThrowawayOrigins> {
  if (!existsSync(BINARY)) throw new Error('the origin server is not built; run: npm run build');
  const dir = await mkdtemp(join(tmpdir(), 'photofinish-origins-'));
  const settings = JSON.stringify({ dir, origins, certificateHosts });
  const child = spawn(BINARY, [settings], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ready = JSON.parse(line) as { readonly origins: readonly { readonly port: number }[] };
  return {
    caPath: join(dir, 'ca.pem'),
    ports: ready.origins.map((origin) => origin.port),
    certificateOf: async (host) => ({
      cert: await readFile(join(dir, `${host}.pem`), 'utf8'),
      key: await readFile(join(dir, `${host}.key`), 'utf8'),
    }),
    async stop() {
      // It serves until its input ends.
      child.stdin.end();
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export const HOST = 'peer.test';
export const LOOPBACK = '127.0.0.1';
/** Long enough never to be reached by a test that does not wait for it. */
export const PLENTY_MS = 60_000;

/** The bundled and the system's roots, and those in `files`. */
export async function trusted(files: readonly string[]): Promise<Trust> {
  const trust = await readTrust(files);
  assert.ok(trust.ok);
  return trust.value;
}

/** A target on loopback without a practical time-out. */
export function target(port: number | undefined, overrides: Partial<AttemptTarget> = {}): AttemptTarget {
  assert.ok(port !== undefined);
  return {
    address: LOOPBACK,
    port,
    host: HOST,
    authority: `${HOST}:${port}`,
    initialRttMs: 67,
    handshakeTimeoutMs: PLENTY_MS,
    ...overrides,
  };
}
