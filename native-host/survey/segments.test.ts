// The archive's files: what their names tell, and that an interruption leaves no part of one under its name.
import assert from 'node:assert/strict';
import fs, { fstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../testing/scratch.ts';
import { SAMPLE_SURVEY } from '../testing/survey-archive.ts';
import { prepareArchive, SURVEY_FILE, segmentName, segmentsIn, writeSurvey, writeWhole } from './segments.ts';

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
