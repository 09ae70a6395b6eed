// Surveys with the built command line, a real NATS server and real origins: from nothing to Parquet and a page, from
// vantage points that are networks of their own, and through the loss of everything that can be lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { runCommand, runOrThrow } from '../child-process.ts';
import { networkUnavailable } from '../network/open.ts';
import { startNats } from '../origins/nats.ts';
import { onPath } from '../run/find-browser.mjs';
import { TOP } from '../scratch.ts';
import { openTestbed, type Testbed, VANTAGES } from '../survey/testbed.ts';
import { GO_MISSING, goProgram } from '../test-programs.ts';
import { expect, PHOTOFINISH, reachLocal, test } from './fixtures.ts';

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
  expect(first.stderr).toMatch(/^photofinish: bad-origin: line 3: /);
  expect(first.code).toBe(0);
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
  const jobs = 60;
  const list = join(dir, 'list.txt');
  await writeFile(
    list,
    Array.from({ length: jobs }, (_, index) => `${origins[index % 3]?.origin}\n`).join(''),
  );
  const survey = (...words: string[]) =>
    runCommand(PHOTOFINISH, [
      'survey',
      ...words,
      ...nodes.flatMap((_, index) => ['--server', `nats://127.0.0.1:${ports[index]}`]),
    ]);
  try {
    const load = () => survey('load', list, '--replicas', '3', '--per-network', '10');
    // The cluster elects its leaders first.
    await expect.poll(async () => (await load()).code, ELECTION).toBe(0);
    const work = survey('work', '--vantage', 'here', '--drain', ...reachLocal(local.caPath, origins));
    const done = async () => JSON.parse((await survey('status', '--json')).stdout).vantages[0]?.done ?? 0;
    await expect.poll(done, ELECTION).toBeGreaterThan(5);
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
