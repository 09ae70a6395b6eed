// The laboratory's links, measured from outside: packets experience what was configured. Counts have bounds that chance
// exceeds once in millions; times are asserted only as lower bounds, which a busy machine cannot violate.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, test } from '@playwright/test';
import { runCommand } from '../child-process.ts';
import { netemText, netemUnavailable, type Shape, startEcho } from '../network/link.ts';
import { type Network, networkUnavailable, openNetwork } from '../network/open.ts';
import { TOP } from '../scratch.ts';
import { rustProgram } from '../test-programs.ts';

const DELAY_MS = 20;
/** Five standard deviations of a binomial count. */
const WIDE = 5;

const opened: Network<'server'>[] = [];

async function openTun(shape: Shape): Promise<Network<'server'>> {
  const network = await openNetwork({ link: { kind: 'tun', shape, seed: 3 } });
  opened.push(network);
  return network;
}

test.beforeEach(async () => {
  const why = await networkUnavailable('tun');
  test.skip(why !== null, why ?? '');
});
test.afterEach(async () => {
  for (const network of opened.splice(0)) await network.close();
});

for (const family of [4, 6] as const)
  test(`IPv${family}: a round trip takes both delays, and changes at runtime apply at once`, async () => {
    const { client, peers } = await openTun({ delayMs: DELAY_MS });
    const { server } = peers;
    const echo = await startEcho(server);
    const address = family === 4 ? server.ipv4 : server.ipv6;
    const before = await echo.probe(client, { address, datagrams: 10, bytes: 1200, gapMs: 0 });
    expect(before.roundTripsMs).toHaveLength(10);
    expect(Math.min(...before.roundTripsMs)).toBeGreaterThanOrEqual(2 * DELAY_MS);
    await server.shape({ up: { delayMs: 4 * DELAY_MS } });
    const after = await echo.probe(client, { address, datagrams: 3, bytes: 1200, gapMs: 0 });
    expect(Math.min(...after.roundTripsMs)).toBeGreaterThanOrEqual(5 * DELAY_MS);
    const { up } = await server.report();
    expect(up.shortestUs).toBeGreaterThanOrEqual(DELAY_MS * 1000);
  });

test('losses are as configured, in each direction independently', async () => {
  const { client, peers } = await openTun({});
  const { server } = peers;
  const echo = await startEcho(server);
  await server.shape({ up: { loss: { kind: 'independent', share: 0.3 } } });
  const datagrams = 2000;
  const { roundTripsMs } = await echo.probe(client, {
    address: server.ipv4,
    datagrams,
    bytes: 100,
    gapMs: 1,
  });
  const { up, down } = await server.report();
  expect(up.delivered + up.lost).toBeGreaterThanOrEqual(datagrams);
  expect(down.lost).toBe(0);
  expect(roundTripsMs.length).toBe(down.delivered);
  const deviation = Math.sqrt(datagrams * 0.3 * 0.7);
  expect(Math.abs(up.lost - datagrams * 0.3)).toBeLessThan(WIDE * deviation);
});

test('a rate lets no more through than configured, and a short queue drops the rest', async () => {
  // 1228 bytes with the headers of UDP and IPv4 take 9.824 ms.
  const { client, peers } = await openTun({});
  const { server } = peers;
  const echo = await startEcho(server);
  await server.shape({ up: { rateMbps: 1, queuePackets: 5 } });
  const { roundTripsMs } = await echo.probe(client, {
    address: server.ipv4,
    datagrams: 50,
    bytes: 1200,
    gapMs: 1,
  });
  const { up } = await server.report();
  expect(up.delivered + up.overflowed).toBeGreaterThanOrEqual(50);
  expect(up.overflowed).toBeGreaterThan(0);
  expect(Math.min(...roundTripsMs)).toBeGreaterThanOrEqual(9.8);
});

test('a path MTU black hole passes Initials and nothing longer', async () => {
  const { client, peers } = await openTun({ maxPacketBytes: 1280 });
  const { server } = peers;
  const echo = await startEcho(server);
  const probe = (bytes: number) =>
    echo.probe(client, { address: server.ipv6, datagrams: 5, bytes, gapMs: 1 });
  // 48 bytes are IPv6's and UDP's headers.
  expect((await probe(1280 - 48)).roundTripsMs).toHaveLength(5);
  expect((await probe(1280 - 47)).roundTripsMs).toHaveLength(0);
  expect((await server.report()).up.oversized).toBe(5);
});

test('an obstacle affects what it names and nothing else, until it is removed', async () => {
  const network = await openNetwork();
  opened.push(network);
  const { client, peers } = network;
  const { server } = peers;
  const echo = await startEcho(server);
  const counter = await client.countSent({ transport: 'udp', family: 6 });
  const comeHome = async (address: string, bytes: number) =>
    (await echo.probe(client, { address, datagrams: 3, bytes, gapMs: 1 })).roundTripsMs.length;
  await server.obstruct([{ transport: 'udp', effect: 'drop', family: 6, overBytes: 1200 }]);
  expect(await comeHome(server.ipv6, 1200)).toBe(3);
  expect(await comeHome(server.ipv6, 1201)).toBe(0);
  expect(await comeHome(server.ipv4, 1201)).toBe(3);
  await server.obstruct([{ transport: 'tcp', effect: 'drop' }]);
  expect(await comeHome(server.ipv6, 1201)).toBe(3);
  expect(await counter.read()).toBe(9);
});

test('a shaped link is netem if the kernel has it, otherwise a forwarder', async () => {
  const shape: Shape = { delayMs: DELAY_MS, loss: { kind: 'independent', share: 0 } };
  const network = await openNetwork({ link: { kind: 'shaped', shape } });
  opened.push(network);
  const { client, peers, linkBackend } = network;
  const { server } = peers;
  expect(linkBackend).toBe((await netemUnavailable()) === null ? 'netem' : 'tun');
  const echo = await startEcho(server);
  const probe = { address: server.ipv4, datagrams: 5, bytes: 100, gapMs: 0 };
  const before = await echo.probe(client, probe);
  expect(before.roundTripsMs).toHaveLength(5);
  expect(Math.min(...before.roundTripsMs)).toBeGreaterThanOrEqual(2 * DELAY_MS);
  await server.shape({ up: { delayMs: 3 * DELAY_MS }, down: {} });
  const after = await echo.probe(client, probe);
  expect(Math.min(...after.roundTripsMs)).toBeGreaterThanOrEqual(3 * DELAY_MS);
});

test('the installed tc understands our netem arguments', async () => {
  const { client } = await openTun({});
  const shapes: Shape[] = [
    {},
    { delayMs: 12.5, loss: { kind: 'independent', share: 0.03 } },
    { loss: { kind: 'bursts', enter: 0.02, leave: 0.25, shareInside: 0.5, shareOutside: 0.01 } },
    { rateMbps: 0.5, queuePackets: 20 },
  ];
  const say = (words: readonly string[]) =>
    client.run('tc', ['qdisc', 'replace', 'dev', 'lo', 'root', 'netem', ...words]);
  // Arguments that tc does not know never reach the kernel, whose answer is all that remains without netem.
  const NOT_HERE = 'Error: Specified qdisc kind is unknown.';
  expect((await say(['delay', 'soon'])).stderr).not.toContain(NOT_HERE);
  for (const shape of shapes) {
    const { stderr } = await say(netemText(shape));
    expect(['', NOT_HERE]).toContain(stderr.trim());
  }
});

/** Process command lines and namespaces that still mention a network. */
async function traces(name: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const commands = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  return [...(await readdir('/run/netns')), ...(await Promise.all(commands))].filter((line) =>
    line.includes(name),
  );
}

const AS_NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups'];
/** Directories on root's path may be inaccessible to other users. */
const NOBODY_ENV = { ...process.env, PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/**
 * A directory accessible to every user, which the usual one is not if it is in a home directory; null if there is none.
 */
async function directoryForNobody(): Promise<string | null> {
  for (const place of [tmpdir(), '/tmp', '/var/tmp']) {
    const enter = await runCommand('setpriv', [...AS_NOBODY, 'test', '-x', place], { env: NOBODY_ENV });
    if (enter.code === 0) return place;
  }
  return null;
}

/** What an unprivileged user's link needs: its sources, its program, and a Node that any user may run. */
async function copyForNobody(place: string): Promise<{ dir: string; node: string }> {
  const dir = await mkdtemp(join(place, 'photofinish-nobody-'));
  await chmod(dir, 0o755);
  const node = join(dir, 'node');
  await copyFile(process.execPath, node);
  for (const path of [
    'package.json',
    'child-process.ts',
    'proc.ts',
    'run/find-browser.mjs',
    'scratch.ts',
    'test-programs.ts',
    'network',
  ])
    await cp(join(TOP, 'e2e', path), join(dir, 'e2e', path), {
      recursive: true,
      filter: (from) => !/network\/link(\/|$)/.test(from),
    });
  const program = rustProgram('photofinish-link');
  const copy = join(dir, relative(TOP, program));
  await mkdir(dirname(copy), { recursive: true });
  await copyFile(program, copy);
  return { dir, node };
}

test('unprivileged users have their own networks where user namespaces are allowed', async () => {
  const place = await directoryForNobody();
  test.skip(place === null, 'there is no temporary directory that anybody may enter');
  const { dir, node } = await copyForNobody(place ?? '');
  try {
    const may = await runCommand('setpriv', [...AS_NOBODY, 'unshare', '--user', '--map-root-user', 'true'], {
      env: NOBODY_ENV,
    });
    test.skip(may.code !== 0, `users may have no namespaces here: ${may.stderr}`);
    const measure = `
      import { startEcho } from './network/link.ts';
      import { networkUnavailable, openNetwork } from './network/open.ts';
      const why = await networkUnavailable('tun');
      if (why !== null) throw new Error(why);
      const network = await openNetwork({ link: { kind: 'tun', shape: { delayMs: ${DELAY_MS} } } });
      const { server } = network.peers;
      const counter = await network.client.countSent({ transport: 'udp' });
      const echo = await startEcho(server);
      const probe = { address: server.ipv6, datagrams: 5, bytes: 100, gapMs: 0 };
      const { roundTripsMs } = await echo.probe(network.client, probe);
      console.log(JSON.stringify({ roundTripsMs, counted: await counter.read() }));
      await network.close();`;
    const enter = `
      import { spawnSync } from 'node:child_process';
      import { networkUnavailable } from './network/open.ts';
      import { withNetworks } from './network/open.ts';
      if (process.getuid() === 0 || (await networkUnavailable('tun')) === null) throw new Error('this is root');
      const args = ['--input-type=module', '-e', ${JSON.stringify(measure)}];
      const { file, args: all } = await withNetworks({ file: process.execPath, args });
      process.exitCode = spawnSync(file, all, { stdio: 'inherit' }).status;`;
    const args = [...AS_NOBODY, node, '--input-type=module', '-e', enter];
    const { code, stdout, stderr } = await runCommand('setpriv', args, {
      cwd: join(dir, 'e2e'),
      env: NOBODY_ENV,
    });
    expect(code, stderr).toBe(0);
    const { roundTripsMs, counted } = JSON.parse(stdout) as { roundTripsMs: number[]; counted: number };
    expect(roundTripsMs).toHaveLength(5);
    expect(Math.min(...roundTripsMs)).toBeGreaterThanOrEqual(2 * DELAY_MS);
    expect(counted).toBe(5);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test('packets set apart arrive later and delay no others', async () => {
  const { client, peers } = await openTun({});
  const { server } = peers;
  const echo = await startEcho(server);
  await server.shape({ up: { apart: { transport: 'udp', family: 6, delayMs: 5 * DELAY_MS } } });
  const probe = (address: string) => echo.probe(client, { address, datagrams: 4, bytes: 100, gapMs: 1 });
  const [late, plain] = await Promise.all([probe(server.ipv6), probe(server.ipv4)]);
  expect(late.roundTripsMs).toHaveLength(4);
  expect(Math.min(...late.roundTripsMs)).toBeGreaterThanOrEqual(5 * DELAY_MS);
  expect(plain.roundTripsMs).toHaveLength(4);
  const { up } = await server.report();
  expect(up.shortestUs).toBeLessThan(5 * DELAY_MS * 1000);
});

test('a killed owner leaves nothing behind, neither namespaces nor processes', async () => {
  const script = `
    import { openNetwork } from './network/open.ts';
    const { client } = await openNetwork({ link: { kind: 'tun' } });
    client.spawn('sh', ['-c', 'sleep 600; true', client.name]);
    process.stdout.write(client.name);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(TOP, 'e2e'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [name] = (await once(owner.stdout.setEncoding('utf8'), 'data')) as [string];
  expect(await traces(name)).not.toEqual([]);
  owner.kill('SIGKILL');
  await expect.poll(() => traces(name), { timeout: 20_000 }).toEqual([]);
});
