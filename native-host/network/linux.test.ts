// The network of a Linux machine, from its files, kernel and commands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { virtualTime } from '../testing/virtual-time.ts';
import { type LinuxMachine, linuxSource } from './linux.ts';

const MAC = 'aa:bb:cc:00:11:22';
const ROUTE_HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
const ARP_HEAD = 'IP address       HW type     Flags       HW address            Mask     Device\n';
const route = (device: string, gateway: string, mask = '00000000', metric = 100) =>
  `${device}\t00000000\t${gateway}\t0003\t0\t0\t${metric}\t${mask}\t0\t0\t0\n`;
const arp = (device: string, mac: string) =>
  `192.168.1.1      0x1         0x2         ${mac}     *        ${device}\n`;
const ROUTE6 = `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n`;
const GATEWAY = '0101A8C0';

const WIRED = {
  '/proc/net/route': ROUTE_HEAD + route('eth0', GATEWAY),
  '/proc/net/arp': ARP_HEAD + arp('eth0', MAC),
  '/sys/class/net/eth0/type': '1\n',
  '/sys/class/net/eth0/carrier_changes': '2\n',
};
const WIREGUARD = { ...WIRED, '/sys/class/net/wg0/type': '65534\n' };

interface FakeSystem {
  readonly source?: string | null;
  readonly addresses?: Record<string, string>;
  readonly run?: (command: string) => string | null;
  readonly nudge?: (address: string) => void;
}

function source(files: Record<string, string>, says: FakeSystem = {}) {
  const time = virtualTime();
  const asked: string[] = [];
  const machine: LinuxMachine = {
    read: (path) => files[path] ?? '',
    exists: (path) => Object.keys(files).some((name) => name === path || name.startsWith(`${path}/`)),
    list: (path) => [
      ...new Set(
        Object.keys(files).flatMap((name) =>
          name.startsWith(`${path}/`) ? [name.slice(path.length + 1).split('/')[0] ?? ''] : [],
        ),
      ),
    ],
    sourceAddress(family) {
      asked.push(`route ${family}`);
      return says.source ?? null;
    },
    addresses: () =>
      Object.fromEntries(
        Object.entries(says.addresses ?? {}).map(([device, address]) => [device, [{ address }]]),
      ),
    nudge(address) {
      asked.push(`nudge ${address}`);
      says.nudge?.(address);
    },
    async run(file, args) {
      const command = [file, ...args].join(' ');
      asked.push(command);
      return says.run?.(command) ?? null;
    },
    clock: time.clock,
  };
  const linux = linuxSource(machine);
  return { ...linux, asked, found: () => time.run(linux.examine()), elapsedMs: () => time.clock.nowMs() };
}

test('on Ethernet three files suffice, and nothing is queried', () => {
  const { snapshot, asked } = source(WIRED);
  assert.deepEqual(snapshot().facts, {
    gateway: '192.168.1.1',
    linkLayer: MAC,
    kind: 'wired',
    ssid: '',
    tunnel: false,
  });
  assert.deepEqual(asked, []);
});

test('no route: the kernel is queried before reporting that, because its policy rules may have one', async () => {
  const none = source({});
  assert.equal(none.snapshot().facts, null);
  assert.deepEqual(none.asked, ['route 4', 'route 6']);
  const files = { '/proc/net/route': ROUTE_HEAD, '/proc/net/arp': ARP_HEAD + arp('eth0', MAC) };
  const ruled = source(files, {
    source: '192.168.1.7',
    addresses: { eth0: '192.168.1.7' },
    run: () => '193.0.14.129 via 192.168.1.1 dev eth0 table 100 src 192.168.1.7 uid 0\n',
  });
  assert.equal(ruled.snapshot().facts, 'ask');
  assert.deepEqual(await ruled.found(), source(WIRED).snapshot().facts);
});

test('a tunnel used by policy rules holds the default route, whatever the main table says', () => {
  const up = source(WIREGUARD, {
    source: '10.64.0.2',
    addresses: { eth0: '192.168.1.7', wg0: '10.64.0.2' },
  });
  assert.deepEqual(up.snapshot().facts, {
    gateway: '192.168.1.1',
    linkLayer: MAC,
    kind: 'wired',
    ssid: '',
    tunnel: true,
  });
  const idle = source(WIREGUARD, { source: '192.168.1.7', addresses: { eth0: '192.168.1.7' } });
  assert.deepEqual(idle.snapshot().facts, source(WIRED).snapshot().facts);
  assert.notEqual(idle.snapshot().place, up.snapshot().place);
});

test('a source address on no running interface belongs to a tunnel held by no program', () => {
  const dead = source(WIREGUARD, { source: '10.64.0.2', addresses: { eth0: '192.168.1.7' } });
  const facts = dead.snapshot().facts;
  assert.equal(facts !== null && facts !== 'ask' && facts.tunnel, true);
});

test('rules that block all traffic while the tunnel is down: no network, although the main table has a route', () => {
  assert.equal(source(WIREGUARD, { source: null }).snapshot().facts, null);
});

test("a VPN's halves in the main table: the gateway is that of the interface beneath", () => {
  const files = {
    ...WIRED,
    '/proc/net/route': `${ROUTE_HEAD}${route('tun0', '0100080A', '00000080', 0)}${route('eth0', GATEWAY)}`,
    '/sys/class/net/tun0/tun_flags': '0x1001\n',
  };
  const { snapshot } = source(files, { source: '10.8.0.2', addresses: { tun0: '10.8.0.2' } });
  assert.deepEqual(snapshot().facts, {
    gateway: '192.168.1.1',
    linkLayer: MAC,
    kind: 'wired',
    ssid: '',
    tunnel: true,
  });
});

test('a tunnel that uses the address of the interface beneath is identified by the main table', () => {
  const files = { ...WIREGUARD, '/proc/net/route': ROUTE_HEAD + route('wg0', '00000000') };
  const { snapshot } = source(files, {
    source: '192.168.1.7',
    addresses: { eth0: '192.168.1.7', wg0: '192.168.1.7' },
  });
  assert.deepEqual(snapshot().facts, { gateway: '', linkLayer: null, kind: 'other', ssid: '', tunnel: true });
});

test('a link that went down and up changes the mark, but not the place', () => {
  const before = source(WIRED).snapshot();
  const after = source({ ...WIRED, '/sys/class/net/eth0/carrier_changes': '4\n' }).snapshot();
  assert.notEqual(before.mark, after.mark);
  assert.equal(before.place, after.place);
});

test('an unresolved gateway is prompted and waited for', async () => {
  const files: Record<string, string> = { ...WIRED, '/proc/net/arp': ARP_HEAD };
  const linux = source(files, {
    nudge: () => {
      files['/proc/net/arp'] = ARP_HEAD + arp('eth0', MAC);
    },
  });
  assert.equal(linux.snapshot().facts, 'ask');
  assert.equal((await linux.found())?.linkLayer, MAC);
  assert.deepEqual(linux.asked, ['nudge 192.168.1.1']);
  assert.equal(linux.elapsedMs(), 10);
});

test('a gateway that never answers is identified by its IP address, after a bounded wait', async () => {
  const linux = source({ ...WIRED, '/proc/net/arp': ARP_HEAD });
  const found = await linux.found();
  assert.deepEqual([found?.gateway, found?.linkLayer], ['192.168.1.1', null]);
  assert.equal(linux.elapsedMs(), 1180);
});

test('with IPv6 alone its neighbours are queried by command, repeatedly', async () => {
  const files = { '/proc/net/ipv6_route': ROUTE6, '/sys/class/net/eth0/type': '1\n' };
  const run = (command: string) =>
    command.startsWith('ip -6 neigh') ? `fe80::1 lladdr ${MAC} router REACHABLE\n` : null;
  const linux = source(files, { run });
  assert.equal(linux.snapshot().facts, 'ask');
  assert.equal(linux.snapshot().goodForMs, 5000);
  assert.equal((await linux.found())?.linkLayer, MAC);
  assert.deepEqual(linux.asked, ['ip -6 neigh show fe80:0000:0000:0000:0000:0000:0000:0001 dev eth0']);
  const silent = source(files);
  assert.equal((await silent.found())?.linkLayer, null);
  assert.ok(silent.asked.includes('nudge fe80:0000:0000:0000:0000:0000:0000:0001%eth0'));
});

test('a wireless network is also identified by its name, which needs a command', async () => {
  const files = { ...WIRED, '/sys/class/net/eth0/wireless': '' };
  const linux = source(files, {
    run: (command) => (command === 'iw dev eth0 link' ? 'Connected\n\tSSID: home\n' : null),
  });
  assert.equal(linux.snapshot().facts, 'ask');
  assert.deepEqual(await linux.found(), {
    gateway: '192.168.1.1',
    linkLayer: MAC,
    kind: 'wireless',
    ssid: 'home',
    tunnel: false,
  });
});

test('a snapshot never throws, whatever the kernel says', async () => {
  const words = fc.constantFrom('0', 'f', '\t', '\n', ' ', 'eth0', '00000000', '0003', '65534');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: words }), fc.string(), async (text, address) => {
      const names = ['/proc/net/route', '/proc/net/ipv6_route', '/proc/net/arp', '/sys/class/net/eth0/type'];
      const files = Object.fromEntries(names.map((name) => [name, text]));
      const linux = source(files, { source: address, addresses: { eth0: address }, run: () => text });
      linux.snapshot();
      await linux.found();
    }),
  );
});
