// The testbed of a survey in namespaces: in the middle origins on several networks, three servers under thousands of
// names by a rule instead of a list, and a NATS server; around it vantage points of which one drops UDP and one loses
// packets; and processes that can be killed and started again.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Namespace } from '../network/namespace.ts';
import { type Network, openNetwork } from '../network/open.ts';
import { startDnsInside } from '../origins/dns.ts';
import { type OriginSettings, startOrigins } from '../origins/start.ts';
import { TOP } from '../scratch.ts';
import { goProgram } from '../test-programs.ts';

/** IPv4 of the namespace that they run in. */
const EVERYWHERE = '0.0.0.0';

/** What is served below each of these names. */
const SERVERS = {
  advertised: { host: '*.advertised.test', address: EVERYWHERE, h3: true, altSvc: 'auto' },
  silent: { host: '*.silent.test', address: EVERYWHERE, h3: true },
  tcp: { host: '*.tcp.test', address: EVERYWHERE, h3: false },
} as const satisfies Record<string, OriginSettings>;

const KINDS = Object.keys(SERVERS) as (keyof typeof SERVERS)[];
/** All of it is local to the machine in the middle. */
const ALL_NETWORKS = '10.88.0.0/16';
/** Below .0 and above .254 there are no hosts. */
const HOSTS_PER_NETWORK = 254;

interface EstateHost {
  readonly name: string;
  readonly server: keyof typeof SERVERS;
  /** The first three octets of its /24. */
  readonly network: string;
  readonly address: string;
}

/** The host of a number from 0, on one of so many networks, at most 255. */
function estateHost(index: number, networks: number): EstateHost {
  const server = KINDS[index % KINDS.length] ?? 'tcp';
  const network = `10.88.${(index % networks) + 1}`;
  const address = `${network}.${1 + (Math.floor(index / networks) % HOSTS_PER_NETWORK)}`;
  return { name: `o${index}.${server}.test`, server, network, address };
}

/** The number in a host's name. */
function estateIndex(name: string): number {
  return Number(name.slice(1, name.indexOf('.')));
}

export const VANTAGES = ['east', 'blocked', 'lossy'] as const;
type Vantage = (typeof VANTAGES)[number];

const PHOTOFINISH = join(TOP, 'native-host/bin/photofinish');
const LOSS = 0.05;
const NATS_PORT = 4222;

/** A request that an origin saw. */
interface OriginRequest {
  readonly network: string;
  readonly host: string;
  readonly atMs: number;
}

/** A process that a spec may kill, and start again as it was. */
interface Restartable {
  readonly name: string;
  /** Ends it without notice, and starts it again. */
  crash(): Promise<void>;
  /** Resolves with its exit code when it ends by itself. */
  readonly ended: Promise<number | null>;
  /** What it said so far, all runs together. */
  output(): string;
  /** Whether it has ended by itself. */
  hasEnded(): boolean;
  stop(): Promise<void>;
}

function restartable(name: string, start: () => ChildProcessWithoutNullStreams): Restartable {
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  let output = '';
  let crashing = false;
  function begin(): ChildProcessWithoutNullStreams {
    const child = start();
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('exit', (code) => {
      if (!crashing) resolve(code);
    });
    return child;
  }
  let child = begin();
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return {
    name,
    ended,
    output: () => output,
    async crash() {
      // What has ended by itself is done.
      if (child.exitCode !== null) return;
      crashing = true;
      await end('SIGKILL');
      crashing = false;
      child = begin();
    },
    hasEnded: () => child.exitCode !== null,
    stop: () => end('SIGTERM'),
  };
}

interface TestbedOptions {
  /** An empty directory. */
  readonly dir: string;
  readonly origins: number;
  readonly networks: number;
}

export interface Testbed {
  readonly dir: string;
  readonly archive: string;
  /** One line each. */
  readonly list: string;
  readonly origins: readonly string[];
  readonly seen: readonly OriginRequest[];
  readonly network: Network<Vantage>;
  startServer(): Promise<Restartable>;
  /** `survey` with these words, at the server's own place, to its end. */
  survey(...words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  startWorker(vantage: Vantage): Restartable;
  startCollector(): Restartable;
  close(): Promise<void>;
}

async function waitForServer(inside: Namespace): Promise<void> {
  const connects = `require('net').connect(${NATS_PORT}, '127.0.0.1').once('connect', () => process.exit(0)).once('error', () => process.exit(1))`;
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await inside.run(process.execPath, ['-e', connects])).code === 0) return;
    await sleep(25);
  }
  throw new Error('the NATS server accepts no connection');
}

export async function openTestbed({ dir, origins: count, networks }: TestbedOptions): Promise<Testbed> {
  const network = await openNetwork<Vantage>({ peers: VANTAGES, link: { kind: 'tun', shape: {} } });
  const { client: hub, peers } = network;
  await hub.ip('route', 'add', 'local', ALL_NETWORKS, 'dev', 'lo');
  for (const peer of Object.values(peers))
    await peer.ip('route', 'add', ALL_NETWORKS, 'via', peer.clientIpv4);
  const loss = { kind: 'independent', share: LOSS } as const;
  await peers.lossy.shape({ up: { loss }, down: { loss } });

  const seen: OriginRequest[] = [];
  const running = await startOrigins({
    origins: SERVERS,
    inside: hub,
    onRequest: ({ host }) => {
      if (host === null) throw new Error('a survey asks over HTTP/2 and HTTP/3');
      seen.push({ host, network: estateHost(estateIndex(host), networks).network, atMs: Date.now() });
    },
  });
  // As in networks that block UDP, the resolver is still reached.
  const ports = Object.values(running.origins).map(({ port }) => port);
  await peers.blocked.obstruct(ports.map((port) => ({ transport: 'udp', effect: 'drop', port })));
  const hosts = Array.from({ length: count }, (_, index) => estateHost(index, networks));
  const scripts = hosts.map(({ name, address }) => [name, { A: [address] }]);
  const dns = await startDnsInside(hub, EVERYWHERE, Object.fromEntries(scripts));
  const origins = hosts.map(({ name, server }) => `https://${name}:${running.origins[server].port}`);
  const list = join(dir, 'list.txt');
  await writeFile(list, origins.map((origin) => `${origin}\n`).join(''));
  const config = join(dir, 'server.conf');
  const store = JSON.stringify(join(dir, 'nats'));
  await writeFile(
    config,
    `listen: "0.0.0.0:${NATS_PORT}"\njetstream { store_dir: ${store}, sync_interval: always }\n`,
  );
  const archive = join(dir, 'archive');
  const processes: Restartable[] = [];
  const started = (process_: Restartable): Restartable => {
    processes.push(process_);
    return process_;
  };
  return {
    ...{ dir, archive, list, seen, network },
    origins,
    async startServer() {
      const server = started(
        restartable('server', () => hub.spawn(goProgram('nats-server'), ['-c', config])),
      );
      await waitForServer(hub);
      return server;
    },
    survey: (...words) => hub.run(PHOTOFINISH, ['survey', ...words]),
    startWorker(vantage) {
      const peer = peers[vantage];
      const where = [
        '--vantage',
        vantage,
        '--worker',
        'only',
        '--server',
        `nats://${peer.clientIpv4}:${NATS_PORT}`,
        ...['--resolver', peer.clientIpv4, '--allow-private', '--ca', running.caPath],
      ];
      return started(
        restartable(vantage, () => peer.spawn(PHOTOFINISH, ['survey', 'work', ...where, '--drain'])),
      );
    },
    startCollector: () =>
      started(restartable('collector', () => hub.spawn(PHOTOFINISH, ['survey', 'collect', archive]))),
    async close() {
      await Promise.all(processes.map((each) => each.stop()));
      await dns.stop();
      await running.stop();
      await network.close();
    },
  };
}
