// The helper's log: what it did and what went wrong, one JSON line each. It is browsing history, so hosts stand in it
// only as salted digests, and the file is the user's alone.
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { siphash } from './cache/siphash.ts';
import type { Clock } from './race/clock.ts';

/** A longer log is put aside once, over the one put aside before. */
const MAX_LOG_BYTES = 1024 * 1024;

export interface Log {
  /** Writes one line; `facts` must hold no host in the clear. Never throws. */
  write(event: string, facts?: Readonly<Record<string, unknown>>): void;
  /** The salted digest that stands for a host or an origin. */
  digest(host: string): string;
  /** Deletes the log and the one put aside. */
  wipe(): void;
}

export interface LogOptions {
  /** null: to stderr, which browsers keep or throw away. */
  readonly path: string | null;
  readonly salt: Uint8Array;
  readonly clock: Pick<Clock, 'epochMs'>;
}

function appendPrivately(path: string, line: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  appendFileSync(path, line, { mode: 0o600 });
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}

export function openLog({ path, salt, clock }: LogOptions): Log {
  return {
    write(event, facts = {}) {
      const at = new Date(clock.epochMs()).toISOString();
      const line = `${JSON.stringify({ at, event, ...facts })}\n`;
      if (path === null) {
        process.stderr.write(line);
        return;
      }
      try {
        appendPrivately(path, line);
      } catch {
        process.stderr.write(line);
      }
    },
    digest: (host) => siphash(salt, new TextEncoder().encode(host)),
    wipe() {
      if (path === null) return;
      for (const file of [path, `${path}.1`]) rmSync(file, { force: true });
    },
  };
}
