// The fleet cache with a real NATS server and two helpers over the port: what one raced, the other forecasts, says whose
// evidence it is, and overrides it by a race of its own; the server learns no host, and nobody needs it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { goProgram } from '../go-programs.ts';
import { openHelper } from '../helper/port.ts';
import { startOrigins } from '../origins/start.ts';
import { expect, test } from './fixtures.ts';

const HOST = 'fleet-secret.test';
const LOOPBACK = '127.0.0.1';

interface NatsServer {
  readonly url: string;
  readonly store: string;
  kill(): Promise<void>;
}

/** A server on a free port of loopback, which it writes to a file. */
async function startNats(dir: string): Promise<NatsServer> {
  const [store, ports, config] = [`${dir}/nats`, `${dir}/ports`, `${dir}/nats.conf`];
  await mkdir(ports);
  writeFileSync(
    config,
    `listen: "${LOOPBACK}:-1"\nports_file_dir: ${JSON.stringify(ports)}\njetstream { store_dir: ${JSON.stringify(store)} }\n`,
  );
  const child: ChildProcess = spawn(goProgram('nats-server'), ['-c', config], { stdio: 'ignore' });
  let url = '';
  const readPorts = (): string => {
    const [name] = readdirSync(ports).filter((each) => each.endsWith('.ports'));
    if (name === undefined) return '';
    try {
      url = JSON.parse(readFileSync(`${ports}/${name}`, 'utf8')).nats[0];
    } catch {
      // Not written to its end yet.
    }
    return url;
  };
  await expect.poll(readPorts).not.toBe('');
  return {
    url,
    store,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A helper of this organisation with its own host cache, and the questions that a browser asks. */
async function startMachine(dir: string, name: string, settings: object) {
  const home = `${dir}/${name}`;
  await mkdir(home, { mode: 0o700 });
  const config = `${home}/config.json`;
  const own = { cache: `${home}/cache.db`, logs: `${home}/log` };
  writeFileSync(config, JSON.stringify({ ...settings, ...own }), { mode: 0o600 });
  const helper = openHelper(config);
  let id = 1;
  async function ask(message: object): Promise<Record<string, unknown>> {
    id += 1;
    const asked = id;
    helper.send({ id: asked, ...message });
    for (;;) {
      const reply = await helper.next();
      if (reply.id === asked && reply.type !== 'progress') return reply;
    }
  }
  helper.send({
    type: 'hello',
    id: 1,
    protocol: 1,
    program: 'e2e/1',
    verdictData: true,
    sharedForecasts: true,
  });
  await helper.next();
  return {
    /** Empty until something was logged. */
    log: () => (existsSync(own.logs) ? readFileSync(own.logs, 'utf8') : ''),
    close: () => helper.close(),
    /** The protocol that it expects an origin to support, and on whose evidence. */
    async reachable(origin: string): Promise<string> {
      const reply = await ask({ type: 'forecast', browser: 'chromium', site: HOST, origins: [origin] });
      const [forecast] = reply.forecasts as { reachable: { protocol: string; basis: string } }[];
      return `${forecast?.reachable.protocol} ${forecast?.reachable.basis}`;
    },
    race: (origin: string, share: boolean) =>
      ask({ type: 'race', origin, mode: 'compare', reason: 'click', share }),
    stats: () => ask({ type: 'stats' }),
  };
}

/** Everything that the server keeps on disk. */
function storedBy({ store }: NatsServer): Buffer {
  const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Buffer.concat(files.map((each) => readFileSync(`${each.parentPath}/${each.name}`)));
}

test('what one machine raced is forecast by another, whose own race overrides it; without the server both go on', async ({
  dir,
}) => {
  const running = await startOrigins({
    origins: { works: { host: HOST, h3: true }, unshared: { host: `not-${HOST}`, h3: true } },
  });
  const { works, unshared } = running.origins;
  const server = await startNats(dir);
  const salt = `${dir}/organisation.salt`;
  writeFileSync(salt, 'sixteen bytes or more', { mode: 0o600 });
  const resolve = Object.fromEntries(
    [works, unshared].map(({ host, port }) => [`${host}:${port}`, LOOPBACK]),
  );
  const fleet = { server: server.url, bucket: 'fleet', salt, publish: true };
  const settings = { allowPrivate: ['127.0.0.0/8'], ca: [running.caPath], resolve, fleet };
  const a = await startMachine(dir, 'a', settings);
  const b = await startMachine(dir, 'b', settings);
  try {
    for (const machine of [a, b]) await expect.poll(machine.log).toContain('outcomes are shared');
    expect(await b.reachable(works.origin)).toBe('unknown none');

    expect(await a.race(unshared.origin, false)).toMatchObject({ type: 'race' });
    expect(await a.race(works.origin, true)).toMatchObject({ type: 'race' });
    await expect.poll(() => b.reachable(works.origin)).toBe('h3 shared');
    expect(await a.reachable(works.origin)).toBe('h3 raced');
    // Published in order, so this one would have arrived before.
    expect(await b.reachable(unshared.origin)).toBe('unknown none');
    expect(await b.stats()).toMatchObject({ shared: 1, origins: 0 });

    const stored = storedBy(server);
    expect(stored.includes('photofinish.fleet/1')).toBe(true);
    for (const secret of [HOST, 'sixteen bytes', String(works.port)])
      expect(stored.includes(secret), secret).toBe(false);

    expect(await b.race(works.origin, true)).toMatchObject({ type: 'race' });
    expect(await b.reachable(works.origin)).toBe('h3 raced');

    await server.kill();
    expect(await b.reachable(works.origin)).toBe('h3 raced');
    expect(await a.race(unshared.origin, true)).toMatchObject({ type: 'race' });
    expect(await a.reachable(unshared.origin)).toBe('h3 raced');
  } finally {
    await Promise.all([a.close(), b.close()]);
    await server.kill();
    await running.stop();
  }
});
