// Every code of the failure taxonomy, provoked by a real peer and identified by the command line. Titles give code,
// cause, peer and transport.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode } from '@photofinish/shared/race/terms';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { Obstacle } from '../network/namespace.ts';
import { type HostScript, startDns } from '../origins/dns.ts';
import { startSilence } from '../origins/raw.ts';
import { CASES, HARMLESS } from './failure-table.ts';
import { expect, PHOTOFINISH, runPhotofinish } from './fixtures.ts';
import { HOST, type RaceExpectation, raceArguments, raceOf, test } from './peers.ts';

/** Why the only attempt failed. */
function failureOf(stdout: string): AttemptError | undefined {
  const [trial] = raceOf(stdout).trials;
  expect(trial?.adopted).toBeNull();
  expect(trial?.attempts).toHaveLength(1);
  return trial?.attempts[0]?.error;
}

for (const [code, how, peer, mode, where, says] of CASES)
  test(`${code}: ${how} (${peer}, ${mode})`, async ({ testbed }) => {
    const { port, stop, endless } = await where(testbed);
    const args = raceArguments(port, mode, testbed.chains.caPath, { code, endless });
    const { code: exit, stdout } = await runPhotofinish(args);
    stop?.();
    const error = failureOf(stdout);
    expect(error?.code, error?.message).toBe(code);
    if (typeof says === 'string') expect(error?.reason).toBe(says);
    else expect(error?.message).toMatch(says);
    expect(exit).toBe(1);
  });

for (const [how, peer, mode, where] of HARMLESS)
  test(`no failure: ${how} (${peer}, ${mode})`, async ({ testbed }) => {
    const { port, stop } = await where(testbed);
    const { code, stdout } = await runPhotofinish(raceArguments(port, mode, testbed.chains.caPath));
    stop?.();
    const [trial] = raceOf(stdout).trials;
    expect([code, trial?.adopted]).toEqual([0, mode]);
    expect(trial?.firstByteMs).not.toBeNull();
  });

/** The origin's record when nothing could be attempted. */
const UNATTEMPTED: readonly (readonly [
  AttemptErrorCode,
  string,
  string,
  () => Promise<readonly string[]>,
])[] = [
  ['dns-failed', 'SERVFAIL', 'DNS server', () => resolverWith({ [HOST]: FAILING })],
  ['no-address', 'NXDOMAIN', 'DNS server', () => resolverWith({})],
  ['no-address', 'a name without addresses', 'DNS server', () => resolverWith({ [HOST]: {} })],
  [
    'blocked',
    'a private address without leave',
    'our guard',
    async () => ['--resolve', `${HOST}:443:10.0.0.1`],
  ],
];
/** Allowed or not: nothing is sent there, and no name is looked up. */
const BAD_PORT = 25;

const FAILING: HostScript = { A: 'SERVFAIL', AAAA: 'SERVFAIL', HTTPS: 'SERVFAIL' };

const stopping: (() => void)[] = [];
test.afterEach(() => {
  for (const stop of stopping.splice(0)) stop();
});

async function resolverWith(names: Readonly<Record<string, HostScript>>): Promise<string[]> {
  const { resolver, stop } = await startDns(names);
  stopping.push(stop);
  return ['--resolver', resolver];
}

for (const [code, how, peer, options] of UNATTEMPTED)
  test(`${code}: ${how} (${peer})`, async () => {
    const args = ['race', `https://${HOST}`, '--memory', 'none', '--json', ...(await options())];
    const { code: exit, stdout } = await runPhotofinish(args);
    const race = raceOf(stdout);
    expect(race.error?.code, race.error?.message).toBe(code);
    expect([exit, race.trials]).toEqual([1, []]);
  });

test('port-blocked: a port that browsers refuse to connect to (our guard)', async () => {
  const reach = ['--resolve', `${HOST}:${BAD_PORT}:127.0.0.1`, '--allow-private'];
  const origin = `https://${HOST}:${BAD_PORT}`;
  const { code, stdout } = await runPhotofinish(['race', origin, '--memory', 'none', '--json', ...reach]);
  const race = raceOf(stdout);
  expect([code, race.error?.code, race.trials]).toEqual([1, 'port-blocked', []]);
  expect(verdictText(race.verdict)).toContain('browsers do not connect to port 25');
});

test('cancelled: an interrupt from the keyboard (SIGINT)', async ({ testbed }) => {
  const silence = await startSilence();
  const child = spawn(PHOTOFINISH, raceArguments(silence.port, 'h3', testbed.chains.caPath));
  const exited = once(child, 'exit');
  const printed = text(child.stdout);
  await silence.asked;
  child.kill('SIGINT');
  expect(await exited).toEqual([130, null]);
  silence.stop();
  expect(raceOf(await printed).error?.code).toBe('cancelled');
});

type ObstructionCase = readonly [
  code: AttemptErrorCode,
  how: string,
  mode: 'h3' | 'h2',
  at: 'server' | 'client',
  obstacle: Obstacle,
];
const OBSTRUCTED: readonly ObstructionCase[] = [
  ['udp-timeout', 'a black hole', 'h3', 'server', { transport: 'udp', effect: 'drop' }],
  ['udp-refused', 'ICMP port unreachable', 'h3', 'server', { transport: 'udp', effect: 'refuse' }],
  ['udp-unreachable', 'ICMP prohibited', 'h3', 'server', { transport: 'udp', effect: 'prohibit' }],
  ['tcp-unreachable', 'ICMP prohibited', 'h2', 'server', { transport: 'tcp', effect: 'prohibit' }],
  ['tcp-timeout', 'a black hole', 'h2', 'server', { transport: 'tcp', effect: 'drop' }],
  ['tcp-refused', 'a reset', 'h2', 'server', { transport: 'tcp', effect: 'refuse' }],
  // The server's handshake fits into datagrams of 1200 bytes; its response needs a larger one.
  [
    'response-timeout',
    'a path MTU black hole',
    'h3',
    'client',
    { transport: 'udp', effect: 'drop', overBytes: 1250 },
  ],
];

/** Reserved for documentation (RFC 5737, RFC 3849), and beyond what the namespaces have routes to. */
const UNROUTED = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const;

test.describe('in a network of our own', () => {
  for (const family of ['ipv4', 'ipv6'] as const)
    for (const mode of ['h3', 'h2'] as const)
      test(`no-route: an address beyond the network (the kernel, ${mode}, ${family})`, async ({
        testbed,
        path,
      }) => {
        test.skip('unavailable' in path, 'unavailable' in path ? path.unavailable : '');
        if ('unavailable' in path) return;
        const to = { address: UNROUTED[family], code: 'no-route' } as const;
        const args = raceArguments(path.ports[family], mode, testbed.chains.caPath, to);
        const { stdout } = await path.network.client.run(PHOTOFINISH, args);
        const error = failureOf(stdout);
        expect(error?.code, error?.message).toBe('no-route');
      });

  for (const family of ['ipv4', 'ipv6'] as const)
    for (const [code, how, mode, at, obstacle] of OBSTRUCTED)
      test(`${code}: ${how} (nftables, ${mode}, ${family})`, async ({ testbed, path }) => {
        test.skip('unavailable' in path, 'unavailable' in path ? path.unavailable : '');
        if ('unavailable' in path) return;
        const { network, ports } = path;
        const { client } = network;
        const { server } = network.peers;
        const argumentsTo = (to: RaceExpectation) =>
          raceArguments(ports[family], mode, testbed.chains.caPath, { address: server[family], ...to });
        const ends = { server, client };
        await ends[at].obstruct([obstacle]);
        const obstructed = await client.run(PHOTOFINISH, argumentsTo({ code }));
        await ends[at].obstruct([]);
        const error = failureOf(obstructed.stdout);
        expect(error?.code, error?.message).toBe(code);
        if (mode === 'h2') return;
        // The same path without the obstacle shows that nothing else was the cause.
        const clear = await client.run(PHOTOFINISH, argumentsTo({}));
        const [trial] = raceOf(clear.stdout).trials;
        expect(trial?.adopted, JSON.stringify(trial?.attempts)).toBe('h3');
      });
});

test('every code is provoked by one of these, except the one that no peer may provoke', () => {
  const codes = [...CASES, ...UNATTEMPTED, ...OBSTRUCTED].map(([code]) => code);
  const provoked = new Set([...codes, 'cancelled', 'internal', 'port-blocked', 'no-route']);
  expect(provoked).toEqual(new Set(ATTEMPT_ERROR_CODES));
});
