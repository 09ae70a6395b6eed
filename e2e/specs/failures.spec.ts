// Every code of the failure taxonomy, provoked by a real peer and identified by the command line. Titles give code,
// cause, peer and transport.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import {
  ATTEMPT_ERROR_CODES,
  type AttemptErrorCode,
  type CertificateReason,
} from '@photofinish/shared/race/terms';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { Obstacle } from '../network/namespace.ts';
import { type HostScript, startDns } from '../origins/dns.ts';
import {
  CLOSED_PORT,
  HTTP1_ACTS,
  HTTP2_ACTS,
  refusingUdpPort,
  startGoAway,
  startHttp1,
  startHttp2,
  startNoise,
  startPlain,
  startSilence,
  startTls,
  startVersionNegotiation,
} from '../origins/raw.ts';
import { expect, PHOTOFINISH, runPhotofinish } from './fixtures.ts';
import {
  type BadChain,
  type Behaviour,
  HOST,
  type RaceExpectation,
  raceArguments,
  raceOf,
  type Testbed,
  test,
} from './peers.ts';

interface FailingEndpoint {
  readonly port: number;
  /** Whether an attempt there lasts until its time-out, whatever the code. */
  readonly endless?: boolean;
  stop?(): void;
}

export type FindEndpoint = (testbed: Testbed) => Promise<FailingEndpoint>;

/** What these omit is known only at the end of the attempt. */
const ENDLESS: readonly (Behaviour | BadChain)[] = ['settings-never', 'goaway'];
const ofAioquic =
  (name: Behaviour | BadChain): FindEndpoint =>
  async ({ aioquic }) => ({ port: aioquic.ports[name], endless: ENDLESS.includes(name) });
const http2 =
  (act: keyof typeof HTTP2_ACTS): FindEndpoint =>
  ({ identity }) =>
    startHttp2(identity, HTTP2_ACTS[act]);
const http1 =
  (act: keyof typeof HTTP1_ACTS): FindEndpoint =>
  ({ identity }) =>
    startHttp1(identity, HTTP1_ACTS[act]);
const tlsWith =
  (chain: BadChain): FindEndpoint =>
  async ({ chains }) =>
    startTls(await chains.read(chain));

export type Case = readonly [
  code: AttemptErrorCode,
  how: string,
  peer: 'aioquic' | 'raw UDP' | 'raw TCP' | 'the kernel' | 'node:tls' | 'node:http2' | 'node:https',
  mode: 'h3' | 'h2',
  where: FindEndpoint,
  /** The expected message, or the certificate's reason. */
  says: RegExp | CertificateReason,
];

const CASES: readonly Case[] = [
  ['udp-timeout', 'silence', 'raw UDP', 'h3', startSilence, /no datagram came back/],
  [
    'udp-refused',
    'a closed port',
    'the kernel',
    'h3',
    async () => ({ port: await refusingUdpPort() }),
    /refused/,
  ],
  ['handshake-timeout', 'noise', 'raw UDP', 'h3', startNoise, /datagrams came back/],
  [
    'handshake-timeout',
    'Retry without an end',
    'aioquic',
    'h3',
    ofAioquic('retry-for-ever'),
    /Retry \d+ times/,
  ],
  [
    'version-mismatch',
    'Version Negotiation to versions of nobody',
    'raw UDP',
    'h3',
    startVersionNegotiation,
    /version/,
  ],
  ['version-mismatch', 'QUIC version 2 alone', 'aioquic', 'h3', ofAioquic('other-version'), /version/],
  ['alpn-mismatch', 'hq-interop alone', 'aioquic', 'h3', ofAioquic('other-alpn'), /./],
  ['certificate-invalid', 'expired', 'aioquic', 'h3', ofAioquic('expired'), 'expired'],
  ['certificate-invalid', 'not yet valid', 'aioquic', 'h3', ofAioquic('not-yet-valid'), 'not-yet-valid'],
  ['certificate-invalid', 'for a different name', 'aioquic', 'h3', ofAioquic('wrong-name'), 'wrong-name'],
  [
    'certificate-invalid',
    'under an unknown root',
    'aioquic',
    'h3',
    ofAioquic('unknown-root'),
    'unknown-issuer',
  ],
  [
    'tls-alert',
    'access_denied',
    'aioquic',
    'h3',
    ofAioquic('alert'),
    /peer refused.*TLS alert access_denied/,
  ],
  [
    'tls-alert',
    'a client certificate demanded',
    'aioquic',
    'h3',
    ofAioquic('certificate-required'),
    /TLS alert certificate_required/,
  ],
  [
    'connection-closed',
    'a stream that it may not open',
    'aioquic',
    'h3',
    ofAioquic('stream-too-many'),
    /STREAM_LIMIT_ERROR/,
  ],
  [
    'connection-closed',
    'CONNECTION_REFUSED before the handshake is done',
    'aioquic',
    'h3',
    ofAioquic('refuse'),
    /0x2\b/,
  ],
  ['connection-closed', 'a transport code after it', 'aioquic', 'h3', ofAioquic('close-transport'), /0x1\b/],
  [
    'connection-closed',
    'an application code after it',
    'aioquic',
    'h3',
    ofAioquic('close-application'),
    /gone fishing.*0x102/,
  ],
  [
    'connection-closed',
    'a code in place of the answer',
    'aioquic',
    'h3',
    ofAioquic('close-when-asked'),
    /0x102/,
  ],
  [
    'stateless-reset',
    'a server that has forgotten',
    'aioquic',
    'h3',
    ofAioquic('stateless-reset'),
    /does not know/,
  ],
  [
    'h3-error',
    'another frame before SETTINGS',
    'aioquic',
    'h3',
    ofAioquic('settings-late'),
    /H3_MISSING_SETTINGS/,
  ],
  ['h3-error', 'SETTINGS never sent', 'aioquic', 'h3', ofAioquic('settings-never'), /never sent .*SETTINGS/],
  ['h3-error', "HTTP/2's settings", 'aioquic', 'h3', ofAioquic('settings-reserved'), /H3_SETTINGS_ERROR/],
  ['h3-error', 'one setting twice', 'aioquic', 'h3', ofAioquic('settings-twice'), /H3_SETTINGS_ERROR/],
  ['h3-error', 'a body before its header', 'aioquic', 'h3', ofAioquic('data-first'), /H3_FRAME_UNEXPECTED/],
  ['h3-error', 'a stream reset', 'aioquic', 'h3', ofAioquic('reset'), /0x102/],
  [
    'response-too-large',
    'a header of 300 KB',
    'aioquic',
    'h3',
    ofAioquic('huge-header'),
    /larger than the 256 KiB/,
  ],
  ['version-fallback', 'H3_VERSION_FALLBACK', 'aioquic', 'h3', ofAioquic('want-older-http'), /0x110/],
  ['goaway', 'GOAWAY for the request under way', 'aioquic', 'h3', ofAioquic('goaway'), /shutting down/],
  ['goaway', 'GOAWAY and an orderly close', 'aioquic', 'h3', ofAioquic('goaway-and-close'), /./],
  ['goaway', 'H3_REQUEST_REJECTED', 'aioquic', 'h3', ofAioquic('reject'), /unprocessed.*0x10b/],
  ['misdirected', '421', 'aioquic', 'h3', ofAioquic('misdirected'), /421/],
  ['response-timeout', 'no response', 'aioquic', 'h3', ofAioquic('silent'), /in time/],
  ['response-timeout', 'a response that drips', 'aioquic', 'h3', ofAioquic('drip'), /in time/],

  ['tcp-refused', 'a closed port', 'the kernel', 'h2', async () => ({ port: CLOSED_PORT }), /ECONNREFUSED/],
  ['handshake-timeout', 'TCP, and silence', 'raw TCP', 'h2', () => startPlain(() => {}), /TCP connected/],
  [
    'alpn-mismatch',
    'acme-tls/1 alone',
    'node:tls',
    'h2',
    ({ identity }) => startTls({ ...identity, ALPNProtocols: ['acme-tls/1'] }),
    /neither/,
  ],
  ['certificate-invalid', 'expired', 'node:tls', 'h2', tlsWith('expired'), 'expired'],
  ['certificate-invalid', 'not yet valid', 'node:tls', 'h2', tlsWith('not-yet-valid'), 'not-yet-valid'],
  ['certificate-invalid', 'for a different name', 'node:tls', 'h2', tlsWith('wrong-name'), 'wrong-name'],
  [
    'certificate-invalid',
    'under an unknown root',
    'node:tls',
    'h2',
    tlsWith('unknown-root'),
    'unknown-issuer',
  ],
  [
    'tls-alert',
    'a server without a certificate',
    'node:tls',
    'h2',
    () => startTls({}),
    /TLS alert handshake_failure/,
  ],
  [
    'tls-alert',
    'a client certificate demanded',
    'node:tls',
    'h2',
    ({ identity }) => startTls({ ...identity, requestCert: true }),
    /TLS alert certificate_required/,
  ],
  [
    'tls-alert',
    'TLS 1.1 alone',
    'node:tls',
    'h2',
    ({ identity }) =>
      startTls({ ...identity, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
    /TLS alert protocol_version|unsupported protocol/,
  ],
  [
    'tls-alert',
    'no TLS at all',
    'raw TCP',
    'h2',
    () => startPlain((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    /does not speak TLS/,
  ],
  [
    'connection-closed',
    'FIN in the handshake',
    'raw TCP',
    'h2',
    () => startPlain((socket) => socket.end()),
    /./,
  ],
  [
    'connection-closed',
    'RST in the handshake',
    'raw TCP',
    'h2',
    () => startPlain((socket) => socket.resetAndDestroy()),
    /ECONNRESET/,
  ],
  ['connection-closed', 'closed in place of the answer', 'node:http2', 'h2', http2('close'), /./],
  ['connection-closed', 'a stream reset', 'node:http2', 'h2', http2('reset'), /INTERNAL_ERROR/],
  [
    'response-too-large',
    'a header of 300 KB over HTTP/1.1',
    'node:https',
    'h2',
    http1('hugeHeader'),
    /larger than the 256 KiB/,
  ],
  ['connection-closed', 'half a body over HTTP/1.1', 'node:https', 'h2', http1('truncate'), /./],
  ['connection-closed', 'an answer that is no HTTP', 'node:https', 'h2', http1('noHttp'), /./],
  [
    'goaway',
    'GOAWAY for the request under way',
    'node:tls',
    'h2',
    ({ identity }) => startGoAway(identity),
    /GOAWAY/,
  ],
  ['goaway', 'GOAWAY with ENHANCE_YOUR_CALM', 'node:http2', 'h2', http2('calm'), /ENHANCE_YOUR_CALM/],
  ['goaway', 'REFUSED_STREAM', 'node:http2', 'h2', http2('refuse'), /REFUSED_STREAM/],
  ['misdirected', '421', 'node:http2', 'h2', http2('misdirected'), /421/],
  ['misdirected', '421 over HTTP/1.1', 'node:https', 'h2', http1('misdirected'), /421/],
  ['response-timeout', 'no response', 'node:http2', 'h2', http2('silence'), /no complete response/],
  ['response-timeout', 'a response that drips', 'node:http2', 'h2', http2('drip'), /no complete response/],
  [
    'response-timeout',
    'a response that drips over HTTP/1.1',
    'node:https',
    'h2',
    http1('drip'),
    /no complete response/,
  ],
];

/** Unusual behaviour that must not be a failure. */
const HARMLESS: readonly (readonly [how: string, peer: string, mode: 'h3' | 'h2', where: FindEndpoint])[] = [
  ['a Retry costs a round trip and no more', 'aioquic', 'h3', ofAioquic('retry-once')],
  ['an endless body is cut at the cap', 'aioquic', 'h3', ofAioquic('endless-body')],
  ['an endless body is cut at the cap', 'node:http2', 'h2', http2('endlessBody')],
  ['a header of 120 KB is read', 'aioquic', 'h3', ofAioquic('large-header')],
  ['a header of 120 KB is read', 'node:http2', 'h2', http2('largeHeader')],
];

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
  await silence.firstDatagram;
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

/** Reserved as well (RFC 5737, RFC 3849), for routes of the client that reject or discard what is sent there. */
const ROUTED = { ipv4: '198.51.100.1', ipv6: '2001:db8:1::1' } as const;

/** Types of such routes, and what identifies each in the message. */
const REJECTING_ROUTES = [
  ['blackhole', /blackhole route of this machine/],
  ['unreachable', /EHOSTUNREACH|host unreachable/],
  ['prohibit', /EACCES|permission denied/],
] as const;

test.describe('in a network of our own', () => {
  for (const family of ['ipv4', 'ipv6'] as const)
    for (const mode of ['h3', 'h2'] as const)
      for (const [type, says] of REJECTING_ROUTES) {
        const code = mode === 'h3' ? 'udp-unreachable' : 'tcp-unreachable';
        test(`${code}: a route of type ${type} (the kernel, ${mode}, ${family})`, async ({
          testbed,
          path,
        }) => {
          test.skip('unavailable' in path, 'unavailable' in path ? path.unavailable : '');
          if ('unavailable' in path) return;
          const { client } = path.network;
          const address = ROUTED[family];
          await client.ip('route', 'add', type, address);
          const args = raceArguments(path.ports[family], mode, testbed.chains.caPath, { address, code });
          const { stdout } = await client.run(PHOTOFINISH, args);
          await client.ip('route', 'del', type, address);
          const error = failureOf(stdout);
          expect(error?.code, error?.message).toBe(code);
          expect(error?.message).toMatch(says);
        });
      }

  for (const family of ['ipv4', 'ipv6'] as const)
    test(`udp-unreachable: a blackhole route during the handshake (the kernel, h3, ${family})`, async ({
      testbed,
      path,
    }) => {
      test.skip('unavailable' in path, 'unavailable' in path ? path.unavailable : '');
      if ('unavailable' in path) return;
      const { client, peers } = path.network;
      const address = peers.server[family];
      await peers.server.obstruct([{ transport: 'udp', effect: 'drop' }]);
      const sent = await client.countSent({ transport: 'udp' });
      const to = { address, code: 'udp-unreachable' } as const;
      const racing = client.run(
        PHOTOFINISH,
        raceArguments(path.ports[family], 'h3', testbed.chains.caPath, to),
      );
      await expect.poll(() => sent.read()).toBeGreaterThan(0);
      await client.ip('route', 'add', 'blackhole', address);
      const { stdout } = await racing;
      await client.ip('route', 'del', 'blackhole', address);
      await peers.server.obstruct([]);
      const error = failureOf(stdout);
      expect(error?.code, error?.message).toBe('udp-unreachable');
      expect(error?.message).toMatch(/blackhole route of this machine/);
    });

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
