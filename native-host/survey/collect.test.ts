// What a collector may write into: its own archive, or a directory that has none.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratchDirectory } from '../testing/scratch.ts';
import { SAMPLE_SURVEY } from '../testing/survey-archive.ts';
import { checkArchive } from './collect.ts';
import { SURVEY_FILE, segmentName, writeSurvey } from './segments.ts';

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
