// The archive of a survey at the terminal.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import '@photofinish/shared/language/english';
import { recordingTerminal } from '../testing/command.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { writeSampleArchive, writeSegment } from '../testing/survey-archive.ts';
import { runExport, runSurveyReport } from './survey-archive.ts';

const scratch = scratchDirectory({ after });

test('export says what each vantage point measured, and writes below the archive unless told where', async () => {
  const dir = writeSampleArchive(join(scratch, 'whole'));
  const { terminal, results, errors } = recordingTerminal();
  assert.equal(await runExport(dir, {}, terminal), 0);
  assert.deepEqual(errors, []);
  assert.equal(
    results.join('\n'),
    `VANTAGE  MEASURED  MISSING  GIVEN UP  REPEATED
lab-2          11        1         0         0
no-udp         11        1         1         0  UDP is blocked there
office         11        1         1         2

111 rows of the survey sample in 3 files below ${join(dir, 'parquet')}`,
  );
  assert.ok(existsSync(join(dir, 'parquet', 'export.json')));
});

test('export ends with 1 if lines hold no result, and says which', async () => {
  const dir = writeSampleArchive(join(scratch, 'bad'));
  writeSegment(dir, 'results-x-1-1.ndjson.zst', Array<string>(12).fill('rubbish'));
  const { terminal, results, errors } = recordingTerminal();
  assert.equal(await runExport(dir, { out: join(scratch, 'out'), json: true }, terminal), 1);
  assert.equal(JSON.parse(results.join('\n')).schema, 'photofinish.survey-export/1');
  assert.equal(errors.length, 11);
  assert.match(errors[0] ?? '', /^bad-line: results-x-1-1\.ndjson\.zst, line 1: Invalid JSON/);
  assert.equal(errors.at(-1), 'bad-line: 2 more lines hold no result of this survey');
  writeSegment(dir, 'results-x-1-1.ndjson.zst', Array<string>(11).fill('rubbish'));
  await runExport(dir, { out: join(scratch, 'out'), json: true }, terminal);
  assert.equal(errors.at(-1), 'bad-line: 1 more line holds no result of this survey');
});

test('report writes one page, beside the archive unless told where', async () => {
  const dir = writeSampleArchive(join(scratch, 'report'));
  const { terminal, results } = recordingTerminal();
  assert.equal(await runSurveyReport(dir, {}, terminal), 0);
  assert.deepEqual(results, [`The report is in ${join(dir, 'report.html')}`]);
  const page = readFileSync(join(dir, 'report.html'), 'utf8');
  await runSurveyReport(dir, { html: '-' }, terminal);
  assert.equal(results[1], page.trimEnd());
  await assert.rejects(runSurveyReport(dir, { html: dir }, terminal), {
    code: 'cannot-write',
    message: /EISDIR$/,
    exitCode: 1,
  });
});
