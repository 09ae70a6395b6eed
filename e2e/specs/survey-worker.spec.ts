// A worker of a survey against a real NATS server: what it publishes, what it acknowledges and when, and what it does
// when its path, its orders or its server change.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { collect } from '../../native-host/survey/collect.ts';
import { WORKER_TIMEOUT_MS } from '../../native-host/survey/control.ts';
import type { Survey } from '../../native-host/survey/schema.ts';
import { statusOf } from '../../native-host/survey/status.ts';
import { createStreams, vantageConsumer } from '../../native-host/survey/streams.ts';
import { canaryEveryMs } from '../../native-host/survey/vantage.ts';
import { startNats } from '../origins/nats.ts';
import { onPath } from '../run/find-browser.mjs';
import {
  CANARY,
  CANARY_EVERY_MS,
  jobOf,
  openTestbed,
  type Testbed,
  VANTAGE,
} from '../survey/worker-testbed.ts';
import { GO_MISSING } from '../test-programs.ts';
import { test as base, expect } from './fixtures.ts';

interface Fixtures {
  /** Opens a survey with these jobs. */
  readonly openSurvey: (jobs: readonly string[], over?: Partial<Survey>) => Promise<Testbed>;
}

const test = base.extend<Fixtures>({
  openSurvey: async ({ dir }, use) => {
    test.skip(onPath('go') === null, GO_MISSING);
    const server = await startNats(join(dir, 'nats'));
    const testbeds: Testbed[] = [];
    await use(async (jobs, over) => {
      const testbed = await openTestbed(server, `survey-${testbeds.length}`, jobs, over);
      testbeds.push(testbed);
      return testbed;
    });
    for (const testbed of testbeds) await testbed.close();
    await server.stop();
  },
});

const THREE = ['a.test', 'b.test', 'c.test'];
const originsOf = (testbed: Testbed): string[] => testbed.world.raced.map(({ origin }) => origin.slice(8));
const jobsIn = async (testbed: Testbed): Promise<number[]> =>
  (await testbed.results()).map(({ job }) => job).toSorted((a, b) => a - b);

/** Jobs of the list that were delivered and not acknowledged. */
async function unacknowledged({ manager, names }: Testbed): Promise<number> {
  return (await manager.consumers.info(names.streams.todo, VANTAGE)).num_ack_pending;
}

async function racesIn(testbed: Testbed): Promise<OriginRace[]> {
  return (await testbed.results()).flatMap(({ document }) => [...document.races]);
}

/** No race ends until the returned function is called. */
function holdRaces({ world }: Testbed): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.gate = promise;
  return resolve;
}

/** Collects what a survey has measured into a directory. */
async function collectOf(
  testbed: Testbed,
  dir: string,
  over: Partial<Parameters<typeof collect>[0]> = {},
): Promise<void> {
  const { client, manager, names, control, world } = testbed;
  await control.follow();
  await collect({
    ...{ client, manager, control, names, dir, clock: world.clock, isDone: () => true },
    ...{ signal: new AbortController().signal, log() {}, isPart() {}, wrote() {} },
    ...over,
  });
}

/** After the next round of canaries, when the canaries have answered. */
async function nextCanaries({ world }: Testbed): Promise<void> {
  const before = world.canaries;
  world.clock.skip(CANARY_EVERY_MS);
  await expect.poll(() => world.canaries).toBeGreaterThan(before);
}

/** After the next round of canaries, which fails. */
async function failCanaries(testbed: Testbed): Promise<void> {
  testbed.world.canaryReached = false;
  await nextCanaries(testbed);
  await expect.poll(() => testbed.world.logged.join()).toContain('the canaries fail');
}

test('each job has one result, stored before it is acknowledged', async ({ openSurvey }) => {
  const testbed = await openSurvey(THREE.map(jobOf));
  const { manager, names, world } = testbed;
  await manager.streams.delete(names.streams.result);
  const worker = await testbed.startWorker();
  await expect.poll(() => world.logged.join()).toContain('results could not be stored');
  expect(await unacknowledged(testbed)).toBe(3);
  await createStreams(manager, names, 1);
  expect(await worker.done).toBe(3);
  expect(await jobsIn(testbed)).toEqual([1, 2, 3]);
  expect(await unacknowledged(testbed)).toBe(0);
  expect(originsOf(testbed).toSorted()).toEqual(THREE);
});

test('a worker that has just begun publishes within seconds', async ({ openSurvey }) => {
  const testbed = await openSurvey(THREE.map(jobOf), { canaries: [CANARY] });
  await testbed.startWorker({ drains: false, canaryEveryMs });
  await expect.poll(() => testbed.world.raced.length).toBe(3);
  testbed.world.clock.skip(3000);
  await expect.poll(() => jobsIn(testbed)).toEqual([1, 2, 3]);
});

test('what was measured since the last good canary is measured again when one fails', async ({
  openSurvey,
}) => {
  const testbed = await openSurvey(THREE.map(jobOf), { canaries: [CANARY] });
  const { world } = testbed;
  await testbed.startWorker({ drains: false });
  await expect.poll(() => world.raced.length).toBe(3);
  await failCanaries(testbed);
  await nextCanaries(testbed);
  expect(await testbed.results()).toEqual([]);
  expect(await unacknowledged(testbed)).toBe(3);
  expect(world.raced.length).toBe(3);
  world.canaryReached = true;
  await nextCanaries(testbed);
  await expect.poll(() => world.raced.length).toBe(6);
  expect(await testbed.results()).toEqual([]);
  await nextCanaries(testbed);
  await expect.poll(() => jobsIn(testbed)).toEqual([1, 2, 3]);
  await expect.poll(() => unacknowledged(testbed)).toBe(0);
  const races = await racesIn(testbed);
  expect(races.map(({ atMs }) => atMs).toSorted()).toEqual([4, 5, 6]);
});

test('a worker shares only what a good canary vouches for, and its races know what others share only then', async ({
  openSurvey,
}) => {
  const testbed = await openSurvey([jobOf('a.test')], { canaries: [CANARY] });
  const { world } = testbed;
  const shared: number[] = [];
  await testbed.startWorker({ drains: false, share: ({ atMs }) => shared.push(atMs) });
  await expect.poll(() => world.raced.length).toBe(1);
  await failCanaries(testbed);
  world.canaryReached = true;
  await nextCanaries(testbed);
  await expect.poll(() => world.raced.length).toBe(2);
  expect(shared).toEqual([]);
  await nextCanaries(testbed);
  await expect.poll(() => shared).toEqual([2]);
  expect(world.raced.map(({ memory }) => memory)).toEqual(['hints', 'hints']);
  const cold = await openSurvey([jobOf('a.test')]);
  await (await cold.startWorker()).done;
  expect(cold.world.raced.map(({ memory }) => memory)).toEqual(['none']);
});

test('a race under way when the canaries fail is raced again, though they recover before it ends', async ({
  openSurvey,
}) => {
  const testbed = await openSurvey([jobOf('a.test')], { canaries: [CANARY] });
  const { world } = testbed;
  const letRacesEnd = holdRaces(testbed);
  await testbed.startWorker({ drains: false });
  await expect.poll(() => world.raced.length).toBe(1);
  await failCanaries(testbed);
  world.canaryReached = true;
  await nextCanaries(testbed);
  await expect.poll(() => world.logged.join()).toContain('succeed again');
  letRacesEnd();
  await expect.poll(() => world.raced.length).toBe(2);
  await nextCanaries(testbed);
  await expect.poll(() => jobsIn(testbed)).toEqual([1]);
  const races = await racesIn(testbed);
  expect(races.map(({ atMs }) => atMs)).toEqual([2]);
});

test('no canary is raced that opted out', async ({ openSurvey }) => {
  const testbed = await openSurvey([jobOf('a.test')], { canaries: [CANARY] });
  const { control, world } = testbed;
  const worker = await testbed.startWorker({ drains: false });
  await expect.poll(() => jobsIn(testbed)).toEqual([]);
  await expect.poll(() => world.canaries).toBeGreaterThan(0);
  await control.follow();
  await control.addOptOut([new URL(CANARY).hostname]);
  await expect.poll(() => worker.control.state().optOut.entries.length).toBe(1);
  const before = world.canaries;
  world.clock.skip(CANARY_EVERY_MS);
  await expect.poll(() => world.logged.join()).toContain('every canary of the survey has opted out');
  expect(world.logged.join()).not.toContain('the canaries fail');
  expect(world.canaries).toBe(before);
  await expect
    .poll(() => [...control.state().workers.values()].map((each) => each.canariesOptedOut))
    .toEqual([true]);
  const draining = await testbed.startWorker({ worker: 'other' });
  await expect(draining.done).rejects.toMatchObject({ code: 'bad-survey' });
});

test('what was measured on another network is measured again', async ({ openSurvey }) => {
  const testbed = await openSurvey(THREE.map(jobOf), { canaries: [CANARY] });
  const { world } = testbed;
  await testbed.startWorker({ drains: false });
  await expect.poll(() => world.raced.length).toBe(3);
  world.moveTo('cafe');
  await expect.poll(() => world.raced.length).toBe(6);
  await nextCanaries(testbed);
  await expect.poll(() => jobsIn(testbed)).toEqual([1, 2, 3]);
  const races = await racesIn(testbed);
  expect(races.map(({ network }) => network)).toEqual(['cafe', 'cafe', 'cafe']);
});

test('a race under way while the network changes is no result', async ({ openSurvey }) => {
  const testbed = await openSurvey([jobOf('a.test')]);
  const { world } = testbed;
  const letRacesEnd = holdRaces(testbed);
  const worker = await testbed.startWorker();
  await expect.poll(() => world.raced.length).toBe(1);
  world.moveTo('cafe');
  letRacesEnd();
  expect(await worker.done).toBe(1);
  expect((await racesIn(testbed)).map(({ atMs }) => atMs)).toEqual([2]);
});

test('a pause ends the race under way and begins no further one, and both go on after it', async ({
  openSurvey,
}) => {
  const testbed = await openSurvey(['a.test', 'b.test'].map(jobOf));
  const { control, world } = testbed;
  const letRacesEnd = holdRaces(testbed);
  const worker = await testbed.startWorker({ atOnce: 1 });
  await expect.poll(() => world.raced.length).toBe(1);
  await expect.poll(() => unacknowledged(testbed)).toBe(2);
  await control.setPaused(true);
  await expect.poll(() => worker.control.state().paused).toBe(true);
  letRacesEnd();
  await control.setPaused(false);
  expect(await worker.done).toBe(2);
  expect(originsOf(testbed)).toEqual(['a.test', 'b.test', 'a.test']);
  expect(await jobsIn(testbed)).toEqual([1, 2]);
});

test('one budget is changed without the other, and two operators do not undo each other', async ({
  openSurvey,
}) => {
  const { control } = await openSurvey([], { perNetworkPerSecond: 3, totalPerSecond: 4 });
  await control.follow();
  await control.changeBudget({ totalPerSecond: 5 });
  await expect.poll(() => control.state().budget).toEqual({ perNetworkPerSecond: 3, totalPerSecond: 5 });
  await Promise.all([
    control.changeBudget({ perNetworkPerSecond: 0.5 }),
    control.changeBudget({ totalPerSecond: 6 }),
  ]);
  await expect.poll(() => control.state().budget).toEqual({ perNetworkPerSecond: 0.5, totalPerSecond: 6 });
});

test('who opts out while a survey runs, by name or by address, is not raced any more', async ({
  openSurvey,
}) => {
  const testbed = await openSurvey([...THREE, 'd.test'].map(jobOf));
  const { control, world } = testbed;
  world.addresses['c.test'] = '198.51.100.9';
  const letRacesEnd = holdRaces(testbed);
  const worker = await testbed.startWorker({ atOnce: 1 });
  await expect.poll(() => world.raced.length).toBe(1);
  await control.addOptOut(['b.test', '198.51.100.0/24']);
  await expect.poll(() => worker.control.state().optOut.entries.length).toBe(2);
  letRacesEnd();
  expect(await worker.done).toBe(2);
  expect(originsOf(testbed)).toEqual(['a.test', 'd.test']);
  expect(await testbed.dead()).toEqual([
    { vantage: VANTAGE, job: 2, origin: 'https://b.test', reason: 'opt-out' },
    { vantage: VANTAGE, job: 3, origin: 'https://c.test', reason: 'opt-out' },
  ]);
});

test('who opts out during a race is not measured', async ({ openSurvey }) => {
  const testbed = await openSurvey(['a.test', 'b.test'].map(jobOf));
  const { control, world } = testbed;
  world.addresses['b.test'] = '198.51.100.9';
  const letRacesEnd = holdRaces(testbed);
  const worker = await testbed.startWorker();
  await expect.poll(() => world.raced.length).toBe(2);
  await control.addOptOut(['a.test']);
  await expect.poll(() => worker.control.state().optOut.entries.length).toBe(1);
  letRacesEnd();
  expect(await worker.done).toBe(1);
  expect(await jobsIn(testbed)).toEqual([2]);
  expect(await testbed.dead()).toEqual([
    { vantage: VANTAGE, job: 1, origin: 'https://a.test', reason: 'opt-out' },
  ]);
});

test('a list of those who opt out may be much longer than a message, and is never in force in part', async ({
  openSurvey,
}) => {
  const many = Array.from({ length: 100_000 }, (_, index) => `number-${index}.of-a-long-list.example.org`);
  const testbed = await openSurvey([...THREE, 'd.test'].map(jobOf));
  const { control, manager, names, world } = testbed;
  world.addresses['c.test'] = '198.51.100.9';
  const letRacesEnd = holdRaces(testbed);
  const worker = await testbed.startWorker({ atOnce: 1 });
  await expect.poll(() => world.raced.length).toBe(1);
  const lengths = new Set<number>();
  await worker.control.follow(() => lengths.add(worker.control.state().optOut.entries.length));
  await control.addOptOut(many);
  await expect.poll(() => worker.control.state().optOut.entries.length).toBe(100_000);
  await control.addOptOut(['b.test', '198.51.100.0/24']);
  await expect.poll(() => worker.control.state().optOut.entries.length).toBe(100_002);
  expect([...lengths].filter((length) => length > 0)).toEqual([100_000, 100_002]);
  letRacesEnd();
  expect(await worker.done).toBe(2);
  expect(originsOf(testbed)).toEqual(['a.test', 'd.test']);
  // Nothing of the first list is left, and who comes later has the second before the first race.
  const stored = await manager.streams.info(`KV_${names.bucket}`, { subjects_filter: '>' });
  const generations = Object.keys(stored.state.subjects ?? {}).flatMap(
    (subject) => /\.opt-out\.([^.]+)\./.exec(subject)?.[1] ?? [],
  );
  expect(new Set(generations).size).toBe(1);
  const later = await testbed.startWorker();
  await later.done;
  expect(later.control.state().optOut.entries).toEqual([...many, 'b.test', '198.51.100.0/24']);
});

test('without a part of the list of those who opted out nobody begins', async ({ openSurvey }) => {
  const testbed = await openSurvey([jobOf('a.test')]);
  const { control, manager, names, world } = testbed;
  await control.addOptOut(['b.test']);
  await manager.streams.purge(`KV_${names.bucket}`, { filter: `$KV.${names.bucket}.opt-out.*.0` });
  const worker = await testbed.startWorker();
  await expect(worker.done).rejects.toThrow('the opt-out list on the server is incomplete');
  expect(world.raced).toEqual([]);
});

test('a name has one worker, until that one is dead', async ({ openSurvey }) => {
  const testbed = await openSurvey([]);
  const first = await testbed.startWorker({ drains: false });
  await expect.poll(() => first.control.state().workers.size).toBe(1);
  const second = await testbed.startWorker();
  await expect(second.done).rejects.toThrow(
    'a worker only at office is running; name this one with --worker',
  );
  const other = await testbed.startWorker({ worker: 'other' });
  expect(await other.done).toBe(0);
  await first.cutOff();
  const third = await testbed.startWorker();
  expect(await third.done).toBe(0);
  await expect.poll(() => third.control.state().workers.size).toBe(0);
});

test('a worker whose announcements fail says so', async ({ openSurvey }) => {
  const { manager, names, world, startWorker } = await openSurvey([]);
  const { control } = await startWorker({ drains: false });
  await expect.poll(() => control.state().workers.size).toBe(1);
  await manager.streams.delete(`KV_${names.bucket}`);
  await expect.poll(() => world.logged.join()).toContain('the worker could not be announced');
});

test('the status of a survey can be read while a vantage point is being prepared', async ({ openSurvey }) => {
  const { control, manager, names, world, startWorker } = await openSurvey([]);
  await manager.streams.delete(names.streams.later);
  await startWorker({ drains: false });
  await expect.poll(() => world.logged.join()).toContain('jobs cannot be asked for');
  expect((await statusOf(manager, control, names)).vantages).toEqual([]);
});

test('how long a worker has been silent is measured by the server, not by its clock', async ({
  openSurvey,
}) => {
  const testbed = await openSurvey([jobOf('a.test')]);
  const { control, manager, names, world } = testbed;
  holdRaces(testbed);
  const slow = { ...world.clock, epochMs: () => world.clock.epochMs() - 3_600_000 };
  await testbed.startWorker({ clock: slow });
  await expect.poll(() => world.raced.length).toBe(1);
  await control.follow();
  const { workers } = await statusOf(manager, control, names);
  expect(workers.map(({ silentMs }) => silentMs < WORKER_TIMEOUT_MS)).toEqual([true]);
});

test('jobs of a network that does not answer are given up in the end', async ({ openSurvey }) => {
  const hosts = Array.from({ length: 20 }, (_, index) => `h${index}.test`);
  const testbed = await openSurvey(hosts.map(jobOf));
  const { world } = testbed;
  world.hostsReached = false;
  const worker = await testbed.startWorker();
  let over = false;
  const done = worker.done.finally(() => {
    over = true;
  });
  await expect
    .poll(() => {
      world.clock.skip(60_000);
      return over;
    })
    .toBe(true);
  const measured = await done;
  expect(measured).toBeGreaterThanOrEqual(10);
  expect(measured).toBeLessThan(hosts.length);
  const dead = await testbed.dead();
  expect(dead).toHaveLength(hosts.length - measured);
  for (const each of dead) expect(each).toMatchObject({ vantage: VANTAGE, reason: 'no-answer' });
});

test('a message that is no job is given up, and the others go on', async ({ openSurvey }) => {
  const bad = [
    '{',
    '{"origin":7}',
    '{"origin":"http://a.test","mode":"race"}',
    '{"origin":"https://a.test","mode":"v3"}',
  ];
  const testbed = await openSurvey([...bad, jobOf('a.test')]);
  const worker = await testbed.startWorker();
  expect(await worker.done).toBe(1);
  expect(await jobsIn(testbed)).toEqual([5]);
  const dead = (await testbed.dead()) as { readonly job: number; readonly reason: string }[];
  expect(dead.map(({ job }) => job).toSorted()).toEqual([1, 2, 3, 4]);
  for (const { reason } of dead) expect(reason).toBe('bad-job');
});

test('races to one network begin no faster than its budget', async ({ openSurvey }) => {
  const testbed = await openSurvey(THREE.map(jobOf), { perNetworkPerSecond: 1 });
  const { world } = testbed;
  for (const [index, host] of THREE.entries()) world.addresses[host] = `192.0.2.${index}`;
  const worker = await testbed.startWorker();
  expect(await worker.done).toBe(3);
  for (const [index, { allowedMs }] of world.raced.entries())
    if (index > 0) expect(allowedMs - (world.raced[index - 1]?.askedMs ?? 0)).toBeGreaterThanOrEqual(1000);
});

test('a collector writes at once what waited for it', async ({ openSurvey, dir }) => {
  const testbed = await openSurvey(THREE.map(jobOf));
  const worker = await testbed.startWorker();
  expect(await worker.done).toBe(3);
  const ends = new AbortController();
  const wrote: string[] = [];
  const collecting = collectOf(testbed, join(dir, 'archive'), {
    isDone: () => false,
    signal: ends.signal,
    wrote: (segment) => wrote.push(segment),
  });
  await expect.poll(() => wrote).toHaveLength(1);
  ends.abort();
  await collecting;
});

test('a job that ended ten workers is given up, and the archive says so', async ({ openSurvey, dir }) => {
  const testbed = await openSurvey([jobOf('deadly.test')], {
    list: { jobs: 2, badLines: 0, sha256: '0'.repeat(64) },
  });
  const { client, manager, names } = testbed;
  await vantageConsumer(manager, names, 'todo', VANTAGE);
  const consumer = await client.consumers.get(names.streams.todo, VANTAGE);
  for (let deliveries = 0; deliveries < 10; deliveries += 1) {
    const message = await consumer.next();
    expect(message?.seq).toBe(1);
    message?.nak();
  }
  await client.publish(names.todoSubject(0), jobOf('a.test'));
  const worker = await testbed.startWorker();
  expect(await worker.done).toBe(1);
  expect(originsOf(testbed)).toEqual(['a.test']);
  const archive = join(dir, 'archive');
  await collectOf(testbed, archive);
  const [line = '', ...more] = (await readFile(join(archive, 'dead.ndjson'), 'utf8')).split('\n');
  expect(JSON.parse(line)).toEqual({ vantage: VANTAGE, job: 1, reason: 'max-deliveries' });
  expect(more).toEqual(['']);
});
