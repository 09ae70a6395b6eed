import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  defaultRoutes,
  defaultRoutes6,
  linkAddress,
  type NetworkSources,
  NO_NETWORK,
  networkFacts,
  networkKey,
  readSalt,
  watchNetwork,
} from './network.ts';

const ROUTE_HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
const HOME_ROUTE = `${ROUTE_HEAD}eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\neth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n`;
const ARP_HEAD = 'IP address       HW type     Flags       HW address            Mask     Device\n';
const arp = (mac: string, flags = '0x2') =>
  `${ARP_HEAD}192.168.1.1      0x1         ${flags}         ${mac}     *        eth0\n`;
const ROUTE6_DEFAULT = `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n`;
const ROUTE6_REJECT = `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} ffffffff 00000001 00000000 00200200       lo\n`;

function machine(files: Record<string, string>): NetworkSources {
  return {
    read: (path) => files[path] ?? '',
    exists: (path) => path in files,
  };
}

test('the default route: little-endian gateway, lowest metric first, down and rejecting ones left out', () => {
  assert.deepEqual(defaultRoutes(HOME_ROUTE), [{ device: 'eth0', gateway: '192.168.1.1', metric: 100 }]);
  const two = `${HOME_ROUTE}wlan0\t00000000\t0100A8C0\t0003\t0\t0\t50\t00000000\t0\t0\t0\n`;
  assert.equal(defaultRoutes(two)[0]?.device, 'wlan0');
  const down = `${ROUTE_HEAD}eth0\t00000000\t0101A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n`;
  assert.deepEqual(defaultRoutes(down), []);
});

test("a VPN's two halves beat the default route, whatever their metric", () => {
  const halves = `${HOME_ROUTE}tun0\t00000000\t0100080A\t0003\t0\t0\t900\t00000080\t0\t0\t0\ntun0\t00000080\t0100080A\t0003\t0\t0\t900\t00000080\t0\t0\t0\n`;
  assert.equal(defaultRoutes(halves)[0]?.device, 'tun0');
});

test('IPv6 is asked where IPv4 leads nowhere; the reject route of a machine without IPv6 is none', () => {
  assert.deepEqual(defaultRoutes6(ROUTE6_REJECT), []);
  assert.equal(
    defaultRoutes6(ROUTE6_DEFAULT + ROUTE6_REJECT)[0]?.gateway,
    'fe80:0000:0000:0000:0000:0000:0000:0001',
  );
  assert.equal(networkFacts(machine({ '/proc/net/ipv6_route': ROUTE6_REJECT })), null);
  assert.notEqual(networkFacts(machine({ '/proc/net/ipv6_route': ROUTE6_DEFAULT })), null);
});

test('the gateway is its link-layer address, and its IP address while that is not resolved', () => {
  const [route] = defaultRoutes(HOME_ROUTE);
  assert.ok(route);
  assert.equal(linkAddress(arp('aa:bb:cc:00:11:22'), route), 'aa:bb:cc:00:11:22');
  assert.equal(linkAddress(arp('00:00:00:00:00:00', '0x0'), route), null);
  assert.equal(linkAddress(arp('aa:bb:cc:00:11:22'), { ...route, device: 'eth1' }), null);
  const files = { '/proc/net/route': HOME_ROUTE, '/proc/net/arp': ARP_HEAD };
  assert.deepEqual(networkFacts(machine(files)), { gateway: '192.168.1.1', kind: 'wired' });
});

test('the kind of interface: wired, wireless, tunnel', () => {
  const kind = (files: Record<string, string>) =>
    networkFacts(machine({ '/proc/net/route': HOME_ROUTE, ...files }))?.kind;
  assert.equal(kind({}), 'wired');
  assert.equal(kind({ '/sys/class/net/eth0/wireless': '' }), 'wireless');
  assert.equal(kind({ '/sys/class/net/eth0/tun_flags': '0x1001\n' }), 'tunnel');
  assert.equal(kind({ '/sys/class/net/eth0/type': '65534\n' }), 'tunnel');
});

test('equal addresses in two homes give two keys; the salt decides what they look like', () => {
  const salt = Buffer.alloc(32, 1);
  const home = networkKey({ gateway: 'aa:bb:cc:00:11:22', kind: 'wired' }, salt);
  assert.match(home, /^net-[0-9a-f]{16}$/);
  assert.notEqual(home, networkKey({ gateway: 'aa:bb:cc:00:11:23', kind: 'wired' }, salt));
  assert.notEqual(home, networkKey({ gateway: 'aa:bb:cc:00:11:22', kind: 'tunnel' }, salt));
  assert.notEqual(home, networkKey({ gateway: 'aa:bb:cc:00:11:22', kind: 'wired' }, Buffer.alloc(32, 2)));
  assert.equal(networkKey(null, salt), NO_NETWORK);
});

test('whatever the kernel says, reading it never throws', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('0', 'f', '\t', '\n', ' ', 'eth0', '00000000', '0003') }),
      (text) => {
        const files = { '/proc/net/route': text, '/proc/net/ipv6_route': text, '/proc/net/arp': text };
        networkFacts(machine(files));
      },
    ),
  );
});

test('a change of network is noticed after two seconds, and not looked for before', () => {
  let now = 0;
  let reads = 0;
  let gateway = 'aa:aa:aa:aa:aa:aa';
  const sources: NetworkSources = {
    read(path) {
      reads += 1;
      return path === '/proc/net/route' ? HOME_ROUTE : path === '/proc/net/arp' ? arp(gateway) : '';
    },
    exists: () => false,
  };
  const network = watchNetwork({ salt: Buffer.alloc(32), clock: { epochMs: () => now }, sources });
  const first = network();
  gateway = 'bb:bb:bb:bb:bb:bb';
  const before = reads;
  now = 1999;
  assert.equal(network(), first);
  assert.equal(reads, before);
  now = 2000;
  assert.notEqual(network(), first);
});

test("a user's own label stands for whatever network it is", () => {
  const network = watchNetwork({ salt: Buffer.alloc(32), clock: { epochMs: () => 0 }, label: 'lab' });
  assert.equal(network(), 'lab');
});

test('the salt is made once, kept private, and replaced in memory where it cannot be kept', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'new', 'cache.db.salt');
  const salt = readSalt(path);
  assert.equal(salt.length, 32);
  assert.deepEqual(readSalt(path), salt);
  assert.deepEqual(readFileSync(path), Buffer.from(salt));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(join(directory, 'file'), '');
  assert.equal(readSalt(join(directory, 'file', 'salt')).length, 32);
});
