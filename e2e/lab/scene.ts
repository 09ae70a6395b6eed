// Where the laboratory measures: a client and a server joined by the link with delay and loss, and behind it Caddy and
// our own origins, each with everything at its defaults.

import { keepAwake } from '../network/awake.ts';
import type { Namespace } from '../network/namespace.ts';
import { openNetwork, type Peer } from '../network/open.ts';
import { type CaddyOptions, type RunningCaddy, startCaddy } from '../origins/caddy.ts';
import { type OriginSettings, type RunningOrigin, startOrigins } from '../origins/start.ts';

const CADDY_HOST = 'caddy.test';
const OWN_HOST = 'own.test';
/** The one that browsers assume; the other server has a port of its own. */
export const CADDY_PORT = 443;
const OWN_PORT = 8443;

/** A server and the address at which the client reaches it. */
export interface Target extends RunningOrigin {
  readonly address: string;
}

export interface Scene {
  readonly client: Namespace;
  /** The far end, whose link is changed by `server.shape`. */
  readonly server: Peer;
  /** Quiet as Caddy is by default; advertises HTTP/3 by Alt-Svc. */
  readonly caddy: Target & Pick<RunningCaddy, 'pid' | 'version'>;
  readonly own: Target;
  /** The throw-away CA, PEM. */
  readonly caPath: string;
  /** Base64 SHA-256 digests of the servers' public keys, for Chromium. */
  readonly spki: readonly string[];
  /** Whether the processors are kept from sleeping while it is open. */
  readonly awake: boolean;
  close(): Promise<void>;
}

/** Opens the scene; where that cannot be done it rejects, so ask `networkUnavailable('tun')` first. */
export async function openScene(seed = 1): Promise<Scene> {
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed } });
  const { client } = network;
  const { server } = network.peers;
  const sleepAgain = keepAwake();
  const stops: (() => unknown)[] = [network.close, () => sleepAgain?.()];
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const settings: OriginSettings = {
      host: OWN_HOST,
      address: '::',
      port: OWN_PORT,
      h3: true,
      altSvc: 'auto',
    };
    const running = await startOrigins({
      origins: { own: settings },
      certificateHosts: [CADDY_HOST],
      inside: server,
    });
    stops.push(running.stop);
    const { caPath, spki } = running;
    const certificate = running.certificates[CADDY_HOST];
    if (certificate === undefined) throw new Error('there is no certificate for Caddy');
    const inside: CaddyOptions['inside'] = { spawn: server.spawn, port: CADDY_PORT };
    const caddy = await startCaddy({ host: CADDY_HOST, certificate, caPath, inside });
    stops.push(caddy.stop);
    const address = server.ipv4;
    return {
      client,
      server,
      caddy: { ...caddy, address },
      own: { ...running.origins.own, address },
      caPath,
      spki,
      awake: sleepAgain !== null,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
