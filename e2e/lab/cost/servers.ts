// The servers whose cost is measured, one at a time, restarted for each segment so that no cell inherits another's
// memory; and the link in front of them, which determines the winner of a race.
import type { Shape } from '../../network/link.ts';
import type { Namespace } from '../../network/namespace.ts';
import type { Peer } from '../../network/open.ts';
import { type OriginSettings, startOrigins } from '../../origins/start.ts';
import { openTestbed, type Testbed } from '../testbed.ts';
import type { ObjectBytes, ServerName } from './cells.ts';
import type { Winner } from './generator.ts';

const PORT = 443;
/** For the other winner, where a server needs a port per host. */
const OTHER_PORT = 444;
/** By the winner of a race to it: the path to the old protocol's address delays UDP. */
const HOSTS: Readonly<Record<Winner, string>> = { h2: 'old-wins.test', h3: 'new-wins.test' };
/**
 * Additional delay for UDP to the address where old HTTP wins, each way: QUIC then takes 60 ms more than its round
 * trip, and TCP with TLS, at two round trips, has won by then however busy the machine is.
 */
const UDP_EXTRA_MS = 30;
/**
 * Closed connections occupy a client's port for a minute (TIME-WAIT). At a thousand a second the usual 28,000 do not
 * suffice, nor do all: connect() searches the even half first, port by port, and starts late when it is exhausted. A
 * port is therefore free after a second.
 */
const MORE_PORTS = [
  'echo 1024 65535 > /proc/sys/net/ipv4/ip_local_port_range',
  'echo 1 > /proc/sys/net/ipv4/tcp_tw_reuse',
].join('; ');

/** An origin as the client reaches it. */
interface ReachableOrigin {
  readonly host: string;
  readonly origin: string;
  readonly port: number;
  readonly address: string;
}

export interface RunningServer {
  readonly pid: number;
  readonly version: string;
  readonly origins: Readonly<Record<Winner, ReachableOrigin>>;
  readonly caPath: string;
  stop(): Promise<void>;
}

function originsOf(server: Peer, ports: Readonly<Record<Winner, number>>): Record<Winner, ReachableOrigin> {
  const reached = (winner: Winner, address: string): ReachableOrigin => {
    const [host, port] = [HOSTS[winner], ports[winner]];
    return { host, port, address, origin: `https://${host}:${port}` };
  };
  return { h2: reached('h2', server.ipv4), h3: reached('h3', server.ipv6) };
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
  return { pid, version: 'this checkout', origins: originsOf(server, ports), caPath, stop };
}

/** Lets a client open more connections than usual; rejects if that is impossible. */
export async function giveMorePorts(client: Namespace): Promise<void> {
  await client.runOrThrow('sh', ['-c', MORE_PORTS]);
}

/** A testbed for servers under load; otherwise like `openTestbed`. */
export async function openLoadedTestbed(seed: number): Promise<Testbed> {
  await using opening = new AsyncDisposableStack();
  const testbed = await openTestbed(seed, Object.values(HOSTS));
  opening.defer(testbed.close);
  await giveMorePorts(testbed.client);
  // From here on the caller closes it.
  opening.move();
  return testbed;
}

/** Sets the link's round trip. The additional UDP delay, by which the old protocol wins, applies unless that is 0. */
export async function setLink({ server }: Testbed, rttMs: number): Promise<void> {
  const shape: Shape = {
    delayMs: rttMs / 2,
    ...(rttMs > 0 && { apart: { transport: 'udp', family: 4, delayMs: UDP_EXTRA_MS } }),
  };
  await server.shape({ up: shape, down: shape });
}

/** Starts a server that responds with objects of that size. */
export async function startServer(
  { server, caPath, startCaddy }: Testbed,
  name: ServerName,
  objectBytes: ObjectBytes,
): Promise<RunningServer> {
  if (name === 'own') return startOwn(server, objectBytes);
  const { pid, version, stop } = await startCaddy([HOSTS.h2, HOSTS.h3], { bodyBytes: objectBytes });
  return { pid, version, origins: originsOf(server, { h2: PORT, h3: PORT }), caPath, stop };
}
