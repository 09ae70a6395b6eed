// The fleet cache with a real NATS server, between helpers over the port and between command lines: what one raced, the
// other forecasts, says whose evidence it is, and overrides it by a race of its own; the server learns no host, and
// nobody needs it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DoctorFinding } from '@photofinish/shared/port/wire';
import { type OriginRace, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import type { Origin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { SHARED_FRESH_MS } from '../../native-host/cache/policy.ts';
import { BUCKET_CHECK_MS, openFleet } from '../../native-host/fleet/fleet.ts';
import { emptyTally, openArchive, resultsOf } from '../../native-host/survey/archive.ts';
import { connectTo } from '../../native-host/survey/connect.ts';
import { Kvm } from '../../native-host/survey/nats.ts';
import { openHelper } from '../helper/port.ts';
import { type RunningNats, startNats } from '../origins/nats.ts';
import { type OriginSettings, type RunningOrigin, startOrigins } from '../origins/start.ts';
import { onPath } from '../run/find-browser.mjs';
import { skippingClock } from '../survey/worker-testbed.ts';
import { GO_MISSING, goProgram } from '../test-programs.ts';
import { expect, reachLocal, runPhotofinish, test } from './fixtures.ts';

const HOST = 'fleet-secret.test';
const LOOPBACK = '127.0.0.1';
const SALT = 'sixteen bytes or more';
/** One origin with HTTP/3 and one that advertises it and refuses. */
const ORIGINS = {
  refuses: { host: 'refuses.test', h3: false, altSvc: 'auto' },
  works: { host: 'works.test', h3: true, altSvc: 'auto' },
};

test.beforeEach(() => test.skip(onPath('go') === null, GO_MISSING));

/** A NATS server, origins, and the settings by which machines of one organisation share outcomes. */
async function openOrganisation<Name extends string>(dir: string, origins: Record<Name, OriginSettings>) {
  const running = await startOrigins({ origins });
  const server = await startNats(`${dir}/nats`);
  const salt = `${dir}/organisation.salt`;
  writeFileSync(salt, SALT, { mode: 0o600 });
  const killServer = () => server.stop('SIGKILL');
  return {
    origins: running.origins,
    caPath: running.caPath,
    /** Options by which a command line reaches the origins. */
    reach: (...origins: readonly RunningOrigin[]) => reachLocal(running.caPath, origins),
    server,
    killServer,
    fleet: { server: server.url, bucket: 'fleet', salt, publish: true },
    async close() {
      await killServer();
      await running.stop();
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
function storedBy({ store }: RunningNats): Buffer {
  const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Buffer.concat(files.map((each) => readFileSync(`${each.parentPath}/${each.name}`)));
}

test('what one machine raced is forecast by another, whose own race overrides it; without the server both go on', async ({
  dir,
}) => {
  const organisation = await openOrganisation(dir, {
    works: { host: HOST, h3: true },
    unshared: { host: `not-${HOST}`, h3: true },
  });
  const { works, unshared } = organisation.origins;
  const resolve = Object.fromEntries(
    [works, unshared].map(({ host, port }) => [`${host}:${port}`, LOOPBACK]),
  );
  const { fleet, caPath } = organisation;
  const settings = { allowPrivate: ['127.0.0.0/8'], ca: [caPath], resolve, fleet };
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

    const stored = storedBy(organisation.server);
    expect(stored.includes('photofinish.fleet/1')).toBe(true);
    // With its colon, or digits of a digest could equal those of the port.
    for (const secret of [HOST, SALT, `:${works.port}`]) expect(stored.includes(secret), secret).toBe(false);

    expect(await b.race(works.origin, true)).toMatchObject({ type: 'race' });
    expect(await b.reachable(works.origin)).toBe('h3 raced');

    await organisation.killServer();
    expect(await b.reachable(works.origin)).toBe('h3 raced');
    expect(await a.race(unshared.origin, true)).toMatchObject({ type: 'race' });
    expect(await a.reachable(unshared.origin)).toBe('h3 raced');
  } finally {
    await Promise.all([a.close(), b.close()]);
    await organisation.close();
  }
});

test('a bucket that is made anew is followed again, and copied', async ({ dir }) => {
  const server = await startNats(`${dir}/nats`);
  const saltFile = `${dir}/organisation.salt`;
  writeFileSync(saltFile, SALT, { mode: 0o600 });
  const files = { credsFile: null, nkeyFile: null, caFile: null };
  const connection = await connectTo({ servers: [server.url], ...files });
  const clock = skippingClock();
  const logged: string[] = [];
  let refused = 0;
  const fleet = openFleet({
    settings: { server: server.url, bucket: 'fleet', network: 'fleet', publish: true, saltFile, ...files },
    cache: {
      shared: () => null,
      recordShared: (_, { malformed = 0 }) => {
        refused += malformed;
      },
    },
    clock,
    log: (message) => logged.push(message),
  });
  const buckets = new Kvm(connection);
  const publish = async () => {
    const bucket = await buckets.create('fleet', { history: 1, ttl: SHARED_FRESH_MS });
    await bucket.put(fleet.keyOf('https://a.test' as Origin), 'no outcome');
    return bucket;
  };
  try {
    await expect.poll(() => logged).toEqual(['outcomes are shared']);
    const first = await publish();
    await expect.poll(() => refused).toBe(1);
    await first.destroy();
    await publish();
    await expect
      .poll(() => {
        clock.skip(BUCKET_CHECK_MS);
        return refused;
      })
      .toBe(2);
    expect(logged.slice(1)).toEqual([
      'outcomes are not shared now: the bucket cannot be followed any more',
      'outcomes are shared',
    ]);
  } finally {
    await fleet.close();
    await connection.close();
    await server.stop('SIGKILL');
  }
});

/** What the jobs of an archive measured, by origin. */
async function archived(dir: string): Promise<Map<string, OriginRace>> {
  const races = new Map<string, OriginRace>();
  const archive = openArchive(dir);
  for await (const { document } of resultsOf(archive, emptyTally(archive)))
    for (const race of document.races) races.set(race.origin, race);
  return races;
}

/** A command line of its own user, with these settings. */
async function commandLine(dir: string, name: string, fleet: object) {
  const home = `${dir}/${name}`;
  await mkdir(`${home}/photofinish`, { recursive: true, mode: 0o700 });
  writeFileSync(`${home}/photofinish/config.json`, JSON.stringify({ fleet }), { mode: 0o600 });
  const nats = dirname(goProgram('nats-server'));
  const env = { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, PATH: `${nats}:${process.env.PATH}` };
  const run = (...args: string[]) => runPhotofinish(args, env);
  return {
    run,
    /** The doctor's finding about the fleet cache. */
    async doctor(): Promise<DoctorFinding | undefined> {
      const { findings } = JSON.parse((await run('doctor', '--json')).stdout);
      return findings.find(({ text }: DoctorFinding) => text.startsWith('fleet cache: '));
    },
    async race(...args: string[]): Promise<{ races: OriginRace[]; complaints: string }> {
      const { stdout, stderr } = await run('race', '--json', '--network', 'lab', ...args);
      return { races: v.parse(raceDocumentSchema, JSON.parse(stdout)).races, complaints: stderr };
    },
  };
}

test('a cold command line begins with what another one learnt, tells it, and then relies on its own races', async ({
  dir,
}) => {
  const organisation = await openOrganisation(dir, ORIGINS);
  const { fleet, reach } = organisation;
  const { refuses, works } = organisation.origins;
  const otherSalt = `${dir}/other.salt`;
  writeFileSync(otherSalt, 'those of another one', { mode: 0o600 });
  const racing = (each: RunningOrigin) => [each.origin, ...reach(each)];
  try {
    const a = await commandLine(dir, 'a', fleet);
    const first = await a.race('--fleet', ...racing(refuses));
    expect(first.complaints).toBe('');
    expect(first.races[0]?.sharedOutcome).toBeUndefined();
    expect(first.races[0]?.startDelayMs).toBe(10);

    const b = await commandLine(dir, 'b', fleet);
    const [told] = (await b.race('--fleet', ...racing(refuses))).races;
    expect(told?.sharedOutcome).toMatchObject({ h3Failure: 'udp-refused', tcpProtocol: 'h2' });
    expect(told?.startDelayMs).toBe(0);
    expect(told?.trials[0]?.attempts.map(({ protocol }) => protocol)).toContain('h3');
    const [own] = (await b.race('--fleet', ...racing(refuses))).races;
    expect(own?.sharedOutcome).toBeUndefined();
    expect(own?.trials[0]?.cacheHit).toBe(true);
    await b.race('--fleet', ...racing(works));

    const c = await commandLine(dir, 'c', fleet);
    const text = await c.run('race', '--fleet', ...racing(refuses));
    expect(text.stdout.replaceAll(/\s+/g, ' ')).toContain('on a machine of the organisation HTTP/3 failed');
    const [alone] = (await c.race('--memory', 'none', ...racing(works))).races;
    expect(alone?.sharedOutcome).toBeUndefined();

    const page = await c.run('explain', '--trials', '3', '--network', 'lab', ...racing(works));
    expect(page.stdout.replaceAll(/\s+/g, ' ')).toContain('on a machine of the organisation HTTP/3 worked');
    expect(await c.doctor()).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(
        /the bucket "fleet" holds 2 values; 2 outcomes are copied here, the newest within the last (?:hour|2 hours)$/,
      ),
    });

    const e = await commandLine(dir, 'e', fleet);
    await e.race('--fleet', ...racing(refuses));

    const stranger = await commandLine(dir, 'stranger', { ...fleet, salt: otherSalt });
    const [unknown] = (await stranger.race('--fleet', ...racing(refuses))).races;
    expect(unknown?.sharedOutcome).toBeUndefined();
    expect(unknown?.startDelayMs).toBe(10);

    const reader = await commandLine(dir, 'reader', { ...fleet, bucket: 'none', publish: false });
    const { complaints } = await reader.race('--fleet', ...racing(works));
    expect(complaints).toContain('there is no bucket "none"');

    await organisation.killServer();
    expect(await c.doctor()).toMatchObject({
      state: 'problem',
      text: expect.stringMatching(/the bucket "fleet" cannot be used: .*; 2 outcomes are copied here/),
    });
    const copied = await e.race('--fleet', ...racing(works));
    expect(copied.complaints).toContain('fleet-unavailable');
    expect(copied.races[0]?.sharedOutcome).toMatchObject({ h3Failure: null });
    const d = await commandLine(dir, 'd', fleet);
    const [cold] = (await d.race('--fleet', ...racing(works))).races;
    expect(cold?.sharedOutcome).toBeUndefined();
    expect(cold?.trials[0]?.adopted).not.toBeNull();
  } finally {
    await organisation.close();
  }
});

test("a survey's cold worker begins with what others learnt if asked, says so in the archive, and shares its own", async ({
  dir,
}) => {
  const organisation = await openOrganisation(dir, ORIGINS);
  const { fleet, reach } = organisation;
  const { refuses, works } = organisation.origins;
  const list = `${dir}/list.txt`;
  writeFileSync(list, `${refuses.origin}\n${works.origin}\n`);
  try {
    const crawler = await commandLine(dir, 'crawler', fleet);
    await crawler.race('--fleet', refuses.origin, ...reach(refuses));
    const worker = await commandLine(dir, 'worker', fleet);
    const survey = async (out: string, ...args: string[]) => {
      const ended = await worker.run('survey', 'run', list, '--out', out, ...args, ...reach(refuses, works));
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      return archived(out);
    };
    const cold = await survey(`${dir}/cold`);
    for (const race of cold.values()) expect([race.memory, race.sharedOutcome]).toEqual(['none', undefined]);
    expect(cold.get(refuses.origin)?.startDelayMs).toBe(10);

    const told = await survey(`${dir}/told`, '--fleet');
    const warned = told.get(refuses.origin);
    expect(warned?.memory).toBe('hints');
    expect(warned?.sharedOutcome).toMatchObject({ h3Failure: 'udp-refused' });
    expect(warned?.startDelayMs).toBe(0);
    expect(warned?.trials[0]?.attempts.map(({ protocol }) => protocol)).toContain('h3');
    expect(told.get(works.origin)?.sharedOutcome).toBeUndefined();

    const next = await commandLine(dir, 'next', fleet);
    const [known] = (await next.race('--fleet', works.origin, ...reach(works))).races;
    expect(known?.sharedOutcome).toMatchObject({ h3Failure: null });

    const noCertificates = await worker.run(
      'survey',
      'run',
      list,
      '--out',
      `${dir}/bad`,
      '--fleet',
      '--ca',
      list,
    );
    expect(noCertificates).toMatchObject({ code: 2, stderr: expect.stringContaining('bad-file') });
  } finally {
    await organisation.close();
  }
});
