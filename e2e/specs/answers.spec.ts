// Servers that complete handshakes but do not respond in time, and those that refuse, over one protocol or both: which
// protocol is adopted, what is held responsible, and how that is worded.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import { type Explanation, explanationSchema } from '@photofinish/shared/verdict/explanation';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import * as v from 'valibot';
import { startDns } from '../origins/dns.ts';
import { HTTP2_ACTS, startHttp2, startTls, type TcpPeer } from '../origins/raw.ts';
import { type OriginSettings, startOrigins } from '../origins/start.ts';
import { expect, reachLocal, runPhotofinish } from './fixtures.ts';
import { type Behaviour, HOST, raceOf, type Testbed, test } from './peers.ts';

const LOOPBACK = '127.0.0.1';
const NO_MEMORY = ['--memory', 'none', '--json'];

interface PeerBesideH3 {
  readonly port: number;
  /** Arguments to reach it by a name from DNS, with an HTTPS record. */
  readonly reach: readonly string[];
  stop(): void;
}

/** HTTP/2 that responds at once and advertises HTTP/3, on the port of a QUIC server that does not. */
async function startBeside({ aioquic, identity, chains }: Testbed, name: Behaviour): Promise<PeerBesideH3> {
  const port = aioquic.ports[name];
  const tcp = await startHttp2(
    identity,
    (stream) => stream.respond({ ':status': 204, 'alt-svc': `h3=":${port}"` }, { endStream: true }),
    { port },
  );
  const HTTPS = [{ priority: 1, target: HOST, alpn: ['h3', 'h2'], port }];
  const dns = await startDns({ [HOST]: { A: [LOOPBACK] }, [`_${port}._https.${HOST}`]: { HTTPS } });
  return {
    port,
    reach: ['--resolver', dns.resolver, '--allow-private', '--ca', chains.caPath],
    stop() {
      dns.stop();
      tcp.stop();
    },
  };
}

function failuresOf({ trials }: OriginRace): (string | undefined)[] {
  return trials.flatMap(({ attempts }) =>
    attempts.map(({ protocol, error }) => `${protocol} ${error?.code}`),
  );
}

/** The result of `explain` without DNS. */
async function explain(origin: string, ...args: readonly string[]): Promise<Explanation> {
  const { stdout } = await runPhotofinish([
    'explain',
    origin,
    '--json',
    '--resolver',
    `${LOOPBACK}:1`,
    ...args,
  ]);
  return v.parse(explanationSchema, JSON.parse(stdout));
}

/** HTTP/3 is given half of it, and the other half suffices for HTTP/2 on a busy machine. */
const TIMEOUT_MS = 6000;
const IN_TIME = ['--timeout', String(TIMEOUT_MS)];
/** With a head start that suffices even on a busy machine; in mode `naive` either may be established first. */
const MODES: readonly (readonly [Mode, ...string[]])[] = [
  ['race', '--start-delay', '2000'],
  ['v3', '--attempt-delay', '2000'],
];
for (const name of ['silent', 'late'] as const) {
  for (const [mode, ...headStart] of MODES)
    test(`${mode}: HTTP/3 is ${name}, HTTP/2 responds and is adopted (aioquic, node:http2)`, async ({
      testbed,
    }) => {
      const { port, reach, stop } = await startBeside(testbed, name);
      const how = ['--mode', mode, ...headStart, ...IN_TIME, ...NO_MEMORY];
      const args = ['race', `https://${HOST}:${port}`, ...how, ...reach];
      const { code, stdout } = await runPhotofinish(args);
      stop();
      const race = raceOf(stdout);
      const [trial] = race.trials;
      expect([code, trial?.adopted]).toEqual([0, 'h2']);
      expect(trial?.firstByteMs).toBeGreaterThan(TIMEOUT_MS / 2 - 10);
      expect(trial?.firstByteMs).toBeLessThan(TIMEOUT_MS);
      expect(failuresOf(race)).toContain('h3 response-timeout');
      expect(race.verdict.code).toBe('h3-advertised-unreachable');
      expect(verdictText(race.verdict)).toContain(
        'the handshake succeeds, but no complete response follows in time',
      );
      expect(stdout).not.toContain('tcp-timeout');
    });

  test(`explain: HTTP/3 is ${name}, HTTP/2 responds (aioquic, node:http2)`, async ({ testbed, dir }) => {
    const { port, reach, stop } = await startBeside(testbed, name);
    const cache = ['--cache', `${dir}/cache.db`, '--network', 'home'];
    const origin = `https://${HOST}:${port}`;
    const args = ['explain', origin, '--json', ...IN_TIME, ...cache, ...reach];
    const { code, stdout } = await runPhotofinish(args);
    stop();
    const { verdict, race, v3 } = v.parse(explanationSchema, JSON.parse(stdout)) as Explanation;
    expect([code, verdict.code]).toEqual([0, 'h3-advertised-unreachable']);
    expect(verdictText(verdict)).toContain(
      'the handshake succeeds, but no complete response follows in time',
    );
    expect([race, v3].map((each) => each?.trials[0]?.adopted)).toEqual(['h2', 'h2']);
  });
}

test('race: a response over HTTP/3 begins and does not end, HTTP/2 responds (aioquic, node:http2)', async ({
  testbed,
}) => {
  const { port, reach, stop } = await startBeside(testbed, 'drip');
  const how = ['--mode', 'race', '--start-delay', '2000', ...IN_TIME, ...NO_MEMORY];
  const { stdout } = await runPhotofinish(['race', `https://${HOST}:${port}`, ...how, ...reach]);
  stop();
  const race = raceOf(stdout);
  const { verdict } = race;
  expect(verdict.code).toBe('h3-advertised-unreachable');
  expect(verdictText(verdict)).toContain('a response begins and does not end in time');
  const failed = race.trials[0]?.attempts.find(({ protocol }) => protocol === 'h3');
  expect(failed?.error?.code).toBe('response-timeout');
  expect(failed?.firstByteMs).toBeGreaterThan(0);
  expect(race.discovered.altSvcOver?.h3).toBe('h3=":443"');
});

test('a site with a time to first byte beyond the time-out over both is slow, not down', async () => {
  const answerDelayMs = TIMEOUT_MS + 1000;
  const slow = { host: 'slow.test', h3: true, altSvc: 'auto', answerDelayMs } as const;
  const running = await startOrigins({ origins: { slow } });
  const { origin } = running.origins.slow;
  const reach = reachLocal(running.caPath, [running.origins.slow]);
  const hasty = await runPhotofinish(['race', origin, ...IN_TIME, ...NO_MEMORY, ...reach]);
  const said = await explain(origin, ...reach, ...IN_TIME);
  // Half of it is for HTTP/3.
  const longer = ['--timeout', String(3 * answerDelayMs)];
  const patient = await runPhotofinish(['race', origin, ...longer, ...NO_MEMORY, ...reach]);
  await running.stop();

  const race = raceOf(hasty.stdout);
  expect([hasty.code, race.trials[0]?.adopted]).toEqual([1, null]);
  expect(failuresOf(race)).toEqual(['h3 response-timeout', 'h2 response-timeout']);
  for (const { verdict } of [race, said]) {
    expect(verdict.code).toBe('unknown');
    expect(verdictText(verdict)).toContain('Connects over HTTP/3 and over HTTP/2');
    expect(verdictText(verdict)).toContain('slow or not responding');
  }
  expect([patient.code, raceOf(patient.stdout).trials[0]?.adopted]).toEqual([0, 'h3']);
});

type StartTcpPeer = (testbed: Testbed, port: number) => Promise<TcpPeer>;
const http2 =
  (act: keyof typeof HTTP2_ACTS): StartTcpPeer =>
  ({ identity }, port) =>
    startHttp2(identity, HTTP2_ACTS[act], { port });

/** aioquic's behaviour over HTTP/3, and Node's on the same port over TCP. */
const REFUSALS: readonly (readonly [Behaviour, StartTcpPeer, says: RegExp, never: RegExp])[] = [
  [
    'misdirected',
    http2('misdirected'),
    /it does not serve peer\.test on this port\. .* came with an Alt-Svc header, which clients ignore/,
    /offering HTTP\/3|connects/,
  ],
  // Like nginx's `return 444`.
  [
    'reset',
    http2('reset'),
    /the exchange ends without a complete response \(.*INTERNAL_ERROR/,
    /offering HTTP\/3|connects/,
  ],
  [
    'certificate-required',
    ({ identity }, port) => startTls({ ...identity, requestCert: true }, port),
    /HTTP\/2 \(client certificate required\): the server demands a client certificate/,
    /TLS 1\.3|connects/,
  ],
];
for (const [name, beside, says, never] of REFUSALS)
  test(`${name} over HTTP/3 and HTTP/2 (aioquic, Node)`, async ({ testbed, dir }) => {
    const port = testbed.aioquic.ports[name];
    const tcp = await beside(testbed, port);
    const reach = [
      '--allow-private',
      '--ca',
      testbed.chains.caPath,
      '--resolve',
      `${HOST}:${port}:127.0.0.1`,
    ];
    const { verdict } = await explain(`https://${HOST}:${port}`, '--cache', `${dir}/cache.db`, ...reach);
    tcp.stop();
    expect(verdict.code).toBe('unknown');
    expect(verdictText(verdict)).toMatch(says);
    expect(verdictText(verdict)).not.toMatch(never);
  });

test('a draft of HTTP/3 is advertised but QUIC refused: first make the server listen on QUIC', async ({
  dir,
}) => {
  const settings: OriginSettings = { host: 'draft.test', h3: false, altSvc: 'h3-29=":443"' };
  const running = await startOrigins({ origins: { settings } });
  const { origin, port } = running.origins.settings;
  const reach = reachLocal(running.caPath, [running.origins.settings]);
  const { verdict } = await explain(origin, '--cache', `${dir}/cache.db`, ...reach);
  await running.stop();
  expect(verdict.code).toBe('h3-advertisement-wrong');
  expect(verdictText(verdict)).toContain(`Make QUIC version 1 listen on UDP ${port} first`);
});
