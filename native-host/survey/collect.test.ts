// What a collector may write into, its own archive or a directory that has none, and how it ends.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../testing/scratch.ts';
import { SAMPLE_SURVEY } from '../testing/survey-archive.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { DEAD_FILE, readSurvey, SURVEY_FILE, segmentName, writeSurvey } from './archive.ts';
import { type CollectionParts, checkArchive, collect } from './collect.ts';
import { namesOf } from './streams.ts';

test('a new directory, or the survey’s own archive, may be written into', (t) => {
  const dir = scratchDirectory(t);
  checkArchive(dir, SAMPLE_SURVEY);
  writeSurvey(dir, SAMPLE_SURVEY);
  writeFileSync(join(dir, segmentName({ vantage: 'a', first: 1, last: 2 })), '');
  // The budget may change while it runs.
  checkArchive(dir, { ...SAMPLE_SURVEY, perNetworkPerSecond: 9 });
});

test('the archive of another survey may not: where to go on would be taken from its segments', (t) => {
  const dir = scratchDirectory(t);
  writeSurvey(dir, SAMPLE_SURVEY);
  const { list } = SAMPLE_SURVEY;
  for (const other of [
    { survey: 'other' },
    { createdAtMs: 1 },
    { list: { ...list, sha256: 'b'.repeat(64) } },
  ])
    assert.throws(
      () => checkArchive(dir, { ...SAMPLE_SURVEY, ...other }),
      /is the archive of another survey/,
    );
  rmSync(join(dir, SURVEY_FILE));
  writeFileSync(join(dir, segmentName({ vantage: 'a', first: 1, last: 2 })), '');
  assert.throws(() => checkArchive(dir, SAMPLE_SURVEY), /is the archive of another survey/);
  writeFileSync(join(dir, SURVEY_FILE), '{}');
  assert.throws(() => checkArchive(dir, SAMPLE_SURVEY), /is not a photofinish\.survey\/1 document/);
});

const ENDS_WITHIN_MS = 60_000;

/** A collector of a server with these vantages; the first has one batch, and no other has anything. */
function arrange(t: TestContext, vantages: readonly string[]) {
  const time = virtualTime();
  const { clock } = time;
  const dir = scratchDirectory(t);
  const names = namesOf('sample');
  const stop = new AbortController();
  const segment = segmentName({ vantage: vantages[0] ?? '', first: 1, last: 1 });
  const waiting = new Map<string, Uint8Array[]>([
    [names.resultSubject(vantages[0] ?? ''), [Buffer.from('a')]],
  ]);
  const world = {
    dir,
    segment,
    beforeBatch: () => {},
    stop,
    firstSeq: 1,
    parts: [] as string[],
    log: [] as string[],
  };
  async function* fetched(subject: string, expires: number) {
    const batches = waiting.get(subject) ?? [];
    if (batches.length === 0) await new Promise<void>((resolve) => void clock.after(expires, resolve));
    if (batches.length > 0) world.beforeBatch();
    for (const data of batches.splice(0)) yield { seq: 1, data };
  }
  const get = async (
    stream: string,
    { filter_subjects: subject = stream }: { filter_subjects?: string },
  ) => ({
    fetch: async ({ expires }: { expires: number }) =>
      Object.assign(fetched(subject, expires), { stop: () => {} }),
  });
  const dead = [{ vantage: 'a', job: 7, reason: 'opt-out' }];
  waiting.set(names.streams.dead, [Buffer.from(JSON.stringify(dead[0]))]);
  async function* list() {
    for (const name of vantages) yield { name, config: { durable_name: name } };
  }
  const server = {
    client: { consumers: { get } },
    manager: {
      consumers: { list },
      streams: {
        purge: async () => {},
        info: async () => ({ state: { messages: dead.length, first_seq: world.firstSeq } }),
      },
    },
    control: { state: () => ({ survey: SAMPLE_SURVEY }) },
  };
  const parts = {
    ...server,
    ...{ names, dir, clock, signal: stop.signal },
    isDone: () => false,
    log: (line: string) => world.log.push(line),
    isPart: () => world.parts.push(dir),
    wrote: () => {},
  } as unknown as CollectionParts;
  const tooLong = new Promise<never>((_, reject) => {
    clock.after(ENDS_WITHIN_MS, () => reject(new Error('the collector goes on')));
  });
  return { ...time, world, dead, run: () => time.run(Promise.race([collect(parts), tooLong])) };
}

test('a disk that fails for one vantage point ends the collector, also while others have nothing', async (t) => {
  const { world, run } = arrange(t, ['a', 'b']);
  world.beforeBatch = () => mkdirSync(join(world.dir, `${world.segment}.part`));
  await assert.rejects(run(), { code: 'EISDIR' });
});

test('a collector that is interrupted writes what it holds, and the jobs that were given up', async (t) => {
  const { clock, world, dead, run } = arrange(t, ['a']);
  clock.after(2500, () => world.stop.abort());
  await run();
  assert.equal(readFileSync(join(world.dir, world.segment), 'utf8'), 'a');
  assert.equal(readFileSync(join(world.dir, DEAD_FILE), 'utf8'), `${JSON.stringify(dead[0])}\n`);
});

test('a new directory that gets only the rest is told so, the survey’s first one is not', async (t) => {
  for (const [firstSeq, told] of [
    [1, 0],
    [8, 1],
  ] as const) {
    const { clock, world, run } = arrange(t, ['a']);
    world.firstSeq = firstSeq;
    clock.after(2500, () => world.stop.abort());
    await run();
    assert.equal(world.parts.length, told);
  }
});

test('the archive names every vantage point, also one whose results are elsewhere', async (t) => {
  const { clock, world, run } = arrange(t, ['a', 'b']);
  clock.after(2500, () => world.stop.abort());
  await run();
  assert.deepEqual(readSurvey(world.dir)?.vantages, ['a', 'b']);
});

test('what an archive names stays while the server is away', async (t) => {
  const { clock, world, run } = arrange(t, []);
  writeSurvey(world.dir, { ...SAMPLE_SURVEY, vantages: ['a'] });
  clock.after(2500, () => world.stop.abort());
  await run();
  assert.deepEqual(readSurvey(world.dir)?.vantages, ['a']);
});

test('a server whose disk is full is not waited for: it has to be restarted', async (t) => {
  const { world, run } = arrange(t, ['a', 'b']);
  world.beforeBatch = () => {
    throw new Error('write /s/1.blk: no space left on device');
  };
  await assert.rejects(run(), { code: 'no-server', message: /make room and restart the server/ });
});

test('an outage of the server is told once, and its end when it is over', async (t) => {
  const { clock, world, run } = arrange(t, ['a']);
  let failures = 3;
  world.beforeBatch = () => {
    if (failures === 0) return;
    failures -= 1;
    throw new Error('timeout');
  };
  clock.after(20_000, () => world.stop.abort());
  await run();
  const what = 'the results of a cannot be read';
  assert.deepEqual(world.log, [`${what}: timeout; trying again until it works`, `${what}: it works again`]);
});
