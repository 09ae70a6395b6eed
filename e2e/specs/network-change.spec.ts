// A machine that moves between networks, in namespaces: what identifies a network, what does not, and the effect of a
// change on races under way and on forecasts.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { type HostPort, helperArguments, openHost, sayHello } from '../helper/port.ts';
import { startForwarder } from '../network/link.ts';
import type { Namespace } from '../network/namespace.ts';
import { type Network, networkUnavailable, openNetwork, type Peer } from '../network/open.ts';
import { TOP } from '../scratch.ts';
import { test as base, expect } from './fixtures.ts';

const PHOTOFINISH = join(TOP, 'native-host/bin/photofinish');
const ORIGIN = 'https://a.test';
/** Behind every gateway; nothing responds there. */
const BLACK_HOLE = '10.99.0.1';
/** A network look-up is valid for 250 ms; a busy machine may take longer, but not this long. */
const NOTICED_MS = 30_000;

type NetworkName = 'home' | 'cafe';

interface Machine {
  readonly net: Network<NetworkName>;
  readonly settings: string;
  /** Makes a gateway the only default one. */
  join(place: NetworkName, family?: '-4' | '-6'): Promise<void>;
  /** A helper in the machine's namespace, after the `hello` exchange. */
  helper(): Promise<HelperConversation>;
}

interface HelperConversation {
  readonly port: HostPort;
  ask(message: Record<string, unknown>): Promise<Record<string, unknown>>;
  network(): Promise<unknown>;
}

const test = base.extend<{ machine: Machine }>({
  machine: async ({ dir }, use) => {
    const why = await networkUnavailable('veth');
    base.skip(why !== null, why ?? '');
    const net = await openNetwork<NetworkName>({ peers: ['home', 'cafe'] });
    const ports: HostPort[] = [];
    const settings = join(dir, 'config.json');
    const allowed = { allowPrivate: ['10.0.0.0/8'], cache: 'cache.db', logs: 'helper.log' };
    await writeFile(settings, JSON.stringify(allowed), { mode: 0o600 });
    try {
      // The gateway drops packets for other hosts.
      for (const peer of Object.values(net.peers))
        await peer.run('sh', [
          '-c',
          'echo 1 > /proc/sys/net/ipv4/ip_forward; ip route add blackhole default',
        ]);
      await use({
        net,
        settings,
        async join(place, family = '-4') {
          const peer = net.peers[place];
          const gateway = family === '-4' ? peer.ipv4 : peer.ipv6;
          await net.client.ip(
            family,
            'route',
            'replace',
            'default',
            'via',
            gateway,
            'dev',
            peer.clientDevice,
          );
        },
        async helper() {
          const inside = ['netns', 'exec', net.client.name, process.execPath, ...helperArguments(settings)];
          const port = openHost('ip', inside);
          ports.push(port);
          await sayHello(port);
          return asked(port);
        },
      });
    } finally {
      for (const port of ports) await port.close();
      await net.close();
    }
  },
});

let lastId = 1;

function asked(port: HostPort): HelperConversation {
  async function ask(message: Record<string, unknown>): Promise<Record<string, unknown>> {
    lastId += 1;
    const id = lastId;
    port.send({ ...message, id });
    for (;;) {
      const reply = await port.next();
      if (reply.id === id && reply.type !== 'progress') return reply;
    }
  }
  return { port, ask, network: async () => (await ask({ type: 'stats' })).network };
}

const FORECAST = { type: 'forecast', browser: 'chromium', site: 'a.test', origins: [ORIGIN] };

function observed(protocol: 'h2' | 'h3') {
  const observation = {
    id: `o${protocol}${Date.now()}`,
    atMs: Date.now(),
    origin: ORIGIN,
    site: 'a.test',
    kind: 'navigation',
    protocol,
    delivery: 'network',
    bytes: null,
  };
  return { type: 'observed', browser: 'chromium', observations: [observation] };
}

async function expected(helper: HelperConversation): Promise<unknown> {
  const [forecast] = (await helper.ask(FORECAST)).forecasts as { expected: { protocol: string } }[];
  return forecast?.expected.protocol;
}

/** Waits until the helper sees another network than this one, and returns its key. */
async function networkAfter(helper: HelperConversation, before: unknown): Promise<unknown> {
  await expect.poll(() => helper.network(), { timeout: NOTICED_MS }).not.toBe(before);
  return helper.network();
}

/** The same cable and gateway address, but another device at its end. */
async function replaceBox(machine: Machine, peer: Peer, mac: string): Promise<void> {
  await machine.net.client.ip('link', 'set', peer.clientDevice, 'down');
  await peer.ip('link', 'set', 'link0', 'address', mac);
  await machine.net.client.ip('link', 'set', peer.clientDevice, 'up');
}

test('the key outlives the helper, and is the same before and after the gateway is resolved', async ({
  machine,
}) => {
  await machine.join('home');
  const neighbours = () => machine.net.client.ip('neigh', 'show', machine.net.peers.home.ipv4);
  expect(await neighbours()).toBe('');
  const first = await machine.helper();
  const key = await first.network();
  expect(key).toMatch(/^net-[0-9a-f]{16}$/);
  expect(await neighbours()).toContain('lladdr');
  expect(await first.network()).toBe(key);
  const second = await machine.helper();
  expect(await second.network()).toBe(key);
  await machine.net.client.ip('neigh', 'flush', 'all');
  expect(await first.network()).toBe(key);
  const third = await machine.helper();
  expect(await third.network()).toBe(key);
});

test('no route is no network; a route makes one; the same addresses behind another device make another', async ({
  machine,
}) => {
  const helper = await machine.helper();
  expect(await helper.network()).toBe('offline');
  await machine.join('home');
  const home = await networkAfter(helper, 'offline');
  await replaceBox(machine, machine.net.peers.home, '02:00:00:00:00:99');
  await networkAfter(helper, home);
  await machine.join('home');
  const other = await networkAfter(helper, 'offline');
  expect(other).toMatch(/^net-/);
  expect(other).not.toBe(home);
});

test('forecasts use the rows of the current network, and return with it', async ({ machine, dir }) => {
  await machine.join('home');
  const helper = await machine.helper();
  const home = await helper.network();
  expect(await helper.ask(observed('h3'))).toMatchObject({ stored: 1 });
  expect(await expected(helper)).toBe('h3');
  await machine.join('cafe');
  const cafe = await networkAfter(helper, home);
  expect(await expected(helper)).not.toBe('h3');
  expect(await helper.ask(observed('h2'))).toMatchObject({ stored: 1 });
  expect(await expected(helper)).toBe('h2');
  await machine.join('home');
  expect(await networkAfter(helper, cafe)).toBe(home);
  expect(await expected(helper)).toBe('h3');
  const log = await readFile(join(dir, 'helper.log'), 'utf8');
  const moves = log.split('\n').filter((line) => line.includes('"event":"network"'));
  expect(moves.map((line) => JSON.parse(line))).toMatchObject([
    { from: home, to: cafe },
    { from: cafe, to: home },
  ]);
  const { clientDevice, ipv4 } = machine.net.peers.home;
  const [{ lladdr }] = JSON.parse(await machine.net.client.ip('-j', 'neigh', 'show', ipv4));
  for (const secret of [ipv4, lladdr, clientDevice]) expect(log).not.toContain(secret);
});

test('a race under way when the network changes is cancelled, and leaves no record for either', async ({
  machine,
}) => {
  await machine.join('home');
  const attempts = await machine.net.client.countSent({ transport: 'tcp', port: 443 });
  const helper = await machine.helper();
  const before = await helper.network();
  // Of several trials, of which each may last three seconds: it must not end before the change is noticed.
  const race = helper.ask({
    type: 'race',
    origin: `https://${BLACK_HOLE}`,
    mode: 'compare',
    reason: 'click',
  });
  await expect.poll(() => attempts.read(), { intervals: [20] }).toBeGreaterThan(0);
  await machine.join('cafe');
  expect(await race).toMatchObject({ type: 'error', code: 'cancelled', message: 'the network changed' });
  expect(await helper.network()).not.toBe(before);
  const stats = await helper.ask({ type: 'stats' });
  expect(stats).toMatchObject({ origins: 0, races: 0 });
});

test('the command line stops a series that relies on memory, with the reason', async ({ machine, dir }) => {
  await machine.join('home');
  const attempts = await machine.net.client.countSent({ transport: 'tcp', port: 443 });
  const options = [
    '--memory',
    'full',
    '--trials',
    '50',
    '--cache',
    join(dir, 'cli.db'),
    '--allow-private',
    '--json',
  ];
  const run = machine.net.client.run(PHOTOFINISH, [
    'race',
    `https://${BLACK_HOLE}`,
    '--timeout',
    '3000',
    ...options,
  ]);
  await expect.poll(() => attempts.read(), { intervals: [20] }).toBeGreaterThan(0);
  await machine.join('cafe');
  const { code, stdout, stderr } = await run;
  expect(stderr).toMatch(/^photofinish: network-changed: the network changed/m);
  expect(code).toBe(1);
  const [race] = v.parse(raceDocumentSchema, JSON.parse(stdout)).races;
  expect(race?.error).toEqual({ code: 'cancelled', message: 'the network changed' });
});

test('an explanation ends when the network changes, because its races would be of two', async ({
  machine,
  dir,
}) => {
  await machine.join('home');
  const attempts = await machine.net.client.countSent({ transport: 'tcp', port: 443 });
  const run = machine.net.client.run(PHOTOFINISH, [
    'explain',
    `https://${BLACK_HOLE}`,
    '--timeout',
    '10000',
    '--cache',
    join(dir, 'cli.db'),
    '--allow-private',
  ]);
  await expect.poll(() => attempts.read(), { intervals: [20] }).toBeGreaterThan(0);
  await machine.join('cafe');
  const { code, stdout, stderr } = await run;
  expect(stderr).toMatch(/^photofinish: network-changed: the network changed/m);
  expect([code, stdout]).toEqual([1, '']);
});

/** What wg-quick does: the main table keeps its default route, which only marked packets still use. */
async function routeThroughTunnel(client: Namespace, device: string): Promise<() => Promise<void>> {
  const rule = ['not', 'fwmark', '51820', 'table', '51820'];
  await client.ip('address', 'add', '10.64.0.2/32', 'dev', device);
  await client.ip('link', 'set', device, 'up');
  await client.ip('route', 'add', 'default', 'dev', device, 'table', '51820');
  await client.ip('rule', 'add', ...rule);
  await client.ip('rule', 'add', 'table', 'main', 'suppress_prefixlength', '0');
  return async () => {
    await client.ip('rule', 'delete', ...rule);
  };
}

test('a tunnel reached only by policy rules is detected, and so is its end', async ({ machine }) => {
  const why = await networkUnavailable('tun');
  test.skip(why !== null, why ?? '');
  await machine.join('home');
  const helper = await machine.helper();
  const bare = await helper.network();
  const { client, peers } = machine.net;
  const ends = [
    { namespace: client.name, device: 'wg0' },
    { namespace: peers.cafe.name, device: 'wg0' },
  ] as const;
  const tunnel = await startForwarder(...ends, 1);
  const leaveTunnel = await routeThroughTunnel(client, 'wg0');
  const tunnelled = await networkAfter(helper, bare);
  expect(tunnelled).toMatch(/^net-/);
  const another = await machine.helper();
  expect(await another.network()).toBe(tunnelled);
  await leaveTunnel();
  expect(await networkAfter(helper, tunnelled)).toBe(bare);
  await tunnel.close();
});

test('a tunnel that still has routes but no program is not mistaken for the network beneath', async ({
  machine,
}) => {
  await machine.join('home');
  const helper = await machine.helper();
  const bare = await helper.network();
  await machine.net.client.ip('tuntap', 'add', 'dev', 'wg0', 'mode', 'tun');
  await routeThroughTunnel(machine.net.client, 'wg0');
  expect(await networkAfter(helper, bare)).toMatch(/^net-/);
});

test('a network reached only by a rule is still identified by its gateway', async ({ machine }) => {
  const { client, peers } = machine.net;
  const leadTo = (peer: Peer) =>
    client.ip('route', 'replace', 'default', 'via', peer.ipv4, 'dev', peer.clientDevice, 'table', '100');
  await client.ip('rule', 'add', 'table', '100');
  await leadTo(peers.home);
  const helper = await machine.helper();
  const home = await helper.network();
  expect(home).toMatch(/^net-/);
  await leadTo(peers.cafe);
  expect(await networkAfter(helper, home)).toMatch(/^net-/);
  await machine.join('home');
  await client.ip('rule', 'delete', 'table', '100');
  await expect.poll(() => helper.network(), { timeout: NOTICED_MS }).toBe(home);
});

test('IPv6-only networks are distinguished too', async ({ machine }) => {
  const { client, peers } = machine.net;
  for (const peer of Object.values(peers))
    await client.ip('-4', 'address', 'flush', 'dev', peer.clientDevice);
  await machine.join('home', '-6');
  const helper = await machine.helper();
  const home = await helper.network();
  expect(home).toMatch(/^net-/);
  const another = await machine.helper();
  expect(await another.network()).toBe(home);
  await client.ip('-6', 'route', 'delete', 'default');
  await machine.join('cafe', '-6');
  const cafe = await networkAfter(helper, home);
  expect(cafe).toMatch(/^net-/);
});
