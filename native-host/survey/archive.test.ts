// The archive's files: what their names tell, that an interruption leaves no part of one under its name, and what
// readers make of damaged ones.
import assert from 'node:assert/strict';
import fs, {
  appendFileSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { attempt, trial } from '@photofinish/shared/testing/race-samples';
import { scratchDirectory } from '../testing/scratch.ts';
import { SAMPLE_SURVEY, surveyRace, surveyResult, writeSegment } from '../testing/survey-archive.ts';
import {
  emptyTally,
  openArchive,
  prepareArchive,
  resultsOf,
  SURVEY_FILE,
  segmentName,
  segmentsIn,
  writeSurvey,
  writeWhole,
} from './archive.ts';

function directory(t: TestContext, ...files: readonly string[]): string {
  const dir = scratchDirectory(t);
  for (const name of files) writeFileSync(join(dir, name), name);
  return dir;
}

test('names tell vantage and sequences, whatever hyphens and digits a vantage has', (t) => {
  const segments = [
    { vantage: 'a', first: 1, last: 9 },
    { vantage: 'a-1', first: 1, last: 9 },
    { vantage: 'a-1-2', first: 3, last: 4 },
    { vantage: '7', first: 10, last: 999_999_999_999_999 },
  ];
  const dir = directory(t, ...segments.map(segmentName));
  const read = segmentsIn(dir).map(({ name, ...segment }) => {
    assert.equal(segmentName(segment), name);
    return segment;
  });
  assert.deepEqual(
    new Set(read.map((each) => JSON.stringify(each))),
    new Set(segments.map((each) => JSON.stringify(each))),
  );
});

test('segments are in the order of vantages and of sequences as numbers', (t) => {
  const names = ['a-9-9', 'a-10-11', 'a-100-100', 'b-2-3'].map((middle) => `results-${middle}.ndjson.zst`);
  const dir = directory(t, ...names.toReversed());
  assert.deepEqual(
    segmentsIn(dir).map(({ name }) => name),
    names,
  );
});

test('other files are no segments', (t) => {
  const others = [
    'results-a-1.ndjson.zst',
    'results--1-2.ndjson.zst',
    'results-a_b-1-2.ndjson.zst',
    'survey.json',
  ];
  const dir = directory(t, ...others, 'results-a-1-2.ndjson.zst.part', 'xresults-a-1-2.ndjson.zst');
  assert.deepEqual(segmentsIn(dir), []);
});

test('an archive is made, and what was not finished is removed', (t) => {
  const dir = directory(t);
  const archive = join(dir, 'new/archive');
  prepareArchive(archive);
  const whole = ['dead.ndjson', 'results-a-1-2.ndjson.zst', 'survey.json'];
  for (const name of whole) for (const end of ['', '.part']) writeFileSync(join(archive, name + end), name);
  prepareArchive(archive);
  assert.deepEqual(readdirSync(archive).toSorted(), whole);
});

test("what is not the archive's stays: the directory may be used for other things", (t) => {
  const dir = directory(t, 'download.iso.part');
  mkdirSync(join(dir, 'films.part'));
  prepareArchive(dir);
  assert.deepEqual(readdirSync(dir).toSorted(), ['download.iso.part', 'films.part']);
});

test('a file has all its pieces, and nothing is left beside it', (t) => {
  const dir = directory(t);
  writeWhole(dir, 'x', [Buffer.from('ab'), Buffer.from(''), Buffer.from('c')]);
  assert.equal(readFileSync(join(dir, 'x'), 'utf8'), 'abc');
  writeSurvey(dir, SAMPLE_SURVEY);
  assert.deepEqual(JSON.parse(readFileSync(join(dir, SURVEY_FILE), 'utf8')), SAMPLE_SURVEY);
  assert.deepEqual(readdirSync(dir).toSorted(), [SURVEY_FILE, 'x']);
});

test('a file is written where directories cannot be synced, as on Windows', (t) => {
  const dir = directory(t);
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  const sync = fs.fsyncSync;
  t.mock.method(fs, 'fsyncSync', (handle: number) => {
    if (fstatSync(handle).isDirectory()) throw new Error('EPERM: operation not permitted, fsync');
    sync(handle);
  });
  syncBuiltinESMExports();
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' });
  t.after(() => {
    Object.defineProperty(process, 'platform', platform);
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  writeWhole(dir, 'x', [Buffer.from('abc')]);
  assert.equal(readFileSync(join(dir, 'x'), 'utf8'), 'abc');
});

/** Its second piece cannot be had. */
function* interrupted(): Generator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('interrupted');
}

test('a write that fails leaves nothing under the name, or what was there before', (t) => {
  const dir = directory(t, 'old');
  for (const name of ['new', 'old']) assert.throws(() => writeWhole(dir, name, interrupted()), /interrupted/);
  assert.equal(readFileSync(join(dir, 'old'), 'utf8'), 'old');
  assert.ok(!readdirSync(dir).includes('new'));
});

const scratch = scratchDirectory({ after });

const race = surveyRace('a', []);
const results = (vantage: string, ...jobs: number[]) => jobs.map((job) => surveyResult(vantage, job, race));

function archive(survey: unknown = SAMPLE_SURVEY): string {
  const dir = mkdtempSync(join(scratch, 'archive-'));
  writeFileSync(join(dir, 'survey.json'), JSON.stringify(survey));
  return dir;
}

async function read(dir: string) {
  const archive = openArchive(dir);
  const tally = emptyTally(archive);
  const jobs: string[] = [];
  for await (const { vantage, job, document } of resultsOf(archive, tally))
    jobs.push(`${vantage} ${job} ${document.races[0]?.trials.length}`);
  return {
    jobs,
    bad: tally.badLines,
    counts: [...tally.vantages].map(([v, t]) => [v, t.measured, t.repeated]),
  };
}

test('every frame of every segment is read, in the order of numbers, and of a job the first result counts', async () => {
  const dir = archive();
  const second = surveyResult(
    'a-b',
    4,
    surveyRace('a', [trial([attempt({ protocol: 'h3', outcome: 'adopted' })])]),
  );
  writeSegment(dir, 'results-a-b-10-11.ndjson.zst', [second, ...results('a-b', 5)]);
  writeSegment(
    dir,
    'results-a-b-9-9.ndjson.zst',
    results('a-b', 1, 2),
    results('a-b', 3, 2),
    results('a-b', 4),
  );
  writeSegment(dir, 'results-a-1-1.ndjson.zst', results('a', 1));
  writeFileSync(join(dir, 'results-a-2-2.ndjson.zst.part'), 'not yet');
  assert.deepEqual(await read(dir), {
    jobs: ['a 1 0', 'a-b 1 0', 'a-b 2 0', 'a-b 3 0', 'a-b 4 0', 'a-b 5 0'],
    bad: [],
    counts: [
      ['a', 1, 0],
      ['a-b', 5, 2],
    ],
  });
});

test('lines that are no result are counted and named, and the others are read', async () => {
  const dir = archive();
  const [ok] = results('a', 1);
  const lines = [
    'not json',
    { ...ok, job: 0 },
    { ...ok, survey: 'other' },
    { ...ok, vantage: 'b' },
    { ...ok, job: 13 },
    { ...ok, document: { ...ok?.document, races: [] } },
    ok,
  ];
  writeSegment(dir, 'results-a-1-1.ndjson.zst', lines);
  const { jobs, bad } = await read(dir);
  assert.deepEqual(jobs, ['a 1 0']);
  assert.deepEqual(
    bad.map(({ line }) => line),
    [1, 2, 3, 4, 5, 6],
  );
  assert.deepEqual(
    bad.slice(2).map(({ reason }) => reason),
    [
      'it belongs to the survey other',
      'it belongs to the vantage point b',
      'job 13 is not among the 12 of the list',
      'it has 0 races instead of one',
    ],
  );
});

test('a frame of a few bytes that would fill the memory is not unpacked', async () => {
  const dir = archive();
  const name = 'results-a-1-1.ndjson.zst';
  writeSegment(dir, name, ['a'.repeat(129 * 1024 * 1024)], results('a', 1));
  const { jobs, bad } = await read(dir);
  assert.deepEqual(jobs, ['a 1 0']);
  assert.deepEqual(bad, [{ file: name, line: null, reason: 'the zstd frame at byte 0 is damaged' }]);
});

test('a damaged frame is named; what surrounds it is read', async () => {
  const dir = archive();
  const name = 'results-a-1-1.ndjson.zst';
  const path = join(dir, name);
  writeSegment(dir, name, results('a', 1));
  const first = readFileSync(path).length;
  writeSegment(dir, name, results('a', 1), results('a', 2), results('a', 3));
  const bytes = readFileSync(path);
  // The last byte of the second frame's content.
  bytes[2 * first - 5] = (bytes[2 * first - 5] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
  const { jobs, bad } = await read(dir);
  assert.deepEqual(jobs, ['a 1 0', 'a 3 0']);
  assert.deepEqual(bad, [{ file: name, line: null, reason: `the zstd frame at byte ${first} is damaged` }]);

  truncateSync(path, bytes.length - 1);
  assert.deepEqual((await read(dir)).jobs, ['a 1 0']);
  writeSegment(dir, name, results('a', 1));
  appendFileSync(path, 'rubbish');
  const after = await read(dir);
  assert.deepEqual([after.jobs.length, after.bad.length], [1, 1]);
});

test('a directory that is no archive is named with its fault', () => {
  assert.throws(() => openArchive(join(scratch, 'none')), {
    code: 'bad-directory',
    message: /none is not the archive of a survey: cannot read survey\.json \(ENOENT\)$/,
  });
  assert.throws(() => openArchive(archive({ ...SAMPLE_SURVEY, seed: 7 })), {
    code: 'bad-file',
    message: /survey\.json is not a photofinish\.survey\/1 document: seed: /,
  });
});
