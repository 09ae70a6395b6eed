// Datagrams sent back by the far end, to measure a link from outside: how many come home, and after what time.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Namespace } from './namespace.ts';

const PROCESS = fileURLToPath(new URL('echo-process.ts', import.meta.url));

export interface Probe {
  readonly address: string;
  readonly datagrams: number;
  /** Payload. */
  readonly bytes: number;
  /** Between sendings; 0 waits for each to come home, or to be given up, before the next. */
  readonly gapMs: number;
}

export interface Probed {
  /** Of those that came home. */
  readonly roundTripsMs: readonly number[];
}

/** Starts an echo at every address of the namespace; it ends with the network. */
export async function startEcho(inside: Namespace) {
  const echo = inside.spawn(process.execPath, [PROCESS]);
  await once(echo.stdout, 'data');
  return {
    /** Sends datagrams from a namespace and waits for those that come home. Rejects if they cannot be sent. */
    async probe(from: Namespace, probe: Probe): Promise<Probed> {
      const { code, stdout, stderr } = await from.run(process.execPath, [PROCESS, JSON.stringify(probe)]);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as Probed;
    },
  };
}
