// Where cost is measured: the two namespaces and the link of every experiment, and on them one server at a time, started
// anew for each segment so that no cell inherits another's memory.
import type { Namespace } from '../../network/namespace.ts';
import { openNetwork, type Peer } from '../../network/open.ts';
import type { Shape } from '../../network/shape.ts';
import { startCaddy } from '../../origins/caddy.ts';
import { type OriginSettings, startOrigins } from '../../origins/start.ts';
import { childrenNamed } from '../proc.ts';
import type { ObjectBytes, ServerName } from './cells.ts';
import type { Winner } from './schedule.ts';

const PORT = 443;
/** The other winner's, where a server takes one port for each host. */
const OTHER_PORT = 444;
/** By who wins a race to it: the path to the old one's address delays UDP. */
const HOSTS: Readonly<Record<Winner, string>> = { h2: 'old-wins.test', h3: 'new-wins.test' };
/**
 * What the path adds for UDP to the old winner's address, each way: QUIC then takes 60 ms more than its round trip, and
 * TCP with TLS, at two round trips, has won by then whatever the machine is busy with.
 */
const UDP_EXTRA_MS = 30;
/** Left-behind connections keep a client's port for a minute: at a thousand a second the usual 28,000 do not suffice. */
const MORE_PORTS = 'echo 1024 65535 > /proc/sys/net/ipv4/ip_local_port_range';

/** An origin as the client reaches it. */
export interface Goal {
  readonly host: string;
  readonly origin: string;
  readonly port: number;
  readonly address: string;
}

export interface RunningServer {
  readonly pid: number;
  readonly version: string;
  readonly goals: Readonly<Record<Winner, Goal>>;
  readonly caPath: string;
  stop(): Promise<void>;
}

export interface Place {
  readonly client: Namespace;
  readonly server: Peer;
  /** Of the processes that are the link. */
  readonly linkPids: readonly number[];
  setLink(rttMs: number): Promise<void>;
  start(name: ServerName, objectBytes: ObjectBytes): Promise<RunningServer>;
  close(): Promise<void>;
}

function goalsOf(server: Peer, ports: Readonly<Record<Winner, number>>): Record<Winner, Goal> {
  const goal = (winner: Winner, address: string): Goal => {
    const [host, port] = [HOSTS[winner], ports[winner]];
    return { host, port, address, origin: `https://${host}:${port}` };
  };
  return { h2: goal('h2', server.ipv4), h3: goal('h3', server.ipv6) };
}

async function startOwn(server: Peer, bodyBytes: number): Promise<RunningServer> {
  let pid: number | undefined;
  const settings = (winner: Winner, port: number): OriginSettings => ({
    host: HOSTS[winner],
    address: '::',
    port,
    h3: true,
    altSvc: 'auto',
    bodyBytes,
  });
  const ports = { h2: PORT, h3: OTHER_PORT };
  const running = await startOrigins({
    origins: { h2: settings('h2', ports.h2), h3: settings('h3', ports.h3) },
    inside: {
      spawn(file, args) {
        const child = server.spawn(file, args);
        pid = child.pid;
        return child;
      },
    },
  });
  if (pid === undefined) throw new Error('the origin server has no process');
  const { caPath, stop } = running;
  return { pid, version: 'this checkout', goals: goalsOf(server, ports), caPath, stop };
}

/** Opens the place; rejects where that cannot be done, so ask `networkUnavailable('tun')` first. */
export async function openPlace(seed: number): Promise<Place> {
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed } });
  const { client } = network;
  const { server } = network.peers;
  try {
    await client.run('sh', ['-c', MORE_PORTS]);
    const authority = await startOrigins({ origins: {}, certificateHosts: Object.values(HOSTS) });
    const { caPath, certificates } = authority;
    const certified = (winner: Winner) => {
      const certificate = certificates[HOSTS[winner]];
      if (certificate === undefined) throw new Error(`there is no certificate for ${HOSTS[winner]}`);
      return { host: HOSTS[winner], certificate };
    };
    return {
      client,
      server,
      linkPids: childrenNamed('photofinish-link'),
      async setLink(rttMs) {
        const shape: Shape = {
          delayMs: rttMs / 2,
          // The old protocol wins only where a race is far enough to be decided by the path.
          ...(rttMs > 0 && { apart: { transport: 'udp', family: 4, delayMs: UDP_EXTRA_MS } }),
        };
        await server.shape({ up: shape, down: shape });
      },
      async start(name, objectBytes) {
        if (name === 'own') return startOwn(server, objectBytes);
        const { pid, version, stop } = await startCaddy({
          ...certified('h2'),
          alsoHosts: [certified('h3')],
          caPath,
          bodyBytes: objectBytes,
          inside: { spawn: server.spawn, port: PORT },
        });
        return { pid, version, goals: goalsOf(server, { h2: PORT, h3: PORT }), caPath, stop };
      },
      async close() {
        await authority.stop();
        await network.close();
      },
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}
