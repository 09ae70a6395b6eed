import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { attempt, trial } from '@photofinish/shared/testing/race-samples';
import { scratchDirectory } from '../testing/scratch.ts';
import { SAMPLE_SURVEY, surveyRace, surveyResult, writeSegment } from '../testing/survey-archive.ts';
import { emptyTally, openArchive, resultsOf } from './archive.ts';

const scratch = scratchDirectory({ after });

const race = surveyRace('a', []);
const results = (vantage: string, ...jobs: number[]) => jobs.map((job) => surveyResult(vantage, job, race));

function archive(survey: unknown = SAMPLE_SURVEY): string {
  const dir = mkdtempSync(join(scratch, 'archive-'));
  writeFileSync(join(dir, 'survey.json'), JSON.stringify(survey));
  return dir;
}

async function read(dir: string) {
  const tally = emptyTally();
  const jobs: string[] = [];
  for await (const { vantage, job, document } of resultsOf(openArchive(dir), tally))
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
  assert.deepEqual(bad, [{ file: name, line: 1, reason: `the zstd frame at byte ${first} is damaged` }]);

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
