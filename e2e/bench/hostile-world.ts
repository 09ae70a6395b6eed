// The targets that `hostile` races, on a separate thread: their load must not count as the helper's time.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { startDns } from '../origins/dns.ts';
import { addresses, manyTargets } from '../origins/hostile-zones.ts';
import { HOSTILE_PEERS, startHostile } from '../origins/raw/hostile-peers.ts';
import type { Identity } from '../origins/raw/tcp.ts';
import { refusingUdpPort } from '../origins/raw/udp.ts';

export interface HostileWorld {
  /** `address:port` of its DNS server. */
  readonly resolver: string;
  /** Nothing listens there. */
  readonly refusedPort: number;
  /** UDP is dropped there on every loopback address. */
  readonly silentPort: number;
  readonly peerPorts: readonly number[];
}

async function silentEverywhere(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0);
  await once(socket, 'listening');
  return socket.address().port;
}

async function start(identity: Identity): Promise<HostileWorld> {
  const [refusedPort, silentPort] = [await refusingUdpPort(), await silentEverywhere()];
  const zones = { ...manyTargets(refusedPort), ...manyTargets(silentPort) };
  const dns = await startDns({ ...zones, 'warm.test': { A: addresses(1, 39) } });
  const peers = await Promise.all(HOSTILE_PEERS.map((name) => startHostile(name, identity)));
  return { resolver: dns.resolver, refusedPort, silentPort, peerPorts: peers.map(({ port }) => port) };
}

parentPort?.postMessage(await start(workerData));
