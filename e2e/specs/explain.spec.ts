// `photofinish explain` against real, unknown servers: each verdict that a race can reach, with the text that an
// operator acts on, and its effect on the host cache.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isQueriedForBoth } from '@photofinish/shared/race/discovered';
import type { OriginRace, RaceDocument } from '@photofinish/shared/race/outcome';
import { allTexts } from '@photofinish/shared/testing/race-samples';
import { type Explanation, explanationSchema } from '@photofinish/shared/verdict/explanation';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import * as v from 'valibot';
import type { ProgramResult } from '../child-process.ts';
import { type HostScript, type RunningDns, startDns } from '../origins/dns.ts';
import { CLOSED_PORT, refusingUdpPort } from '../origins/raw.ts';
import {
  type OriginSettings,
  type RunningOrigin,
  type RunningOrigins,
  startOrigins,
} from '../origins/start.ts';
import { GO_MISSING } from '../test-programs.ts';
import { test as base, expect, type Kind, reachLocal, runPhotofinish } from './fixtures.ts';

/** Nothing listens there, so that no name leaves the machine. */
const NO_RESOLVER = ['--resolver', '127.0.0.1:1'];
/** For peers that never respond; the others need a small part of it, even if the machine pauses them for a second. */
const TIMEOUT_MS = '4000';

interface Fixtures {
  /** Origins of the current test, if given with the certificates of others; they end with it. */
  readonly serve: <Name extends string>(
    origins: Record<Name, OriginSettings>,
    certifiedBy?: RunningOrigins<string>,
  ) => Promise<RunningOrigins<Name>>;
  /** A UDP port on loopback that accepts everything and never responds; default: a free one at 127.0.0.1. */
  readonly silence: (port?: number, address?: string) => Promise<number>;
  /** A DNS server on loopback that knows these names; returns the options that select it. */
  readonly resolver: (names: Readonly<Record<string, HostScript>>) => Promise<string[]>;
  /** Runs `explain` with the test's own host cache; local origins are allowed. */
  readonly explain: (origin: string, ...args: string[]) => Promise<ExplainResult>;
}

interface ExplainResult extends ProgramResult {
  readonly explanation: Explanation;
}

const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
  serve: async ({}, use) => {
    const running: { stop(): Promise<void> }[] = [];
    await use(async (origins, certifiedBy) => {
      const started = await startOrigins({ origins, certifiedBy });
      running.push(started);
      return started;
    });
    for (const each of running) await each.stop();
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
  silence: async ({}, use) => {
    const sockets: Socket[] = [];
    await use(async (port = 0, address = '127.0.0.1') => {
      const socket = createSocket('udp4');
      sockets.push(socket);
      socket.bind(port, address);
      await once(socket, 'listening');
      return socket.address().port;
    });
    for (const socket of sockets) socket.close();
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
  resolver: async ({}, use) => {
    const running: RunningDns[] = [];
    await use(async (names) => {
      const dns = await startDns(names);
      running.push(dns);
      return ['--resolver', dns.resolver];
    });
    for (const dns of running) dns.stop();
  },
  explain: async ({ local, dir }, use) => {
    await use(async (origin, ...args) => {
      const shared = ['--json', '--cache', `${dir}/cache.db`, '--network', 'home', ...NO_RESOLVER];
      const reach = reachLocal(local.caPath, Object.values(local.origins));
      const result = await runPhotofinish(['explain', origin, ...shared, ...reach, ...args]);
      return { ...result, explanation: v.parse(explanationSchema, JSON.parse(result.stdout)) };
    });
  },
});

/** The options that let the command line reach the test's own origins. */
function reach<Name extends string>({ caPath, origins }: RunningOrigins<Name>): string[] {
  return reachLocal(caPath, Object.values<RunningOrigin>(origins));
}

function textsOf({ verdict }: Explanation): string {
  return allTexts(verdict).join('\n');
}

const GAIN =
  / HTTP\/3 connects in [\d.]+ ms, HTTP\/2 in [\d.]+ ms( \([\d.]+ ms (faster|slower)\)|: (no clear difference in \d+ pairs|too few pairs to tell) \(.*\))\.$/;

const KINDS: readonly [Kind, Explanation['verdict']['code'], (port: number) => string, boolean][] = [
  ['both', 'h3-private-root', () => 'browsers refuse QUIC under private roots', true],
  ['silent', 'h3-not-advertised', (port) => `Send: Alt-Svc: h3=":${port}"; ma=86400.`, true],
  ['advertiseOnly', 'h3-advertised-unreachable', (port) => `Open UDP ${port} on the server`, false],
  ['h2only', 'h3-not-offered', () => 'Enable HTTP/3 on the server and send an Alt-Svc header', false],
  ['h1only', 'h3-not-offered', () => 'Enable HTTP/3 on the server', false],
];
const HERE: HostScript = { A: ['127.0.0.1'] };
for (const [kind, code, words, h3Works] of KINDS)
  test(`${kind}: ${code}, and what to do`, async ({ local, resolver, dir }) => {
    const { origin, host, port } = local.origins[kind];
    // An address that is given would leave open whether a record advertises HTTP/3.
    const found = ['--allow-private', '--ca', local.caPath, ...(await resolver({ [host]: HERE }))];
    const kept = ['--cache', `${dir}/cache.db`, '--network', 'home'];
    const {
      code: exit,
      stdout,
      stderr,
    } = await runPhotofinish(['explain', origin, '--json', ...kept, ...found]);
    const explanation = v.parse(explanationSchema, JSON.parse(stdout));
    expect([exit, stderr]).toEqual([0, '']);
    const { verdict, race, v3, compare } = explanation;
    expect(verdict.code).toBe(code);
    expect(verdictText(verdict)).toContain(words(port));
    expect(verdict.findings.some((finding) => finding.code === 'h3-available')).toBe(h3Works);
    expect([race.mode, race.memory, race.trials.length]).toEqual(['race', 'none', 1]);
    expect([v3?.mode, v3?.memory]).toEqual(['v3', 'none']);
    // Without an HTTPS record, TCP is the only option on a first visit.
    expect(v3?.trials[0]?.adopted).toBe(kind === 'h1only' ? 'http/1.1' : 'h2');
    expect(compare !== null).toBe(h3Works);
    if (h3Works) expect(verdictText(verdict)).toMatch(GAIN);
  });

test('with a given address it is left open what DNS advertises', async ({ local, explain }) => {
  const unasked = 'DNS was not queried, because the address was given';
  const works = (await explain(local.origins.silent.origin)).explanation;
  expect(works.verdict.findings.map(({ code }) => code)).not.toContain('h3-not-advertised');
  expect(textsOf(works)).toContain(unasked);
  const fails = (await explain(local.origins.h2only.origin)).explanation;
  expect(fails.verdict.code).toBe('unknown');
  expect(verdictText(fails.verdict)).toContain(unasked);
});

test('Caddy, the independent server, is explained like any other', async ({ local, caddy, explain }) => {
  test.skip(caddy === null, GO_MISSING);
  if (caddy === null) return;
  const { code, explanation } = await explain(caddy.origin, ...reachLocal(local.caPath, [caddy]));
  expect(code).toBe(0);
  expect(explanation.verdict.code).toBe('h3-private-root');
  expect(explanation.alternatives.map(({ alpn, port }) => [alpn, port])).toContainEqual(['h3', caddy.port]);
});

test('a wrong port is detected although the origin’s own port speaks HTTP/3', async ({ serve, explain }) => {
  const wrong = await refusingUdpPort();
  const running = await serve({ a: { host: 'wrong-port.test', h3: true, altSvc: `h3=":${wrong}"` } });
  const { port, origin } = running.origins.a;
  const { explanation } = await explain(origin, ...reach(running));
  expect(explanation.verdict.code).toBe('h3-advertisement-wrong');
  expect(verdictText(explanation.verdict)).toContain(
    `on port ${wrong}, which does not respond (UDP refused), but supports HTTP/3 on port ${port}. Fix the port`,
  );
  expect(explanation.altSvc?.mode).toBe('alt-svc');
});

test('bad syntax is detected, whole and in part', async ({ serve, explain }) => {
  const running = await serve({
    all: { host: 'syntax.test', h3: true, altSvc: 'h3=443' },
    some: { host: 'some-syntax.test', h3: true, altSvc: 'h3=":443"; ma=1, h3=443' },
  });
  const all = await explain(running.origins.all.origin, ...reach(running));
  expect(all.explanation.verdict.code).toBe('h3-advertisement-wrong');
  expect(verdictText(all.explanation.verdict)).toMatch(/cannot be parsed.* For example, send: Alt-Svc/);
  const some = await explain(running.origins.some.origin, ...reach(running));
  expect(verdictText(some.explanation.verdict)).toContain('1 of 2 entries in the Alt-Svc header');
});

test('a host without an address and one without the certificate are wrong advertisements', async ({
  local,
  serve,
  resolver,
  explain,
}) => {
  const { both } = local.origins;
  const running = await serve({
    nowhere: { host: 'names-nowhere.test', h3: false, altSvc: 'h3="nowhere.test:444"' },
    other: { host: 'names-other.test', h3: false, altSvc: `h3="${both.host}:${both.port}"` },
  });
  const { nowhere, other } = running.origins;
  const unresolved = await explain(nowhere.origin, ...reach(running), ...(await resolver({})));
  // On a machine without one family, the name may have addresses of it.
  const proven = isQueriedForBoth('nowhere.test', unresolved.explanation.names?.lookups ?? []);
  expect(unresolved.explanation.verdict.code).toBe(proven ? 'h3-advertisement-wrong' : 'unknown');
  expect(verdictText(unresolved.explanation.verdict)).toContain(
    proven ? 'at nowhere.test:444, a name without an address' : 'at nowhere.test:444, which was not tried',
  );

  // A dead resolver proves nothing about the name.
  const unknown = await explain(nowhere.origin, ...reach(running));
  expect(unknown.explanation.verdict.code).toBe('h3-advertised-unreachable');
  expect(verdictText(unknown.explanation.verdict)).toContain('the DNS lookup of nowhere.test failed');

  const misplaced = await explain(other.origin, ...reach(running));
  expect(misplaced.explanation.verdict.code).toBe('h3-advertisement-wrong');
  expect(verdictText(misplaced.explanation.verdict)).toContain(
    'has no valid certificate for names-other.test (wrong name)',
  );
});

test('HTTP/3 at another port alone is not compared, and its success not forgotten', async ({
  serve,
  explain,
}) => {
  const host = 'split.test';
  const over3 = await serve({ it: { host, h3: true, tcp: false } });
  const running = await serve({ it: { host, h3: false, altSvc: `h3=":${over3.origins.it.port}"` } }, over3);
  const ask = () => explain(running.origins.it.origin, ...reach(running), ...reach(over3));
  const first = await ask();
  expect(first.explanation.compare).toBeNull();
  const { remembered } = (await ask()).explanation;
  expect(remembered?.h3).toMatchObject({ failure: null });
});

test('Alt-Svc over TCP decides what is advertised, whatever HTTP/3 carries', async ({
  serve,
  resolver,
  explain,
}) => {
  const wrong = await refusingUdpPort();
  const crossed = { host: 'crossed.test', h3: false, altSvc: `h3=":${wrong}"` };
  const untold = { host: 'untold.test', h3: false };
  const over3 = { h3: true, tcp: false, altSvc: 'auto' };
  const running = await serve({ crossed: { ...crossed, ...over3 }, untold: { ...untold, ...over3 } });
  const { port } = running.origins.crossed;
  const ports = { crossed: { port }, untold: { port: running.origins.untold.port } };
  await serve({ crossed: { ...crossed, ...ports.crossed }, untold: { ...untold, ...ports.untold } }, running);
  const here = { A: ['127.0.0.1'] };
  const dns = await resolver({
    [crossed.host]: here,
    [untold.host]: here,
    // With it the comparison is the first to receive a response over TCP.
    [`_${port}._https.${crossed.host}`]: {
      ...here,
      HTTPS: [{ priority: 1, target: '.', alpn: ['h3', 'h2'] }],
    },
  });
  const ask = async ({ origin }: RunningOrigin) =>
    (await explain(origin, '--ca', running.caPath, ...dns)).explanation;

  const elsewhere = await ask(running.origins.crossed);
  expect(elsewhere.altSvc?.mode).toBe('alt-svc');
  expect(textsOf(elsewhere)).toContain(`on port ${wrong}, which does not respond (UDP refused)`);

  const unheard = await ask(running.origins.untold);
  expect(unheard.verdict.code).toBe('h3-not-advertised');
  expect(verdictText(unheard.verdict)).toContain('advertises it over HTTP/3 only');
});

test('an HTTPS record advertises too, on its own or in conflict with Alt-Svc', async ({
  serve,
  resolver,
  explain,
}) => {
  const running = await serve({
    told: { host: 'told.test', h3: true },
    promised: { host: 'promised.test', h3: false },
    half: { host: 'half.test', h3: true, altSvc: 'auto' },
  });
  const at = ({ host, port }: RunningOrigin): string => `_${port}._https.${host}`;
  const { told, promised, half } = running.origins;
  const here = { A: ['127.0.0.1'] };
  const dns = await resolver({
    ...Object.fromEntries([told, promised, half].map(({ host }) => [host, here])),
    [at(told)]: { ...here, HTTPS: [{ priority: 1, target: '.', alpn: ['h3', 'h2'] }] },
    [at(promised)]: { ...here, HTTPS: [{ priority: 1, target: '.', alpn: ['h3', 'h2'] }] },
    [at(half)]: { ...here, HTTPS: [{ priority: 1, target: '.', alpn: ['h2'] }] },
  });
  // Names are looked up, so no address is pinned.
  const ask = async ({ origin }: RunningOrigin) =>
    (await explain(origin, '--ca', running.caPath, ...dns)).explanation;

  const works = await ask(told);
  expect(works.names?.services.map(({ alpn }) => alpn)).toEqual([['h3', 'h2']]);
  const codes = new Set(works.verdict.findings.map(({ code }) => code));
  expect([...codes]).toEqual(['h3-private-root', 'h3-available']);

  const fails = await ask(promised);
  expect(fails.verdict.code).toBe('h3-advertised-unreachable');
  expect(verdictText(fails.verdict)).toContain(
    `on port ${promised.port} in its HTTPS record, but UDP is refused there`,
  );
  expect(verdictText(fails.verdict)).toContain('or remove h3 from the HTTPS record');

  const differs = await ask(half);
  expect(differs.verdict.findings.map(({ code }) => code)).toContain('h3-advertisement-wrong');
  expect(textsOf(differs)).toContain('Add h3 to the record’s alpn');
});

test('the network is blamed only with evidence from other hosts, and cleared by one that is reached', async ({
  local,
  serve,
  silence,
  explain,
  dir,
}) => {
  const port = await silence(0, '127.0.0.2');
  const deaf = (host: string, address: string): OriginSettings => ({
    ...{ host, address, h3: false },
    altSvc: `h3=":${port}"`,
  });
  const running = await serve({
    a: deaf('a.test', '127.0.0.2'),
    alias: deaf('alias.test', '127.0.0.2'),
    b: deaf('b.test', '127.0.0.3'),
    c: deaf('c.test', '127.0.0.4'),
  });
  const { a, alias, b, c } = running.origins;
  // A port that refuses would not be what a network blocks.
  for (const { port: own, address } of [a, alias, b, c]) await silence(own, address);
  for (const { address } of [b, c]) await silence(port, address);
  /** Again if this machine was too busy: from such a race no address is learnt, which shows whether hosts differ. */
  const ask = async ({ origin }: Pick<RunningOrigin, 'origin'>, tries = 5): Promise<Explanation> => {
    const { explanation } = await explain(origin, ...reach(running), '--timeout', TIMEOUT_MS);
    const isBusy = explanation.race.trials.some(({ disturbed }) => disturbed !== undefined);
    return isBusy && tries > 1 ? ask({ origin }, tries - 1) : explanation;
  };

  const first = await ask(a);
  expect(first.verdict.code).toBe('h3-advertised-unreachable');
  expect(verdictText(first.verdict)).toContain(`Open UDP ${port} or remove the Alt-Svc header`);
  // Another name of one machine is no other host.
  expect((await ask(alias)).evidence.failedHosts).toBe(0);
  expect(textsOf(await ask(b))).not.toContain('blocks UDP');
  const third = await ask(c);
  expect(third.evidence).toMatchObject({ failedHosts: 2, reachedHosts: 0, reachedLater: false });
  expect(third.verdict.code).toBe('h3-advertised-unreachable');
  expect(verdictText(third.verdict)).toContain(
    'your network blocks UDP: 2 other hosts that advertise HTTP/3',
  );
  const memory = ['--memory', 'full', '--cache', `${dir}/cache.db`, '--network', 'home'];
  const args = ['--mode', 'compare', '--trials', '1', '--timeout', TIMEOUT_MS, '--json', ...memory];
  const raced = await runPhotofinish(['race', c.origin, ...args, ...reach(running)]);
  const document = JSON.parse(raced.stdout) as RaceDocument;
  const [again] = document.races;
  expect(again && verdictText(again.verdict)).toContain(
    'your network blocks UDP: 2 other hosts that advertise HTTP/3',
  );

  await explain(local.origins.both.origin);
  const cleared = await ask(c);
  expect(textsOf(cleared)).not.toContain('blocks UDP');
  expect(verdictText(cleared.verdict)).toContain('so the problem is this host');
  expect(cleared.remembered?.h3?.failure).toMatch(/^udp-/);
  expect(cleared.remembered?.h3?.untilMs).toBeGreaterThan(cleared.atMs);
});

test('remembered results are shown and do not decide the verdict', async ({ local, explain }) => {
  const { origin } = local.origins.both;
  const first = (await explain(origin)).explanation;
  expect(first.remembered).toBeNull();
  const second = (await explain(origin)).explanation;
  expect(second.remembered?.h3?.failure).toBeNull();
  expect(second.remembered?.races).toBe(2);
  expect(second.race.trials[0]?.cacheHit).toBe(false);
});

test('a dead host, a name without an address and a forbidden one: unknown, the reason, and exit 1', async ({
  local,
  explain,
}) => {
  const dead = await explain(`https://127.0.0.1:${CLOSED_PORT}`);
  expect([dead.code, dead.explanation.verdict.code]).toEqual([1, 'unknown']);
  expect(verdictText(dead.explanation.verdict)).toContain(`Start the server, or open TCP ${CLOSED_PORT}`);
  expect([dead.explanation.v3, dead.explanation.compare]).toEqual([null, null]);

  const nameless = await explain('https://never-seen.test');
  expect([nameless.code, nameless.explanation.verdict.code]).toEqual([1, 'unknown']);
  expect(verdictText(nameless.explanation.verdict)).toMatch(
    /the DNS lookup of never-seen\.test failed.* Check the name/,
  );

  const { origin, host, port } = local.origins.both;
  const pin = ['--resolve', `${host}:${port}:127.0.0.1`];
  const { code, stdout } = await runPhotofinish(['explain', origin, ...pin, ...NO_RESOLVER]);
  expect(code).toBe(1);
  expect(stdout).toContain('Allow it with --allow-private.');
});

test('terminal output: the verdict first, 80 columns, no escape sequences into a pipe', async ({
  local,
  dir,
}) => {
  const { origin } = local.origins.silent;
  const args = ['explain', origin, '--cache', `${dir}/c.db`, ...NO_RESOLVER];
  // The test runner requests colours from every child process.
  const unasked = { FORCE_COLOR: undefined };
  const all = reachLocal(local.caPath, Object.values(local.origins));
  const { code, stdout } = await runPhotofinish([...args, ...all], unasked);
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toBe(origin);
  expect(lines[1]).toContain('Supports HTTP/3, but its certificate chains to a private root');
  // A command is as long as the path to it.
  const shortened = lines.map((line) => line.replace(/'?\/.*\/bin\/photofinish'?/, 'photofinish'));
  expect(shortened.filter((line) => line.length > 80)).toEqual([]);
  expect(stdout).not.toContain('\u001b');
  for (const title of ['What DNS says', 'Comparison', 'Host cache']) expect(stdout).toContain(`\n${title}\n`);
});

test('bad usage is exit 2 with one line and nothing else', async ({ local, dir }) => {
  const { origin } = local.origins.both;
  for (const args of [
    [],
    [origin, origin],
    ['http://a.test'],
    [origin, '--mode', 'race'],
    [origin, '--trials', '0'],
    [origin, '--ca', '/nowhere.pem'],
  ]) {
    const { code, stdout, stderr } = await runPhotofinish(['explain', ...args, '--cache', `${dir}/cache.db`]);
    expect([code, stdout], args.join(' ')).toEqual([2, '']);
    expect(stderr).toMatch(/^photofinish: [a-z-]+: [^\n]+\n$/);
  }
});

test('a record whose target has no address is named, and a race that was run is not suggested', async ({
  serve,
  resolver,
  explain,
}) => {
  const running = await serve({ a: { host: 'leaf.test', h3: false } });
  const { origin, host, port } = running.origins.a;
  const leaf = `_${port}._https.${host}`;
  const dns = await resolver({
    [host]: { A: ['127.0.0.1'] },
    [leaf]: { HTTPS: [{ priority: 1, target: '.', alpn: ['h3'], port: 7022 }] },
  });
  const { explanation } = await explain(origin, '--allow-private', '--ca', running.caPath, ...dns);
  // On a machine without one family, the name may have addresses of it.
  const proven = isQueriedForBoth(leaf, explanation.names?.lookups ?? []);
  expect(explanation.verdict.code).toBe(proven ? 'h3-advertisement-wrong' : 'unknown');
  expect(textsOf(explanation)).toContain(
    proven ? `at ${leaf}:7022, a name without an address` : 'on port 7022, which was not tried',
  );
  expect(textsOf(explanation)).not.toContain('Race it again');
});

test('a record and a header that lead to the same address and port do not contradict each other', async ({
  serve,
  resolver,
  explain,
}) => {
  const running = await serve({ a: { host: 'agreed.test', h3: true, altSvc: 'auto' } });
  const { origin, host, port } = running.origins.a;
  const dns = await resolver({
    [host]: { A: ['127.0.0.1'] },
    'edge.test': { A: ['127.0.0.1'] },
    [`_${port}._https.${host}`]: { HTTPS: [{ priority: 1, target: 'edge.test', alpn: ['h3', 'h2'] }] },
  });
  const { explanation } = await explain(origin, '--allow-private', '--ca', running.caPath, ...dns);
  expect(explanation.v3?.trials[0]?.adopted).toBe('h3');
  expect(explanation.verdict.findings.map(({ code }) => code)).not.toContain('h3-advertisement-wrong');
});

test('an endpoint named only in a record that stays silent is tried until that is proven', async ({
  serve,
  silence,
  resolver,
  explain,
}) => {
  const running = await serve({ page: { host: 'quiet.test', h3: false } });
  const { origin, host, port } = running.origins.page;
  const record = { priority: 1, target: '.', alpn: ['h3'], port: await silence() };
  const dns = await resolver({
    [host]: { A: ['127.0.0.1'] },
    [`_${port}._https.${host}`]: { A: ['127.0.0.1'], HTTPS: [record] },
  });
  const ours = ['--allow-private', '--ca', running.caPath, '--timeout', TIMEOUT_MS, ...dns];
  const { race, v3, verdict } = (await explain(origin, ...ours)).explanation;
  const outcomes = (of: OriginRace | null) =>
    of?.trials[0]?.attempts
      .filter((a) => a.port === record.port && a.protocol === 'h3')
      .map(({ outcome }) => outcome);
  expect(outcomes(v3)).toEqual(['cancelled']);
  expect(outcomes(race)).toContain('failed');
  expect(verdict.code).toBe('h3-advertised-unreachable');
  expect(verdictText(verdict)).toContain(`${record.port} in its HTTPS record`);
});

test('a record that arrives too late is unknown, not missing', async ({ serve, resolver, explain }) => {
  const running = await serve({ page: { host: 'late.test', h3: false } });
  const { origin, host, port } = running.origins.page;
  const record = { priority: 1, target: '.', alpn: ['h3'] };
  const dns = await resolver({
    [host]: { A: ['127.0.0.1'] },
    [`_${port}._https.${host}`]: { HTTPS: { records: [record], afterMs: 5000 } },
  });
  const { explanation } = await explain(origin, '--allow-private', '--ca', running.caPath, ...dns);
  expect(explanation.h3?.mode).toBe('h3');
  expect(explanation.verdict.code).toBe('unknown');
  expect(verdictText(explanation.verdict)).toContain('Whether an HTTPS record advertises it is unknown');
});
