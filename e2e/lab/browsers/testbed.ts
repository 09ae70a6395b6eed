// The testbed of `browsers`: names that the client looks up with a DNS server of its own, whose answers may be late,
// a server of both address families and all protocols, and everything that shows what a client did.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../browsers/browser.ts';
import type { Peer } from '../../network/open.ts';
import { type HostScript, startDnsInside } from '../../origins/dns.ts';
import { scratchIn } from '../../scratch.ts';
import { type ColdBrowser, goPublic, PUBLIC_ADDRESS } from '../clients/browsers.ts';
import { RunInterrupted } from '../experiment.ts';
import { openTestbed, type Testbed } from '../testbed.ts';
import {
  type Capture,
  connectionOf,
  type LoggedRequest,
  type Observation,
  observe,
  readRequest,
  recentConnections,
  startCapture,
} from './observation.ts';

/** Where the client's resolver asks; the link has no part in it. */
const RESOLVER = '127.0.0.1';
const PORTS = [53, 443];
/** Some round trips of the link; a client that answers late is not done yet. */
const SILENCE_MS = 50;
const SILENT_WITHIN_MS = 30_000;
/** Of the client's IPv4 address, which `openNetwork` assigns, and of the other one. */
const FIRST_HOST_PART = 1;
const OTHER_HOST_PART = 9;
/** A server logs a request once it has answered it. */
const LOGGED_WITHIN_MS = 20_000;

/** A name and what DNS says of it. */
export interface Host {
  readonly name: string;
  /** Whether it has an IPv6 address as well as an IPv4 address. */
  readonly dualStack: boolean;
  /** Whether responses advertise HTTP/3 by Alt-Svc. */
  readonly altSvc: boolean;
  /** Whether an HTTPS record advertises HTTP/3. */
  readonly httpsRecord: boolean;
  /** The answer that is late, and by how much. */
  readonly late?: { readonly kind: 'A' | 'AAAA' | 'HTTPS'; readonly byMs: number };
}

/** A client under test while it runs: one browser, or our command line. */
export interface Visitor extends Pick<ColdBrowser, 'forget' | 'part' | 'close'> {
  /** Resolves with the reason if the visit failed. */
  visit(url: string): Promise<string | undefined>;
  /** Makes the visits that teach it what the server is like. */
  learn(url: string): Promise<void>;
}

/** What a visitor needs to be started. */
export interface VisitorHost extends Pick<Testbed, 'client' | 'caPath' | 'spki'> {
  /** Starts a program in the client's namespace that looks names up with the testbed's DNS server. */
  spawn(file: string, args: readonly string[]): ChildProcessWithoutNullStreams;
  readonly hosts: readonly string[];
  /** `address:port`. */
  readonly resolver: string;
}

export interface NamedTestbed extends VisitorHost {
  readonly server: Peer;
  readonly versions: Readonly<Record<string, string>>;
  /**
   * Waits until the link carries nothing: packets of one kind never overtake each other, so that those of an earlier
   * visit, however late, would delay the next. Rejects if the client does not fall silent.
   */
  drain(): Promise<void>;
  /** Gives the client another IPv4 address, as a change of network does, and the same routes as before. */
  changeAddress(): Promise<void>;
  /** The observation of one visit. */
  observe(visitor: Visitor, host: string): Promise<Observation>;
  close(): Promise<void>;
}

function scriptOf({ dualStack, httpsRecord, late }: Host, ipv6: string): HostScript {
  const answer = <Data>(kind: 'A' | 'AAAA' | 'HTTPS', records: readonly Data[]) =>
    late?.kind === kind ? { records, afterMs: late.byMs } : records;
  return {
    A: answer('A', [PUBLIC_ADDRESS]),
    AAAA: answer('AAAA', dualStack ? [ipv6] : []),
    HTTPS: answer('HTTPS', httpsRecord ? [{ priority: 1, target: '.', alpn: ['h3', 'h2'] }] : []),
  };
}

/** Serves a page from every host, and takes back Caddy's Alt-Svc where a host is to have none. */
function routesFor(hosts: readonly Host[]): object[] {
  const silent = hosts.filter(({ altSvc }) => !altSvc).map(({ name }) => name);
  const response = { deferred: true, delete: ['Alt-Svc'] };
  const page = {
    handler: 'static_response',
    headers: { 'content-type': ['text/html'], 'cache-control': ['no-store'] },
    body: '<!doctype html><title>laboratory</title><link rel="icon" href="data:,">',
  };
  return [{ match: [{ host: silent }], handle: [{ handler: 'headers', response }] }, { handle: [page] }];
}

/** The requests in a log that grows. */
function followLog(file: string) {
  let read = 0;
  return async (): Promise<LoggedRequest[]> => {
    const text = (await readFile(file)).subarray(read).toString();
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    read += Buffer.byteLength(whole);
    return whole.split('\n').filter(Boolean).map(readRequest);
  };
}

/** The packets of the client, and the connections of which some may still arrive. */
function watchPackets({ take }: Pick<Capture, 'take'>) {
  const lastSeenMs = new Map<string, number>();
  return {
    async take() {
      const packets = await take();
      for (const packet of packets) {
        const connection = connectionOf(packet);
        if (connection !== null) lastSeenMs.set(connection, packet.atMs);
      }
      return packets;
    },
    recent: () => recentConnections(lastSeenMs, Date.now()),
  };
}

async function drain(server: Peer): Promise<void> {
  const silent = await until(async () => {
    await server.report();
    await sleep(SILENCE_MS);
    const { up, down } = await server.report();
    return up.delivered + down.delivered + (await server.waiting()) === 0;
  }, SILENT_WITHIN_MS);
  if (!silent) throw new RunInterrupted('a client does not fall silent; run it again to go on');
}

/** Opens the testbed for those hosts; rejects if that is impossible, as `openTestbed` does. */
export async function openNamedTestbed(seed: number, hosts: readonly Host[]): Promise<NamedTestbed> {
  const hostNames = hosts.map(({ name }) => name);
  await using opening = new AsyncDisposableStack();
  const dir = await scratchIn(opening, 'lab-browsers');
  const testbed = await openTestbed(seed, hostNames);
  opening.defer(testbed.close);
  const { client, server, caPath, spki } = testbed;
  const device = server.clientDevice;
  const route = async () => {
    await goPublic(testbed);
    // Without a route to the Internet, clients take an address family for unusable.
    for (const family of ['-4', '-6']) await client.ip(family, 'route', 'replace', 'default', 'dev', device);
  };
  await route();
  const accessLog = join(dir, 'access.log');
  await writeFile(accessLog, '');
  const caddy = await testbed.startCaddy(hostNames, { accessLog, routes: routesFor(hosts) });
  const names = Object.fromEntries(hosts.map((host) => [host.name, scriptOf(host, server.ipv6)]));
  const dns = await startDnsInside(client, RESOLVER, names);
  opening.defer(dns.stop);
  const capture = await startCapture(client, [device, 'lo'], PORTS);
  opening.defer(capture.close);
  const resolvConf = join(dir, 'resolv.conf');
  await writeFile(resolvConf, `nameserver ${RESOLVER}\n`);
  const requests = followLog(accessLog);
  const packets = watchPackets(capture);
  let visits = 0;
  let hostPart = FIRST_HOST_PART;
  const closing = opening.move();
  return {
    client,
    server,
    hosts: hostNames,
    caPath,
    spki,
    resolver: dns.resolver,
    versions: { Caddy: caddy.version.split(' ')[0] ?? '' },
    spawn(file, args) {
      // `ip netns exec` gives every program mounts of its own.
      const script = 'mount --bind "$0" /etc/resolv.conf; exec "$@"';
      return client.spawn('sh', ['-ec', script, resolvConf, file, ...args]);
    },
    async changeAddress() {
      const addressOf = (part: number) => server.clientIpv4.replace(/\d+$/, `${part}/24`);
      await client.ip('address', 'delete', addressOf(hostPart), 'dev', device);
      hostPart = hostPart === FIRST_HOST_PART ? OTHER_HOST_PART : FIRST_HOST_PART;
      await client.ip('address', 'add', addressOf(hostPart), 'dev', device);
      await route();
    },
    drain: () => drain(server),
    async observe(visitor, host) {
      await packets.take();
      await requests();
      const earlier = packets.recent();
      visits += 1;
      const error = await visitor.visit(`https://${host}/?visit=${visits}`);
      const found = error === undefined ? LOGGED_WITHIN_MS : 0;
      const request = await until(async () => (await requests()).find((each) => each.host === host), found);
      return observe({ packets: await packets.take(), earlier, host, request, error });
    },
    close: () => closing.disposeAsync(),
  };
}
