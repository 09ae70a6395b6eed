// Names of namespaces, since removing one whose owner is alive breaks a running test and one that is never removed
// stays until reboot; the nftables rules for the obstacles and counters that a spec asks for; the tc-netem(8) arguments
// of a shape, and the shapes that netem cannot reproduce.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { beyondNetem, netemText, type Shape } from './link.ts';
import {
  counterScript,
  namespaceName,
  type Obstacle,
  obstacleRules,
  obstacleScript,
  ownerOf,
  readCounter,
  thisProcess,
} from './namespace.ts';

const natural = fc.nat();

test('a name identifies its owner', () => {
  fc.assert(
    fc.property(natural, natural, natural, fc.stringMatching(/^[a-z0-9]+$/), (pid, start, serial, role) => {
      assert.deepEqual(ownerOf(namespaceName({ pid, start }, serial, role)), { pid, start });
    }),
  );
});

test('other names have no owner', () => {
  for (const name of ['client', 'photofinish', 'photofinish-1-2-client', 'x-photofinish-1-2-3-client'])
    assert.equal(ownerOf(name), null, name);
});

test('a role that would make the name ambiguous is rejected', () => {
  for (const role of ['', 'Client', 'a-b', '../x', 'a b'])
    assert.throws(() => namespaceName({ pid: 1, start: 1 }, 1, role), RangeError, role);
});

test('this process has the same identity on every call', { skip: process.platform !== 'linux' }, () => {
  assert.deepEqual(thisProcess(), thisProcess());
  assert.ok(thisProcess().start > 0);
});

const RULES: readonly (readonly [Obstacle, readonly string[]])[] = [
  [{ transport: 'udp', effect: 'drop' }, ['meta l4proto udp drop']],
  [{ transport: 'udp', effect: 'drop', family: 6 }, ['meta nfproto ipv6 meta l4proto udp drop']],
  [{ transport: 'sctp', effect: 'drop' }, ['meta l4proto sctp drop']],
  [{ transport: 'udp', effect: 'refuse' }, ['meta l4proto udp reject with icmpx port-unreachable']],
  [{ transport: 'tcp', effect: 'prohibit' }, ['meta l4proto tcp reject with icmpx admin-prohibited']],
  [
    { transport: 'tcp', effect: 'refuse', port: 443 },
    ['tcp dport 443 reject with tcp reset', 'tcp sport 443 reject with tcp reset'],
  ],
  [{ transport: 'udp', effect: 'drop', overBytes: 1200 }, ['meta l4proto udp udp length > 1208 drop']],
  [
    { transport: 'tcp', effect: 'drop', family: 4, share: 0.25 },
    ['meta nfproto ipv4 meta l4proto tcp numgen random mod 1000 < 250 drop'],
  ],
];

for (const [obstacle, rules] of RULES)
  test(JSON.stringify(obstacle), () => assert.deepEqual(obstacleRules(obstacle), rules));

test('invalid obstacles are rejected', () => {
  assert.throws(() => obstacleRules({ transport: 'tcp', effect: 'drop', overBytes: 1200 }), RangeError);
  for (const share of [-0.1, 1.1, Number.NaN])
    assert.throws(() => obstacleRules({ transport: 'udp', effect: 'drop', share }), RangeError);
});

test('new obstacles replace the old ones in one step', () => {
  const lines = obstacleScript([{ transport: 'udp', effect: 'drop' }])
    .trimEnd()
    .split('\n');
  assert.equal(lines[1], 'flush table inet obstacles');
  assert.equal(lines.at(-1), 'add rule inet obstacles arriving meta l4proto udp drop');
  assert.equal(obstacleScript([]).includes('add rule'), false);
});

test('a counter counts outgoing packets, with the port at either end', () => {
  assert.match(
    counterScript('sent1', { transport: 'udp', port: 443 }),
    /leaving oifname != "lo" udp dport 443 counter name sent1\n/,
  );
  const printed = { nftables: [{ metainfo: {} }, { counter: { name: 'sent1', packets: 7, bytes: 900 } }] };
  assert.equal(readCounter(JSON.stringify(printed)), 7);
  assert.throws(() => readCounter('{"nftables":[]}'), /no counter/);
});

const words = (shape: Shape) => netemText(shape).join(' ');

test('a bare cable resets all settings and has a large queue', () => {
  assert.equal(words({}), 'limit 100000 delay 0ms loss random 0.000000% rate 0bit');
});

test('delay and independent losses', () => {
  const shape: Shape = { delayMs: 12.5, loss: { kind: 'independent', share: 0.03 } };
  assert.equal(words(shape), 'limit 100000 delay 12.5ms loss random 3.000000% rate 0bit');
});

test('bursts are p, r, 1-h and 1-k of the Gilbert-Elliott model', () => {
  const loss = { kind: 'bursts', enter: 0.02, leave: 0.25 } as const;
  assert.match(words({ loss }), / loss gemodel 2\.000000% 25\.000000% 100\.000000% 0\.000000% /);
  const mixed = { ...loss, shareInside: 0.5, shareOutside: 0.001 };
  assert.match(words({ loss: mixed }), / 50\.000000% 0\.100000% /);
});

test('a rate counts IP bytes, and its queue is the limit', () => {
  assert.match(words({ rateMbps: 10 }), /^limit 1000 .* rate 10mbit -14$/);
  assert.match(words({ rateMbps: 0.5, queuePackets: 20 }), /^limit 20 .* rate 0\.5mbit -14$/);
});

test('shapes that netem cannot reproduce are rejected', () => {
  const beyond: Shape[] = [
    { delayMs: 10, jitterMs: 1 },
    { delayMs: 10, rateMbps: 10 },
    { maxPacketBytes: 1280 },
    { apart: { transport: 'udp', delayMs: 5 } },
  ];
  for (const shape of beyond) {
    assert.notEqual(beyondNetem(shape), null);
    assert.throws(() => netemText(shape), RangeError);
  }
  assert.equal(beyondNetem({ delayMs: 10, jitterMs: 0 }), null);
});
