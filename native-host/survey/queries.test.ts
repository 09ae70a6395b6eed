// The queries of docs/survey.md, run over the export of a sample archive.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { writeSampleArchive } from '../testing/survey-archive.ts';
import { exportParquet } from './export.ts';

const scratch = mkdtempSync(join(tmpdir(), 'photofinish-queries-'));
after(() => rmSync(scratch, { recursive: true }));
await exportParquet(writeSampleArchive(scratch), join(scratch, 'parquet'));
const connection = await (await DuckDBInstance.create()).connect();

const page = readFileSync(new URL('../../docs/survey.md', import.meta.url), 'utf8');
const [, questions = ''] = page.split('\n## Ten questions\n');
const [views = '', ...asked] = [...questions.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql = '']) =>
  sql.replaceAll("'parquet/", `'${scratch}/parquet/`),
);
await connection.run(views);

const titles = [...questions.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);

/** Counts are 64 bits wide, and therefore text in JSON. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  'What is reached over HTTP/3 from where?': [
    ['lab-2', '11', '5', '4', '2', 45.5],
    ['no-udp', '11', '0', '9', '2', 0],
    ['office', '11', '6', '3', '2', 54.5],
  ],
  'Which networks block UDP?': [
    ['lab-2', '2', '5', false],
    ['no-udp', '8', '0', true],
    ['office', '1', '6', false],
  ],
  'Which origins advertise HTTP/3 and do not answer?': [
    ['https://broken.test', ['lab-2', 'office'], ['handshake-timeout']],
    ['https://silent.test', ['lab-2', 'office'], ['udp-timeout']],
    ['https://differs.test', ['lab-2'], ['udp-timeout']],
  ],
  'What does HTTP/3 gain, by round trip?': [
    ['10 to 50', '2', '2', '0', '0', 30],
    ['100 and more', '2', '2', '0', '0', 150],
  ],
  'Where does HTTP/3 fail, by prefix and code?': [
    ['192.0.2.0/24', 'udp-timeout', '2'],
    ['2001:db8:7::/48', 'handshake-timeout', '1'],
  ],
  'Do HTTPS records and Alt-Svc agree?': [
    [true, null, '5', '4'],
    [null, null, '2', '0'],
    [false, false, '1', '0'],
    [true, false, '1', '0'],
    [true, true, '1', '1'],
    [null, true, '1', '1'],
  ],
  'Which origins differ between vantage points?': [['https://differs.test', ['office'], ['lab-2']]],
  'Whose certificates are rejected?': [['expired', '1', '0', 'https://expired.test']],
  'Where is HTTP/3 late?': [
    ['lab-2', '8', '1', 10],
    ['no-udp', '9', '0', null],
    ['office', '8', '1', 10],
  ],
  'What is missing?': [
    ['lab-2', '11', '0', null, '1', '0'],
    ['no-udp', '11', '1', ['max-deliveries'], '0', '0'],
    ['office', '11', '1', ['opt-out'], '0', '0'],
  ],
};

test('there are ten questions with one query each', () => {
  assert.deepEqual([titles.length, asked.length], [10, 10]);
  assert.deepEqual(Object.keys(ANSWERS), titles);
});

for (const [i, title] of titles.entries())
  test(`docs/survey.md: ${title}`, async () => {
    const rows = (await connection.runAndReadAll(asked[i] ?? '')).getRowsJson();
    assert.deepEqual(rows, ANSWERS[title]);
  });
