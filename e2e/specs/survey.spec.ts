// Surveys with the built command line, a real NATS server and real origins: from nothing to Parquet and a page, from
// vantage points that are networks of their own, and through the loss of everything that can be lost.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { throwawayCa } from '../../native-host/testing/certificates.ts';
import { runCommand, runOrThrow } from '../child-process.ts';
import type { Namespace } from '../network/namespace.ts';
import { type Network, networkUnavailable, openNetwork } from '../network/open.ts';
import { startDnsInside } from '../origins/dns.ts';
import { startNats } from '../origins/nats.ts';
import { type OriginSettings, startOrigins } from '../origins/start.ts';
import { onPath } from '../run/find-browser.mjs';
import { TOP } from '../scratch.ts';
import { GO_MISSING, goProgram } from '../test-programs.ts';
import { expect, PHOTOFINISH, reachLocal, test } from './fixtures.ts';

/** IPv4 of the namespace that they run in. */
const EVERYWHERE = '0.0.0.0';

/** What is served below each of these names. */
const SERVERS = {
  advertised: { host: '*.advertised.test', address: EVERYWHERE, h3: true, altSvc: 'auto' },
  silent: { host: '*.silent.test', address: EVERYWHERE, h3: true },
  tcp: { host: '*.tcp.test', address: EVERYWHERE, h3: false },
} as const satisfies Record<string, OriginSettings>;

const KINDS = Object.keys(SERVERS) as (keyof typeof SERVERS)[];
/** All of it is local to the machine in the middle. */
const ALL_NETWORKS = '10.88.0.0/16';
/** Below .0 and above .254 there are no hosts. */
const HOSTS_PER_NETWORK = 254;

interface EstateHost {
  readonly name: string;
  readonly server: keyof typeof SERVERS;
  /** The first three octets of its /24. */
  readonly network: string;
  readonly address: string;
}

/** The host of a number from 0, on one of so many networks, at most 255. */
function estateHost(index: number, networks: number): EstateHost {
  const server = KINDS[index % KINDS.length] ?? 'tcp';
  const network = `10.88.${(index % networks) + 1}`;
  const address = `${network}.${1 + (Math.floor(index / networks) % HOSTS_PER_NETWORK)}`;
  return { name: `o${index}.${server}.test`, server, network, address };
}

/** The number in a host's name. */
const VANTAGES = ['east', 'blocked', 'lossy'] as const;
type Vantage = (typeof VANTAGES)[number];

const LOSS = 0.05;
const NATS_PORT = 4222;

/** A request that an origin saw. */
interface OriginRequest {
  readonly network: string;
  readonly host: string;
  readonly atMs: number;
}

/** A process that a spec may kill, and start again as it was. */
interface Restartable {
  readonly name: string;
  /** Ends it without notice, and starts it again. */
  crash(): Promise<void>;
  /** Resolves with its exit code when it ends by itself. */
  readonly ended: Promise<number | null>;
  /** What it said so far, all runs together. */
  output(): string;
  /** Whether it has ended by itself. */
  hasEnded(): boolean;
  stop(): Promise<void>;
}

function restartable(name: string, start: () => ChildProcessWithoutNullStreams): Restartable {
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  let output = '';
  let crashing = false;
  function begin(): ChildProcessWithoutNullStreams {
    const child = start();
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('exit', (code) => {
      if (!crashing) resolve(code);
    });
    return child;
  }
  let child = begin();
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return {
    name,
    ended,
    output: () => output,
    async crash() {
      // What has ended by itself is done.
      if (child.exitCode !== null) return;
      crashing = true;
      await end('SIGKILL');
      crashing = false;
      child = begin();
    },
    hasEnded: () => child.exitCode !== null,
    stop: () => end('SIGTERM'),
  };
}

interface TestbedOptions {
  /** An empty directory. */
  readonly dir: string;
  readonly origins: number;
  readonly networks: number;
}

interface Testbed {
  readonly dir: string;
  readonly archive: string;
  /** One line each. */
  readonly list: string;
  readonly origins: readonly string[];
  readonly seen: readonly OriginRequest[];
  readonly network: Network<Vantage>;
  startServer(): Promise<Restartable>;
  /** `survey` with these words, at the server's own place, to its end. */
  survey(...words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  startWorker(vantage: Vantage): Restartable;
  startCollector(): Restartable;
  close(): Promise<void>;
}

async function waitForServer(inside: Namespace): Promise<void> {
  const connects = `require('net').connect(${NATS_PORT}, '127.0.0.1').once('connect', () => process.exit(0)).once('error', () => process.exit(1))`;
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await inside.run(process.execPath, ['-e', connects])).code === 0) return;
    await sleep(25);
  }
  throw new Error('the NATS server accepts no connection');
}

async function openTestbed({ dir, origins: count, networks }: TestbedOptions): Promise<Testbed> {
  const network = await openNetwork<Vantage>({ peers: VANTAGES, link: { kind: 'tun', shape: {} } });
  const { client: hub, peers } = network;
  await hub.ip('route', 'add', 'local', ALL_NETWORKS, 'dev', 'lo');
  for (const peer of Object.values(peers))
    await peer.ip('route', 'add', ALL_NETWORKS, 'via', peer.clientIpv4);
  const loss = { kind: 'independent', share: LOSS } as const;
  await peers.lossy.shape({ up: { loss }, down: { loss } });

  const seen: OriginRequest[] = [];
  const running = await startOrigins({
    origins: SERVERS,
    inside: hub,
    onRequest: ({ host }) => {
      if (host === null) throw new Error('a survey asks over HTTP/2 and HTTP/3');
      const index = Number(host.slice(1, host.indexOf('.')));
      seen.push({ host, network: estateHost(index, networks).network, atMs: Date.now() });
    },
  });
  // As in networks that block UDP, the resolver is still reached.
  const ports = Object.values(running.origins).map(({ port }) => port);
  await peers.blocked.obstruct(ports.map((port) => ({ transport: 'udp', effect: 'drop', port })));
  const hosts = Array.from({ length: count }, (_, index) => estateHost(index, networks));
  const scripts = hosts.map(({ name, address }) => [name, { A: [address] }]);
  const dns = await startDnsInside(hub, EVERYWHERE, Object.fromEntries(scripts));
  const origins = hosts.map(({ name, server }) => `https://${name}:${running.origins[server].port}`);
  const list = join(dir, 'list.txt');
  await writeFile(list, origins.map((origin) => `${origin}\n`).join(''));
  const config = join(dir, 'server.conf');
  const store = JSON.stringify(join(dir, 'nats'));
  await writeFile(
    config,
    `listen: "0.0.0.0:${NATS_PORT}"\njetstream { store_dir: ${store}, sync_interval: always }\n`,
  );
  const archive = join(dir, 'archive');
  const processes: Restartable[] = [];
  const started = (process_: Restartable): Restartable => {
    processes.push(process_);
    return process_;
  };
  return {
    ...{ dir, archive, list, seen, network },
    origins,
    async startServer() {
      const server = started(
        restartable('server', () => hub.spawn(goProgram('nats-server'), ['-c', config])),
      );
      await waitForServer(hub);
      return server;
    },
    survey: (...words) => hub.run(PHOTOFINISH, ['survey', ...words]),
    startWorker(vantage) {
      const peer = peers[vantage];
      const where = [
        '--vantage',
        vantage,
        '--worker',
        'only',
        '--server',
        `nats://${peer.clientIpv4}:${NATS_PORT}`,
        ...['--resolver', peer.clientIpv4, '--allow-private', '--ca', running.caPath],
      ];
      return started(
        restartable(vantage, () => peer.spawn(PHOTOFINISH, ['survey', 'work', ...where, '--drain'])),
      );
    },
    startCollector: () =>
      started(restartable('collector', () => hub.spawn(PHOTOFINISH, ['survey', 'collect', archive]))),
    async close() {
      await Promise.all(processes.map((each) => each.stop()));
      await dns.stop();
      await running.stop();
      await network.close();
    },
  };
}

const CLI = join(TOP, 'native-host/dist/cli.js');
/** Kills in the survival test; a long run asks for more, and for more origins. */
const KILLS = Number(process.env.PHOTOFINISH_SURVEY_KILLS ?? 6);
const ORIGINS = Number(process.env.PHOTOFINISH_SURVEY_ORIGINS ?? 300);
/** In a long run budgets would otherwise take hours. */
const NETWORKS = Math.max(30, Math.min(250, Math.ceil(ORIGINS / 80)));
const KILL_EVERY_MS = 5000;
/** So few that without budgets half a minute's races would begin at once. */
const PER_NETWORK = 1;
/** For servers that have just begun to agree on their leaders, for each stream anew, on a busy machine. */
const ELECTION = { timeout: 90_000 };
/** A killed worker's jobs come back after a minute, up to ten times. */
const PATIENCE_MS = Math.max(600_000, 60 * ORIGINS);

interface SurveyExport {
  readonly vantages: readonly {
    readonly vantage: string;
    readonly measured: number;
    readonly missing: number;
    readonly blocksUdp: boolean;
  }[];
  readonly files: readonly { readonly rows: number }[];
}

test.beforeEach(() => test.skip(onPath('go') === null, GO_MISSING));

function withServer(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(goProgram('nats-server'))}:${process.env.PATH}` };
}

async function exported(archive: string, out: string): Promise<SurveyExport> {
  const { code, stdout, stderr } = await runCommand(PHOTOFINISH, [
    'survey',
    'export',
    archive,
    '--out',
    out,
    '--json',
  ]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

test('a list becomes an archive, Parquet and a page with one server that ends with the command', async ({
  local,
  dir,
}) => {
  const { both, h2only } = local.origins;
  const list = join(dir, 'list.txt');
  await writeFile(
    list,
    `# two of these four lines are jobs\n${both.origin}\nnot an origin\n${h2only.origin}\n`,
  );
  const out = join(dir, 'archive');
  const args = [
    'survey',
    'run',
    list,
    '--out',
    out,
    '--canary',
    both.origin,
    '--mode',
    'compare',
    '--trials',
    '3',
  ];
  const reach = reachLocal(local.caPath, [both, h2only]);
  const env = withServer();
  const first = await runCommand(PHOTOFINISH, [...args, ...reach], { env });
  expect(first.stderr).toMatch(
    /^photofinish: bad-origin: line 3: .*\nphotofinish: bad-line: 1 line could not be read\n$/,
  );
  expect(first.code).toBe(1);
  expect(first.stdout).toContain('2 measured');
  const { vantages, files } = await exported(out, join(dir, 'parquet'));
  expect(vantages).toMatchObject([{ vantage: 'here', measured: 2, missing: 0, blocksUdp: false }]);
  expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThanOrEqual(6);
  const page = join(dir, 'report.html');
  const report = await runCommand(PHOTOFINISH, ['survey', 'report', out, '--html', page]);
  expect(report.code).toBe(0);
  expect(await readFile(page, 'utf8')).toContain('HTTP/3 from one vantage point');

  // Everything is done, so a second run measures nothing and leaves the archive as it is.
  const before = await readdir(out);
  const second = await runCommand(PHOTOFINISH, [...args, ...reach], { env });
  expect(second.stdout).toContain('0 measured');
  expect(await readdir(out)).toEqual(before);
  const other = await runCommand(PHOTOFINISH, [...args, ...reach, '--seed', 'other'], { env });
  expect(other.stderr).toContain('choose another directory with --out');
});

test('a server dialled by its address is used with a certificate for that address only', async ({ dir }) => {
  const ca = throwawayCa();
  const caFile = join(dir, 'ca.pem');
  await writeFile(caFile, ca.cert);
  const start = (name: string) => startNats(join(dir, name), { tls: ca.issue(name) });
  const [right, wrong] = [await start('127.0.0.1'), await start('localhost')];
  const doctor = (url: string) =>
    runCommand(process.execPath, [CLI, 'survey', 'doctor', '--tls-ca', caFile, '--server', url]);
  try {
    for (const scheme of ['nats', 'tls']) {
      const ofScheme = (url: string) => `${scheme}://${new URL(url).host}`;
      expect((await doctor(ofScheme(right.url))).stdout).toMatch(/^✓ connected in/);
      const refused = await doctor(ofScheme(wrong.url));
      expect(refused.stderr).toContain("IP: 127.0.0.1 is not in the cert's list");
      expect(refused.code).toBe(1);
      const byName = `${scheme}://localhost:${new URL(wrong.url).port}`;
      expect((await doctor(byName)).stdout).toMatch(/^✓ connected in/);
    }
  } finally {
    await Promise.all([right.stop(), wrong.stop()]);
  }
});

test('a command ends although its server says nothing', async () => {
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  try {
    const args = [CLI, 'survey', 'status', '--server', `nats://127.0.0.1:${port}`];
    const { code, stderr } = await runCommand(process.execPath, args);
    expect(stderr).toMatch(/^photofinish: no-server: no NATS server can be used at .*: timeout$/m);
    expect(code).toBe(1);
  } finally {
    mute.close();
  }
});

/** So many jobs of one network, none of which is answered: with the default budget they take half as many seconds. */
async function writeSlowList(path: string, jobs: number): Promise<void> {
  const ports = Array.from({ length: jobs }, (_, index) => 1024 + index);
  await writeFile(path, ports.map((port) => `https://127.0.0.1:${port}\n`).join(''));
}

test('an interrupt ends worker and collector while their server is away', async ({ dir }) => {
  const server = await startNats(join(dir, 'nats'));
  const [list, archive] = [join(dir, 'list.txt'), join(dir, 'archive')];
  await writeSlowList(list, 200);
  const survey = (...words: string[]) => [CLI, 'survey', ...words, '--server', server.url];
  await runOrThrow(process.execPath, survey('load', list));
  const started = (name: string, ...words: string[]) =>
    restartable(name, () => spawn(process.execPath, survey(...words), { stdio: 'pipe' }));
  const worker = started('worker', 'work', '--vantage', 'here', '--allow-private');
  const collector = started('collector', 'collect', archive);
  try {
    const status = async () => JSON.parse(await runOrThrow(process.execPath, survey('status', '--json')));
    await expect.poll(async () => (await status()).vantages).toMatchObject([{ done: expect.any(Number) }]);
    await expect.poll(() => readdir(archive).catch(() => [])).toContain('survey.json');
    await server.stop();
    for (const each of [worker, collector])
      await expect.poll(() => each.output()).toContain('trying again until it works');
    await Promise.all([worker.stop(), collector.stop()]);
    expect(await Promise.all([worker.ended, collector.ended])).toEqual([130, 130]);
    expect(worker.output()).toContain('the worker could not be withdrawn');
  } finally {
    await Promise.all([server.stop(), worker.stop(), collector.stop()]);
  }
});

test('a run ends with its server, and says so', async ({ dir }) => {
  const [list, archive] = [join(dir, 'list.txt'), join(dir, 'archive')];
  await writeSlowList(list, 40);
  const args = [CLI, 'survey', 'run', list, '--out', archive, '--allow-private'];
  const run = restartable('run', () => spawn(process.execPath, args, { stdio: 'pipe', env: withServer() }));
  try {
    await expect.poll(() => readdir(archive).catch(() => [])).toContain('survey.json');
    // Until worker and collector both wait for the server.
    await sleep(3000);
    process.kill(Number(await readFile(join(archive, '.nats', 'server.pid'), 'utf8')), 'SIGKILL');
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('the NATS server exited; run the command again to continue');
  } finally {
    await run.stop();
  }
});

test('each thing that can be wrong has one sentence', async ({ dir, local }) => {
  const list = join(dir, 'list.txt');
  await writeFile(list, `${local.origins.both.origin}\n`);
  const run = (args: readonly string[], env = process.env) =>
    runCommand(process.execPath, [CLI, 'survey', ...args], { env });
  const nowhere = ['--server', 'nats://127.0.0.1:1'];
  const wrong: readonly (readonly [args: readonly string[], says: RegExp, env?: NodeJS.ProcessEnv])[] = [
    [
      ['status', ...nowhere],
      /^photofinish: no-server: no NATS server can be used at nats:\/\/127\.0\.0\.1:1: /,
    ],
    [['work', ...nowhere], /^photofinish: no-server|^photofinish: bad-usage: survey work takes --vantage/],
    [['status', ...nowhere, '--creds', join(dir, 'none')], /^photofinish: bad-file: .*none cannot be read/],
    [
      ['run', list, '--out', join(dir, 'a')],
      /^photofinish: no-server: .*go install github\.com\/nats-io/,
      { HOME: dir, PATH: dir },
    ],
    [
      ['run', join(dir, 'no-list'), '--out', join(dir, 'b')],
      /^photofinish: bad-file: .*no-list cannot be read/,
      withServer(),
    ],
    [['run', list, '--out', list], /^photofinish: cannot-write: /, withServer()],
    [['load', list, ...nowhere, '--canary', 'not an origin'], /^photofinish: bad-origin: /],
    [['load', list, ...nowhere, '--mode', 'v3'], /^photofinish: bad-mode: /],
  ];
  for (const [args, says, env] of wrong) {
    const { code, stderr } = await run(args, env);
    expect(stderr, args.join(' ')).toMatch(says);
    expect(stderr.trim().split('\n'), args.join(' ')).toHaveLength(1);
    expect(code, args.join(' ')).not.toBe(0);
  }
});

test('a server with a password refuses, accepts orders, and is examined', async ({ dir }) => {
  const server = await startNats(join(dir, 'nats'), { user: { name: 'survey', password: 'secret' } });
  try {
    const { port } = new URL(server.url);
    const doctor = (who: string) =>
      runCommand(PHOTOFINISH, [
        ...['survey', 'doctor', '--server', `nats://${who}127.0.0.1:${port}`],
        ...['--monitor', server.monitoringUrl],
      ]);
    expect((await doctor('')).stderr).toMatch(/^photofinish: no-server: .*refuses these credentials/);
    const examined = await doctor('survey:secret@');
    // By default acknowledged messages are synced within two minutes.
    expect(examined.stdout).toContain('sync_interval: always');
    expect(examined.code).toBe(1);
    const list = join(dir, 'list.txt');
    await writeFile(list, 'a.test\n');
    const order = (words: readonly string[], input?: string) =>
      runOrThrow(PHOTOFINISH, ['survey', ...words, '--server', `nats://survey:secret@127.0.0.1:${port}`], {
        ...(input !== undefined && { input }),
      });
    await order(['load', list, '--per-network', '3']);
    const many = Array.from({ length: 100_000 }, (_, index) => `number-${index}.of-a-long-list.example.org`);
    const added = await order(['opt-out', '-'], `# who asked\n\n${many.join('\n')}\n`);
    expect(added.trimEnd().split('\n')).toEqual(many);
    await order(['budget', '--total', '5']);
    expect(JSON.parse(await order(['status', '--json']))).toMatchObject({
      budget: { perNetworkPerSecond: 3, totalPerSecond: 5 },
      optOut: 100_000,
    });
    const [url, config] = [`nats://survey:secret@127.0.0.1:${port}`, join(dir, 'nats', 'server.conf')];
    const words = ['survey', 'work', '--vantage', 'here', '--server', url];
    const worker = restartable('worker', () => spawn(process.execPath, [CLI, ...words], { stdio: 'pipe' }));
    try {
      await expect.poll(async () => JSON.parse(await order(['status', '--json'])).workers.length).toBe(1);
      await writeFile(config, (await readFile(config, 'utf8')).replace('"secret"', '"another"'));
      const [, pid] = /_(\d+)\.ports$/m.exec((await readdir(join(dir, 'nats'))).join('\n')) ?? [];
      process.kill(Number(pid), 'SIGHUP');
      await expect.poll(() => worker.output()).toContain('it refuses these credentials');
    } finally {
      await worker.stop();
    }
  } finally {
    await server.stop();
  }
});

test('what the permissions of a user deny is named as that, also where nothing waits for an answer', async ({
  dir,
}) => {
  const denied = ['survey.other.todo.*', '$JS.API.CONSUMER.MSG.NEXT.>'];
  const user = { name: 'survey', password: 'secret', denied };
  const server = await startNats(join(dir, 'nats'), { user });
  try {
    const where = ['--server', `nats://survey:secret@127.0.0.1:${new URL(server.url).port}`];
    const list = join(dir, 'list.txt');
    await writeFile(list, 'a.test\nnot an origin\n');
    const load = (survey: string) =>
      runCommand(PHOTOFINISH, ['survey', 'load', list, '--survey', survey, ...where]);
    const refused = await load('other');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /\nphotofinish: no-server: the server refuses: its permissions do not let this user publish to "survey\.other\.todo\.\d+"; [^\n]*\n$/,
    );
    const loaded = await load('survey');
    expect(loaded.code).toBe(1);
    expect(loaded.stdout).toContain('1 of 1 job loaded');
    expect(loaded.stderr).toMatch(/\nphotofinish: bad-line: 1 line could not be read\n$/);
    const words = ['survey', 'work', '--vantage', 'here', ...where];
    const worker = restartable('worker', () => spawn(process.execPath, [CLI, ...words], { stdio: 'pipe' }));
    try {
      await expect
        .poll(() => worker.output())
        .toContain(
          'no-server: the server refuses: its permissions do not let this user publish to "$JS.API.CONSUMER.MSG.NEXT.survey-',
        );
    } finally {
      await worker.stop();
    }
  } finally {
    await server.stop();
  }
});

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

test('a cluster of three servers that loses one for good loses nothing', async ({ dir, local }) => {
  test.setTimeout(4 * ELECTION.timeout);
  const nodes = ['a', 'b', 'c'] as const;
  const ports = await freePorts(2 * nodes.length);
  const routes = nodes.map((_, index) => `nats://127.0.0.1:${ports[3 + index]}`);
  const children = await Promise.all(
    nodes.map(async (name, index) => {
      const config = join(dir, `${name}.conf`);
      await writeFile(
        config,
        `server_name: ${name}\nlisten: "127.0.0.1:${ports[index]}"
jetstream { store_dir: ${JSON.stringify(join(dir, name))}, sync_interval: always }
cluster { name: survey, listen: "127.0.0.1:${ports[3 + index]}", routes: ${JSON.stringify(routes)} }\n`,
      );
      return spawn(goProgram('nats-server'), ['-c', config], { stdio: 'ignore' });
    }),
  );
  const exits = children.map((child) => once(child, 'exit'));
  const { both, h2only, silent } = local.origins;
  const origins = [both, h2only, silent];
  const modes = ['race', 'alt-svc', 'naive', 'compare', 'h3', 'h2'];
  const lines = origins.flatMap(({ origin }) => modes.map((mode) => `${JSON.stringify({ origin, mode })}\n`));
  const jobs = lines.length;
  const list = join(dir, 'list.txt');
  await writeFile(list, lines.join(''));
  const survey = (...words: string[]) =>
    runCommand(PHOTOFINISH, [
      'survey',
      ...words,
      ...nodes.flatMap((_, index) => ['--server', `nats://127.0.0.1:${ports[index]}`]),
    ]);
  try {
    const load = () => survey('load', list, '--replicas', '3', '--per-network', '2');
    // The cluster elects its leaders first.
    await expect.poll(async () => (await load()).code, ELECTION).toBe(0);
    const work = survey('work', '--vantage', 'here', '--drain', ...reachLocal(local.caPath, origins));
    const done = async () => JSON.parse((await survey('status', '--json')).stdout).vantages[0]?.done ?? 0;
    await expect.poll(done, ELECTION).toBeGreaterThan(2);
    children[0]?.kill('SIGKILL');
    const worked = await work;
    expect(worked.code, worked.stderr).toBe(0);
    const archive = join(dir, 'archive');
    // What the lost server led has a new leader only after another election; a command repeated until then goes on.
    await expect.poll(async () => (await survey('collect', archive, '--drain')).code, ELECTION).toBe(0);
    const { vantages } = await exported(archive, join(dir, 'parquet'));
    expect(vantages).toMatchObject([{ vantage: 'here', measured: jobs, missing: 0 }]);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(exits);
  }
});

test.describe('in namespaces', () => {
  let testbed: Testbed;
  test.beforeEach(async ({ dir }) => {
    const why = await networkUnavailable('tun');
    test.skip(why !== null, why ?? '');
    testbed = await openTestbed({ dir, origins: ORIGINS, networks: NETWORKS });
  });
  test.afterEach(async () => testbed?.close());

  test('every vantage point has every origin exactly once, whatever is killed meanwhile', async ({ dir }) => {
    test.setTimeout(PATIENCE_MS + KILLS * KILL_EVERY_MS);
    const [canary = ''] = testbed.origins;
    const server = await testbed.startServer();
    const loaded = await testbed.survey(
      'load',
      testbed.list,
      '--per-network',
      String(PER_NETWORK),
      '--canary',
      canary,
    );
    expect(loaded.stdout).toContain(`${ORIGINS} of ${ORIGINS} jobs loaded`);
    const workers = VANTAGES.map((vantage) => testbed.startWorker(vantage));
    const collector = testbed.startCollector();
    const victims = [server, ...workers, collector];
    // Each in turn, the worker that is slowest to finish more often.
    for (let kill = 0; kill < KILLS; kill += 1) {
      await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS));
      await victims[kill % victims.length]?.crash();
    }
    expect(
      await Promise.all(workers.map(({ ended }) => ended)),
      workers.map((w) => w.output()).join(),
    ).toEqual([0, 0, 0]);
    // It has survived the server's death, not only its own.
    expect(collector.output()).not.toContain('internal');
    expect(collector.hasEnded()).toBe(false);
    await collector.stop();
    expect((await testbed.survey('collect', testbed.archive, '--drain')).code).toBe(0);

    const { vantages, files } = await exported(testbed.archive, join(dir, 'parquet'));
    expect(vantages).toMatchObject(
      VANTAGES.toSorted().map((vantage) => ({
        vantage,
        measured: ORIGINS,
        missing: 0,
        // One cut path, many origins: the vantage is told, not the hosts.
        blocksUdp: vantage === 'blocked',
      })),
    );
    expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(VANTAGES.length * ORIGINS);
    expect(worstExcess(testbed, canary)).toBeLessThanOrEqual(0);
  });
});

/** Requests arrive later than their races begin, on a busy machine not evenly. */
const ARRIVAL_SLACK = 1.5;

/**
 * By how many requests any network's busiest time exceeded its budget: at most one a worker, and the rate. A race that
 * tries HTTP/2 as well makes a second request, and canaries are no races.
 */
function worstExcess({ seen }: Testbed, canary: string): number {
  const windowMs = 10_000;
  const allowed = ARRIVAL_SLACK * (VANTAGES.length + (PER_NETWORK * windowMs) / 1000);
  const networks = Map.groupBy(
    seen.filter(({ host }) => host !== new URL(canary).hostname),
    ({ network }) => network,
  );
  const worst = [...networks.values()].map((requests) => {
    const times = requests.map(({ atMs }) => atMs).toSorted((a, b) => a - b);
    return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length));
  });
  return Math.max(...worst) - allowed;
}
