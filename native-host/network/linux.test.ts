// The network of a Linux machine, from its files, kernel and commands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { virtualTime } from '../testing/virtual-time.ts';
import {
  defaultRoutes,
  defaultRoutes6,
  gatewayOfRouteGet,
  isTunnelType,
  type LinuxMachine,
  linuxSource,
  neighbour4,
  neighbour6,
  readSsid,
  ssidOfIw,
  ssidOfIwgetid,
  ssidOfNmcli,
} from './linux.ts';

const ROUTE_HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
const HOME_ROUTE = `${ROUTE_HEAD}eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\neth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n`;
const ARP_HEAD = 'IP address       HW type     Flags       HW address            Mask     Device\n';
const arp = (mac: string, flags = '0x2') =>
  `${ARP_HEAD}192.168.1.1      0x1         ${flags}         ${mac}     *        eth0\n`;
const ROUTE6_DEFAULT = `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n`;
const ROUTE6_REJECT = `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} ffffffff 00000001 00000000 00200200       lo\n`;

test('the default route: little-endian gateway, lowest metric first, without routes that are down or rejecting', () => {
  assert.deepEqual(defaultRoutes(HOME_ROUTE), [
    { device: 'eth0', gateway: '192.168.1.1', metric: 100, family: 4 },
  ]);
  const two = `${HOME_ROUTE}wlan0\t00000000\t0100A8C0\t0003\t0\t0\t50\t00000000\t0\t0\t0\n`;
  assert.equal(defaultRoutes(two)[0]?.device, 'wlan0');
  const down = `${ROUTE_HEAD}eth0\t00000000\t0101A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n`;
  assert.deepEqual(defaultRoutes(down), []);
});

test("a VPN's two halves take precedence over the default route, whatever their metric", () => {
  const halves = `${HOME_ROUTE}tun0\t00000000\t0100080A\t0003\t0\t0\t900\t00000080\t0\t0\t0\ntun0\t00000080\t0100080A\t0003\t0\t0\t900\t00000080\t0\t0\t0\n`;
  assert.equal(defaultRoutes(halves)[0]?.device, 'tun0');
});

test('the IPv6 default route; the reject route of a machine without IPv6 does not count', () => {
  assert.deepEqual(defaultRoutes6(ROUTE6_REJECT), []);
  assert.deepEqual(defaultRoutes6(ROUTE6_DEFAULT + ROUTE6_REJECT), [
    { device: 'eth0', gateway: 'fe80:0000:0000:0000:0000:0000:0000:0001', metric: 1024, family: 6 },
  ]);
});

test('a neighbour is known once the kernel has resolved it, on its own interface', () => {
  const route = { device: 'eth0', gateway: '192.168.1.1' };
  assert.equal(neighbour4(arp('aa:bb:cc:00:11:22'), route), 'aa:bb:cc:00:11:22');
  assert.equal(neighbour4(arp('00:00:00:00:00:00', '0x0'), route), null);
  assert.equal(neighbour4(arp('aa:bb:cc:00:11:22', '0x0'), route), null);
  assert.equal(neighbour4(arp('aa:bb:cc:00:11:22'), { ...route, device: 'eth1' }), null);
  assert.equal(neighbour4(arp('aa:bb:cc:00:11:22'), { ...route, gateway: null }), null);
});

test('an IPv6 neighbour in the output of ip', () => {
  assert.equal(neighbour6('fe80::1 lladdr aa:bb:cc:00:11:22 router REACHABLE \n'), 'aa:bb:cc:00:11:22');
  assert.equal(neighbour6('fe80::1 dev eth0 lladdr aa:bb:cc:00:11:22 router STALE \n'), 'aa:bb:cc:00:11:22');
  assert.equal(neighbour6('fe80::1 dev eth0  FAILED \n'), null);
  assert.equal(neighbour6('fe80::1 dev eth0  INCOMPLETE \n'), null);
  assert.equal(neighbour6(''), null);
});

test('the gateway of a route in the output of ip', () => {
  assert.equal(
    gatewayOfRouteGet('193.0.14.129 via 10.1.0.1 dev eth0 table 100 src 10.1.0.2 uid 1000 \\    cache \n'),
    '10.1.0.1',
  );
  assert.equal(
    gatewayOfRouteGet(
      '2001:7fd::1 from :: via fe80::1 dev eth0 proto ra src fd00::2 metric 1024 pref medium\n',
    ),
    'fe80::1',
  );
  assert.equal(gatewayOfRouteGet('193.0.14.129 via inet6 fe80::1 dev eth0 src 10.1.0.2 uid 0 \n'), 'fe80::1');
  assert.equal(gatewayOfRouteGet('193.0.14.129 dev ppp0 src 10.64.0.2 uid 0 \\    cache \n'), null);
});

test('tunnels have types of their own', () => {
  for (const type of ['512\n', '65534\n', '778']) assert.equal(isTunnelType(type), true, type);
  for (const type of ['1\n', '772\n', '']) assert.equal(isTunnelType(type), false, type);
});

test('parsing never throws, whatever the kernel prints', () => {
  const words = fc.constantFrom('0', 'f', '\t', '\n', ' ', 'eth0', '00000000', '0003', 'lladdr ', ':');
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: words }), fc.string()), (text) => {
      defaultRoutes6(text);
      neighbour6(text);
      gatewayOfRouteGet(text);
      for (const route of [...defaultRoutes(text), { device: 'eth0', gateway: '0' }]) neighbour4(text, route);
    }),
  );
});

const IW_LINK = `Connected to 04:f0:21:33:f7:11 (on wlp3s0)
	SSID: Caf\\xc3\\xa9 am Eck
	freq: 5180
	RX: 1204834 bytes (8412 packets)
	TX: 92342 bytes (612 packets)
	signal: -52 dBm
	rx bitrate: 433.3 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 1
	tx bitrate: 433.3 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 1

	bss flags:	short-slot-time
	dtim period:	2
	beacon int:	100
`;
const NMCLI_LIST = ` :Neighbour
*:Caf\\: "am" Eck \\\\o/
 :
 :Neighbour 5
`;

test('iw: the name with its escaped bytes; none if not connected', () => {
  assert.equal(ssidOfIw(IW_LINK), 'Café am Eck');
  assert.equal(ssidOfIw('Not connected.\n'), '');
});

test('nmcli: the active row, unescaped', () => {
  assert.equal(ssidOfNmcli(NMCLI_LIST), 'Caf: "am" Eck \\o/');
  assert.equal(ssidOfNmcli(' :Neighbour\n'), '');
});

test('iwgetid: the name unchanged, including spaces', () => {
  assert.equal(ssidOfIwgetid(' two  words \n'), ' two  words ');
});

test('the answer of the first tool available is used, even if there is no name', async () => {
  const asked: string[] = [];
  const answers = (outputs: Record<string, string>) => {
    asked.length = 0;
    return async (file: string): Promise<string | null> => {
      asked.push(file);
      return outputs[file] ?? null;
    };
  };
  assert.equal(await readSsid(answers({ iw: IW_LINK, nmcli: NMCLI_LIST }), 'wlp3s0'), 'Café am Eck');
  assert.deepEqual(asked, ['iw']);
  assert.equal(await readSsid(answers({ nmcli: NMCLI_LIST }), 'wlp3s0'), 'Caf: "am" Eck \\o/');
  assert.equal(await readSsid(answers({ iwgetid: 'home\n' }), 'wlp3s0'), 'home');
  assert.equal(await readSsid(answers({}), 'wlp3s0'), '');
  assert.deepEqual(asked, ['iw', 'nmcli', 'iwgetid']);
});

test('parsing never throws, whatever the tools print', () => {
  const words = fc.constantFrom('SSID: ', '\\x', 'c3', '\\', ':', '*', '\n', '\t', 'é', '😀');
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: words }), fc.string()), (text) => {
      ssidOfIw(text);
      ssidOfNmcli(text);
      ssidOfIwgetid(text);
    }),
  );
});

const MAC = 'aa:bb:cc:00:11:22';
const route = (device: string, gateway: string, mask = '00000000', metric = 100) =>
  `${device}\t00000000\t${gateway}\t0003\t0\t0\t${metric}\t${mask}\t0\t0\t0\n`;
const arpOn = (device: string, mac: string) =>
  `192.168.1.1      0x1         0x2         ${mac}     *        ${device}\n`;
const GATEWAY = '0101A8C0';

const WIRED = {
  '/proc/net/route': ROUTE_HEAD + route('eth0', GATEWAY),
  '/proc/net/arp': ARP_HEAD + arpOn('eth0', MAC),
  '/sys/class/net/eth0/type': '1\n',
  '/sys/class/net/eth0/carrier_changes': '2\n',
};
const WIREGUARD = { ...WIRED, '/sys/class/net/wg0/type': '65534\n' };

interface FakeSystem {
  readonly source?: string | null;
  readonly addresses?: Record<string, string>;
  readonly run?: (command: string) => string | null;
  readonly sendEmptyDatagram?: (address: string) => void;
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
    sendEmptyDatagram(address) {
      asked.push(`sendEmptyDatagram ${address}`);
      says.sendEmptyDatagram?.(address);
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
  const files = { '/proc/net/route': ROUTE_HEAD, '/proc/net/arp': ARP_HEAD + arpOn('eth0', MAC) };
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
  assert.notEqual(idle.snapshot().route, up.snapshot().route);
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

test('a link that went down and up changes the mark, but not the route', () => {
  const before = source(WIRED).snapshot();
  const after = source({ ...WIRED, '/sys/class/net/eth0/carrier_changes': '4\n' }).snapshot();
  assert.notEqual(before.mark, after.mark);
  assert.equal(before.route, after.route);
});

test('an unresolved gateway is prompted and waited for', async () => {
  const files: Record<string, string> = { ...WIRED, '/proc/net/arp': ARP_HEAD };
  const linux = source(files, {
    sendEmptyDatagram: () => {
      files['/proc/net/arp'] = ARP_HEAD + arpOn('eth0', MAC);
    },
  });
  assert.equal(linux.snapshot().facts, 'ask');
  assert.equal((await linux.found())?.linkLayer, MAC);
  assert.deepEqual(linux.asked, ['sendEmptyDatagram 192.168.1.1']);
  assert.equal(linux.elapsedMs(), 10);
});

test('a gateway that never answers is identified by its IP address, after a bounded wait', async () => {
  const linux = source({ ...WIRED, '/proc/net/arp': ARP_HEAD });
  const found = await linux.found();
  assert.deepEqual([found?.gateway, found?.linkLayer], ['192.168.1.1', null]);
  assert.equal(linux.elapsedMs(), 1180);
});

test('with IPv6 alone its neighbours are queried by command, repeatedly', async () => {
  const files = { '/proc/net/ipv6_route': ROUTE6_DEFAULT, '/sys/class/net/eth0/type': '1\n' };
  const run = (command: string) =>
    command.startsWith('ip -6 neigh') ? `fe80::1 lladdr ${MAC} router REACHABLE\n` : null;
  const linux = source(files, { run });
  assert.equal(linux.snapshot().facts, 'ask');
  assert.equal(linux.snapshot().goodForMs, 5000);
  assert.equal((await linux.found())?.linkLayer, MAC);
  assert.deepEqual(linux.asked, ['ip -6 neigh show fe80:0000:0000:0000:0000:0000:0000:0001 dev eth0']);
  const silent = source(files);
  assert.equal((await silent.found())?.linkLayer, null);
  assert.ok(silent.asked.includes('sendEmptyDatagram fe80:0000:0000:0000:0000:0000:0000:0001%eth0'));
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
