import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLIC_ADDRESSES } from '../network/system.ts';
import { dnsTestbed, zone } from '../testing/dns-server.ts';
import type { DnsClient } from './answer.ts';
import { type Environment, familiesOf, watchConnectivity } from './connectivity.ts';
import { openDns } from './dns.ts';

/** A machine with these source addresses for the public Internet, and these interface addresses. */
function machine(v4: string | null, v6: string | null, addresses: readonly string[] = []): Environment {
  return {
    sourceFor: (destination) => (destination === PUBLIC_ADDRESSES[6] ? v6 : v4),
    addresses: () => addresses,
  };
}

const LOCAL = ['127.0.0.1', '::1', 'fe80::1', '169.254.7.7'];

test('a default route decides; without one, addresses beyond loopback and link-local do', () => {
  const table: [Environment, boolean, boolean, 'ipv4' | 'ipv6'][] = [
    [machine('192.168.0.2', '2001:db8::2'), true, true, 'ipv6'],
    [machine('192.168.0.2', null, ['fd00::2', ...LOCAL]), false, true, 'ipv4'],
    [machine(null, '2001:db8::2', ['192.168.0.2']), true, false, 'ipv6'],
    // A route over an interface without an address of its own to send from.
    [machine('192.168.0.2', 'fe80::1'), false, true, 'ipv4'],
    [machine('169.254.7.7', '2001:db8::2'), true, false, 'ipv6'],
    [machine(null, null, ['10.0.0.2', ...LOCAL]), false, true, 'ipv4'],
    [machine(null, null, ['10.0.0.2', 'fd00::2', ...LOCAL]), true, true, 'ipv6'],
    [machine(null, null, LOCAL), false, false, 'ipv6'],
    [machine('127.0.0.1', '::1', LOCAL), false, false, 'ipv6'],
    [machine(null, null), false, false, 'ipv6'],
  ];
  for (const [environment, ipv6, ipv4, preferred] of table)
    assert.deepEqual(familiesOf(environment), { ipv6, ipv4, preferred });
});

/** A clock moved by the test; whatever waits for it has waited long enough as soon as it moves. */
function handClock() {
  let nowMs = 0;
  const timers = new Set<() => void>();
  return {
    nowMs: () => nowMs,
    after: (_: number, run: () => void) => {
      timers.add(run);
      return () => timers.delete(run);
    },
    pass: (ms: number) => {
      nowMs += ms;
      for (const run of timers) run();
      timers.clear();
    },
  };
}

const DNS64 = zone({ 'ipv4only.arpa': { AAAA: ['64:ff9b::c000:aa', '64:ff9b::c000:ab'] } });

test('the NAT64 prefix is queried only with an IPv6 route, once per TTL; with an IPv4 route only for the guard', async (t) => {
  const { server, asked } = await dnsTestbed(t, DNS64);
  const dns = openDns({ server });
  const clock = handClock();
  const old = watchConnectivity(machine('192.168.0.2', null), clock);
  assert.equal((await old.connectivity(dns)).nat64Prefix, null);
  assert.equal(await old.nat64Prefix(dns), null);
  const dual = watchConnectivity(machine('192.168.0.2', '2001:db8::2'), clock);
  assert.equal((await dual.connectivity(dns)).nat64Prefix, null);
  assert.deepEqual(asked, []);
  assert.equal(await dual.nat64Prefix(dns), '64:ff9b::/96');
  assert.equal((await dual.connectivity(dns)).nat64Prefix, null);
  assert.deepEqual(asked.splice(0), ['AAAA ipv4only.arpa']);

  const modern = watchConnectivity(machine(null, '2001:db8::2'), clock);
  assert.deepEqual(await Promise.all([modern.connectivity(dns), modern.connectivity(dns)]), [
    { ipv6: true, ipv4: false, preferred: 'ipv6', nat64Prefix: '64:ff9b::/96' },
    { ipv6: true, ipv4: false, preferred: 'ipv6', nat64Prefix: '64:ff9b::/96' },
  ]);
  clock.pass(299_999);
  assert.equal(await modern.nat64Prefix(dns), '64:ff9b::/96');
  assert.deepEqual(asked, ['AAAA ipv4only.arpa']);
  clock.pass(1);
  await modern.connectivity(dns);
  assert.equal(asked.length, 2);
});

test("the network's own resolver is asked too where another server was chosen, and is believed first", async (t) => {
  const chosen = await dnsTestbed(t, zone({}));
  const local = await dnsTestbed(t, DNS64);
  const other = await dnsTestbed(
    t,
    zone({ 'ipv4only.arpa': { AAAA: ['2001:db8:64::192.0.0.170', '2001:db8:64::192.0.0.171'] } }),
  );
  const prefixes = async (server: string, network: string): Promise<(string | null)[]> => {
    const open = () => openDns({ server: network });
    const only6 = watchConnectivity(machine(null, '2001:db8::2'), handClock(), open);
    const both = watchConnectivity(machine('192.168.0.2', '2001:db8::2'), handClock(), open);
    const dns = openDns({ server });
    return [(await only6.connectivity(dns)).nat64Prefix, await both.nat64Prefix(dns)];
  };
  const made = ['64:ff9b::/96', '64:ff9b::/96'];
  assert.deepEqual(await prefixes(chosen.server, local.server), made);
  assert.deepEqual(await prefixes(local.server, chosen.server), made);
  assert.deepEqual(await prefixes(other.server, local.server), made);
  assert.deepEqual(await prefixes(chosen.server, chosen.server), [null, null]);
  assert.deepEqual(await prefixes(local.server, 'not-a-server'), made);
});

test('on another network it is queried again; its absence is cached for a minute', async (t) => {
  const { server, asked } = await dnsTestbed(t, () => ({ records: [] }));
  const dns = openDns({ server });
  const clock = handClock();
  let self = '2001:db8::2';
  const { connectivity } = watchConnectivity(
    { sourceFor: (to) => (to === PUBLIC_ADDRESSES[6] ? self : null), addresses: () => [] },
    clock,
  );
  assert.equal((await connectivity(dns)).nat64Prefix, null);
  await connectivity(dns);
  assert.equal(asked.length, 1);
  self = '2001:db8:1::2';
  await connectivity(dns);
  assert.equal(asked.length, 2);
  clock.pass(60_000);
  await connectivity(dns);
  assert.equal(asked.length, 3);
});

test('a failed question is no answer: it is repeated after a second', async (t) => {
  let isBroken = true;
  const { server } = await dnsTestbed(t, (...question) => (isBroken ? 'SERVFAIL' : DNS64(...question)));
  const dns = openDns({ server });
  const clock = handClock();
  const only6 = watchConnectivity(machine(null, '2001:db8::2'), clock);
  const both = watchConnectivity(machine('192.168.0.2', '2001:db8::2'), clock);
  assert.equal((await only6.connectivity(dns)).nat64Prefix, null);
  assert.equal(await both.nat64Prefix(dns), null);
  isBroken = false;
  clock.pass(999);
  assert.equal((await only6.connectivity(dns)).nat64Prefix, null);
  clock.pass(1);
  assert.equal((await only6.connectivity(dns)).nat64Prefix, '64:ff9b::/96');
  assert.equal(await both.nat64Prefix(dns), '64:ff9b::/96');
});

test('a silent resolver is asked again after a second only where a race depends on the prefix', async () => {
  let questions = 0;
  const silent: DnsClient = {
    ask: (_, kind, signal) => {
      questions += 1;
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ ok: false, kind, message: 'cancelled' }));
      });
    },
  };
  const clock = handClock();
  const asked = async (question: Promise<unknown>): Promise<number> => {
    clock.pass(1000);
    await question;
    return questions;
  };
  const only6 = watchConnectivity(machine(null, '2001:db8::2'), clock);
  assert.equal(await asked(only6.connectivity(silent)), 1);
  clock.pass(1000);
  assert.equal(await asked(only6.connectivity(silent)), 2);
  const both = watchConnectivity(machine('192.168.0.2', '2001:db8::2'), clock);
  assert.equal(await asked(both.nat64Prefix(silent)), 3);
  clock.pass(59_999);
  assert.equal(await asked(both.nat64Prefix(silent)), 3);
  assert.equal(await asked(both.nat64Prefix(silent)), 4);
});
