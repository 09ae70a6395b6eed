import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  defaultRoutes,
  defaultRoutes6,
  gatewayOfRouteGet,
  isTunnelType,
  neighbour4,
  neighbour6,
  readSsid,
  ssidOfIw,
  ssidOfIwgetid,
  ssidOfNmcli,
} from './linux-tables.ts';

const ROUTE_HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
const HOME_ROUTE = `${ROUTE_HEAD}eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\neth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n`;
const ARP_HEAD = 'IP address       HW type     Flags       HW address            Mask     Device\n';
const arp = (mac: string, flags = '0x2') =>
  `${ARP_HEAD}192.168.1.1      0x1         ${flags}         ${mac}     *        eth0\n`;
const ROUTE6_DEFAULT = `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n`;
const ROUTE6_REJECT = `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} ffffffff 00000001 00000000 00200200       lo\n`;

test('the default route: little-endian gateway, lowest metric first, without routes that are down or rejecting', () => {
  assert.deepEqual(defaultRoutes(HOME_ROUTE), [{ device: 'eth0', gateway: '192.168.1.1', metric: 100 }]);
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
    { device: 'eth0', gateway: 'fe80:0000:0000:0000:0000:0000:0000:0001', metric: 1024 },
  ]);
});

test('a neighbour is known once the kernel has resolved it, on its own interface', () => {
  const route = { device: 'eth0', gateway: '192.168.1.1', metric: 0 };
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
      for (const route of [...defaultRoutes(text), { device: 'eth0', gateway: '0', metric: 0 }])
        neighbour4(text, route);
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
