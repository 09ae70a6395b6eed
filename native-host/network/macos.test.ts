// The network of a Mac, from the output of its commands: the formats of macOS 10.15, 11 to 15, and 26.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { virtualTime } from '../testing/virtual-time.ts';
import {
  deviceOfRoute,
  gatewayOf,
  isMacosTunnel,
  isWirelessPort,
  macosSource,
  routesOfNetstat,
  wirelessOfSummary,
} from './macos.ts';

const ROUTE_GET = `   route to: 193.0.14.129
destination: default
       mask: default
    gateway: 192.168.1.1
  interface: en0
      flags: <UP,GATEWAY,DONE,STATIC,PRCLONING,GLOBAL>
 recvpipe  sendpipe  ssthresh  rtt,msec    rttvar  hopcount      mtu     expire
       0         0         0         0         0         0      1500         0
`;
const ROUTE_GET_TUNNEL = `   route to: 193.0.14.129
destination: 128.0.0.0
       mask: 128.0.0.0
  interface: utun4
      flags: <UP,DONE,STATIC,PRCLONING>
`;
const NETSTAT = `Routing tables

Internet:
Destination        Gateway            Flags               Netif Expire
default            192.168.1.1        UGScg                 en0
127                127.0.0.1          UCS                   lo0
169.254            link#11            UCS                   en0      !
192.168.1          link#11            UCS                   en0      !
192.168.1.1/32     link#11            UCS                   en0      !
192.168.1.1        a4:91:b1:0:e:ff    UHLWIir               en0   1189
192.168.1.23/32    link#11            UCS                   en0      !
224.0.0/4          link#11            UmCS                  en0      !

Internet6:
Destination                             Gateway                                 Flags               Netif Expire
default                                 fe80::%utun0                            UGcIg               utun0
::1                                     ::1                                     UHL                   lo0
fe80::%lo0/64                           fe80::1%lo0                             UcI                   lo0
`;
const NETSTAT_10_15 = `Routing tables

Internet:
Destination        Gateway            Flags        Refs      Use   Netif Expire
default            10.10.10.1         UGSc           20       16     en0
10.10.10/24        link#4             UCS             1        0     en0
10.10.10.1/32      link#4             UCS             1        0     en0
10.10.10.1         bc:67:1c:40:3:f6   UHLWIir        21       14     en0   1193
`;
const NETSTAT_VPN = NETSTAT.replace(
  'default            192.168.1.1',
  `0/1                10.8.0.1           UGSc                utun4
default            10.8.0.1           UGScIg              utun4
default            192.168.1.1`,
);
const NETSTAT_6 = `Routing tables

Internet6:
Destination                             Gateway                                 Flags               Netif Expire
default                                 fe80::1%en0                             UGcg                  en0
fe80::1%en0                             a4:91:b1:0:e:ff                         UHLWIi                en0
`;
const SUMMARY = (type: string, ssid: string) => `<dictionary> {
  BSSID : <redacted>
  Hashed-BSSID : 70:d9:1a:00:00:00
  IPv4 : <array> {
    0 : <dictionary> {
      Addresses : <array> {
        0 : 192.168.1.23
      }
      ConfigMethod : DHCP
      Router : 192.168.1.1
      RouterARPVerified : TRUE
    }
  }
  InterfaceType : ${type}
  LinkStatusActive : TRUE
${ssid === '' ? '' : `  SSID : ${ssid}\n`}}
`;
const PORTS = `
Hardware Port: Ethernet
Device: en1
Ethernet Address: a8:20:66:00:00:01

Hardware Port: Wi-Fi
Device: en0
Ethernet Address: a8:20:66:00:00:02

VLAN Configurations
===================
`;

test('the interface by which packets leave', () => {
  assert.equal(deviceOfRoute(ROUTE_GET), 'en0');
  assert.equal(deviceOfRoute(ROUTE_GET_TUNNEL), 'utun4');
  assert.equal(deviceOfRoute('route: writing to routing socket: not in table\n'), null);
});

test("routes in the columns of either release, including the gateway's link-layer address", () => {
  assert.deepEqual(gatewayOf(routesOfNetstat(NETSTAT), 'en0'), {
    address: '192.168.1.1',
    linkLayer: 'a4:91:b1:00:0e:ff',
  });
  assert.deepEqual(gatewayOf(routesOfNetstat(NETSTAT_10_15), 'en0'), {
    address: '10.10.10.1',
    linkLayer: 'bc:67:1c:40:03:f6',
  });
  assert.equal(gatewayOf(routesOfNetstat(NETSTAT), 'en5'), null);
  assert.deepEqual(routesOfNetstat(''), []);
});

test('tunnels are identified by their interface', () => {
  for (const device of ['utun4', 'ipsec0', 'ppp0']) assert.equal(isMacosTunnel(device), true, device);
  for (const device of ['en0', 'bridge100', 'awdl0', 'lo0'])
    assert.equal(isMacosTunnel(device), false, device);
});

test('wireless, its name, and a name hidden by the system', () => {
  assert.deepEqual(wirelessOfSummary(SUMMARY('WiFi', 'Café am Eck')), {
    wireless: true,
    ssid: 'Café am Eck',
  });
  assert.deepEqual(wirelessOfSummary(SUMMARY('WiFi', '<redacted>')), { wireless: true, ssid: '' });
  assert.deepEqual(wirelessOfSummary(SUMMARY('Ethernet', '')), { wireless: false, ssid: '' });
  assert.equal(isWirelessPort(PORTS, 'en0'), true);
  assert.equal(isWirelessPort(PORTS, 'en1'), false);
  assert.equal(isWirelessPort(PORTS, 'en'), false);
});

function mac(outputs: Record<string, string | null>) {
  const time = virtualTime();
  const nudged: string[] = [];
  const source = macosSource({
    mark: () => 'en0',
    sendEmptyDatagram: (address) => nudged.push(address),
    run: async (file, args) => outputs[[file, ...args].join(' ')] ?? null,
    clock: time.clock,
  });
  return { nudged, examine: () => time.run(source.examine()) };
}

const FOUR = 'route -n get 193.0.14.129';
const SIX = 'route -n get -inet6 2001:7fd::1';

test('at home', async () => {
  const { examine, nudged } = mac({
    [FOUR]: ROUTE_GET,
    'netstat -rn': NETSTAT,
    'ipconfig getsummary en0': SUMMARY('WiFi', 'home'),
  });
  assert.deepEqual(await examine(), {
    gateway: '192.168.1.1',
    linkLayer: 'a4:91:b1:00:0e:ff',
    kind: 'wireless',
    ssid: 'home',
    tunnel: false,
  });
  assert.deepEqual(nudged, []);
});

test('through a VPN the gateway is that of the interface beneath', async () => {
  const { examine } = mac({
    [FOUR]: ROUTE_GET_TUNNEL,
    'netstat -rn': NETSTAT_VPN,
    'ipconfig getsummary en0': SUMMARY('WiFi', 'home'),
  });
  assert.deepEqual(await examine(), {
    gateway: '192.168.1.1',
    linkLayer: 'a4:91:b1:00:0e:ff',
    kind: 'wireless',
    ssid: 'home',
    tunnel: true,
  });
});

test('over IPv6 alone, on a system whose summary contains nothing', async () => {
  const { examine } = mac({
    [SIX]: ROUTE_GET,
    'netstat -rn': NETSTAT_6,
    'networksetup -listallhardwareports': PORTS,
  });
  assert.deepEqual(await examine(), {
    gateway: 'fe80::1%en0',
    linkLayer: 'a4:91:b1:00:0e:ff',
    kind: 'wireless',
    ssid: '',
    tunnel: false,
  });
});

test('no route; and unreadable tables are not mistaken for that', async () => {
  assert.equal(await mac({ 'netstat -rn': 'Routing tables\n' }).examine(), null);
  await assert.rejects(mac({ [FOUR]: ROUTE_GET }).examine());
});

test('a command that does not answer is not mistaken for having no route', async () => {
  await assert.rejects(mac({ 'netstat -rn': NETSTAT }).examine(), /route does not answer/);
  const [, internet6 = ''] = NETSTAT.split('Internet6:');
  assert.equal(
    await mac({ 'netstat -rn': `Internet6:${internet6}` }).examine(),
    null,
    'a scoped route alone',
  );
});

test('an unresolved gateway is prompted, and identified by its IP address if it does not answer', async () => {
  const unresolved = NETSTAT.replace('a4:91:b1:0:e:ff', 'link#11        ');
  const { examine, nudged } = mac({
    [FOUR]: ROUTE_GET,
    'netstat -rn': unresolved,
    'ipconfig getsummary en0': SUMMARY('Ethernet', ''),
  });
  const found = await examine();
  assert.deepEqual([found?.gateway, found?.linkLayer, found?.kind], ['192.168.1.1', null, 'wired']);
  assert.deepEqual(nudged, ['192.168.1.1']);
});

test('parsing never throws, whatever the commands print', () => {
  const words = fc.constantFrom(
    'default',
    'Destination',
    'Netif',
    'Gateway',
    ' ',
    '\n',
    'en0',
    'link#4',
    ':',
    'I',
  );
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: words }), fc.string()), (text) => {
      deviceOfRoute(text);
      gatewayOf(routesOfNetstat(text), 'en0');
      wirelessOfSummary(text);
      isWirelessPort(text, 'en0');
    }),
  );
});
