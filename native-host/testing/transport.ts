// The common basis of tests of both transports: a host, the trust in its certificate, and a target on loopback.
import assert from 'node:assert/strict';
import type { AttemptTarget } from '../race/transport.ts';
import { readTrust, type Trust } from '../trust.ts';

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
