// The laboratory's testbed: a client and a server joined by the link with delay and loss, and the servers that an
// experiment needs, each with default settings.
import { closeSync, openSync, writeSync } from 'node:fs';
import * as v from 'valibot';
import type { Shape } from '../network/link.ts';
import type { Namespace } from '../network/namespace.ts';
import { openNetwork, type Peer } from '../network/open.ts';
import { type CaddyOptions, type RunningCaddy, startCaddy } from '../origins/caddy.ts';
import { type RunningOrigin, startOrigins } from '../origins/start.ts';

/**
 * Linux's PM QoS interface: while it is open, processors enter no idle state with a longer exit latency than the value
 * written.
 */
const LATENCY = '/dev/cpu_dma_latency';
const MICROSECONDS = new Int32Array([0]);

/**
 * Keeps the processors out of deep idle states until the returned function is called; null if this process may not do
 * that.
 */
function keepAwake(): (() => void) | null {
  try {
    const file = openSync(LATENCY, 'r+');
    writeSync(file, new Uint8Array(MICROSECONDS.buffer));
    return () => closeSync(file);
  } catch {
    return null;
  }
}

const CADDY_HOST = 'caddy.test';
/** The default port of browsers. */
export const CADDY_PORT = 443;

export interface Testbed {
  readonly client: Namespace;
  /** The far end; `server.shape` changes its link. */
  readonly server: Peer;
  /** The process id of the link. */
  readonly linkPid: number;
  /** The temporary CA, PEM. */
  readonly caPath: string;
  /** Base64 SHA-256 digests of the servers' public keys, for Chromium. */
  readonly spki: readonly string[];
  /** Starts Caddy at the far end for those hosts, for which the testbed must have been opened. */
  startCaddy(
    hosts: readonly string[],
    options?: Pick<CaddyOptions, 'bodyBytes' | 'accessLog' | 'routes'>,
  ): Promise<RunningCaddy>;
  close(): Promise<void>;
}

/**
 * Opens a client and a server joined by the link, whose process is `linkPid`; `shape` is that of both directions at
 * first. Rejects if that is impossible, so check `networkUnavailable('tun')` first.
 */
export async function openLink(seed: number, shape: Shape = {}) {
  const { client, peers, close } = await openNetwork({ link: { kind: 'tun', shape, seed } });
  const { server } = peers;
  const { linkPid } = server;
  if (linkPid !== null) return { client, server, linkPid, close };
  await close();
  throw new Error('the link has no process');
}

/** Opens a testbed with a certificate for each host; otherwise like `openLink`. */
export async function openTestbed(seed: number, hosts: readonly string[]): Promise<Testbed> {
  await using opening = new AsyncDisposableStack();
  const { client, server, linkPid, close } = await openLink(seed);
  opening.defer(close);
  const running = await startOrigins({ origins: {}, certificateHosts: hosts, inside: server });
  opening.defer(running.stop);
  const { caPath, spki } = running;
  const closing = opening.move();
  return {
    client,
    server,
    linkPid,
    caPath,
    spki,
    async startCaddy(hosts, options = {}) {
      const inside: CaddyOptions['inside'] = { spawn: server.spawn, port: CADDY_PORT };
      const caddy = await startCaddy({ hosts, certifiedBy: running, ...options, inside });
      closing.defer(caddy.stop);
      return caddy;
    },
    close: () => closing.disposeAsync(),
  };
}

/** A server and the address at which the client reaches it. */
export interface Target extends RunningOrigin {
  readonly address: string;
}

/** A testbed on which Caddy runs all the time. */
export interface ServedTestbed extends Testbed {
  /** With Caddy's default log settings; advertises HTTP/3 by Alt-Svc. */
  readonly caddy: Target & Pick<RunningCaddy, 'pid' | 'version'>;
  /** Whether the processors are kept out of deep idle states while it is open. */
  readonly awake: boolean;
}

/** What times depend on besides the clients; records of earlier versions lack it. */
export const servedSchema = v.optional(v.object({ caddy: v.string(), awake: v.boolean() }));
export const servedBy = ({ caddy: { version }, awake }: ServedTestbed) => ({
  caddy: version.split(' ')[0] ?? '',
  awake,
});

/** Like `openTestbed`. */
export async function openServedTestbed(seed = 1): Promise<ServedTestbed> {
  await using opening = new AsyncDisposableStack();
  const testbed = await openTestbed(seed, [CADDY_HOST]);
  opening.defer(testbed.close);
  const sleepAgain = keepAwake();
  if (sleepAgain !== null) opening.defer(sleepAgain);
  const caddy = await testbed.startCaddy([CADDY_HOST]);
  const closing = opening.move();
  return {
    ...testbed,
    caddy: { ...caddy, address: testbed.server.ipv4 },
    awake: sleepAgain !== null,
    close: () => closing.disposeAsync(),
  };
}
