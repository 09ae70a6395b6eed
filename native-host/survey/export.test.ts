// The export of a sample archive, and the queries of docs/survey.md over it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { after, test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { UDP_ANSWERED_CODES } from '@photofinish/shared/race/terms';
import { scratchDirectory } from '../testing/scratch.ts';
import {
  oneSilentHost,
  SAMPLE_SURVEY,
  surveyAddress,
  writeSampleArchive,
  writeSegment,
} from '../testing/survey-archive.ts';
import { duckDbCommand, exportParquet } from './export.ts';

const scratch = scratchDirectory({ after });
const dir = writeSampleArchive(join(scratch, 'archive'));
const out = join(scratch, 'parquet');
const made = await exportParquet(dir, out);

async function ask(sql: string): Promise<unknown[][]> {
  const connection = await (await DuckDBInstance.create()).connect();
  const files = `read_parquet('${out}/*/*/*.parquet')`;
  const rows = (await connection.runAndReadAll(sql.replaceAll('races', files))).getRowsJS();
  return rows.map((row) => row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)));
}

test('each trial has one row, by vantage point and day, and an origin without trials one row', async () => {
  assert.deepEqual(
    made.files.map(({ path, rows }) => [path, rows]),
    [
      ['dead.parquet', 2],
      ['vantage=lab-2/day=2026-01-03/races-0.parquet', 50],
      ['vantage=no-udp/day=2026-01-02/races-0.parquet', 11],
      ['vantage=office/day=2026-01-02/races-0.parquet', 50],
    ],
  );
  const per =
    "SELECT job, count(*), min(trial), max(trial) FROM races WHERE vantage = 'office' GROUP BY job ORDER BY job";
  const rows = await ask(per);
  assert.deepEqual(rows.slice(0, 4), [
    [1, 20, 1, 20],
    [2, 20, 1, 20],
    [3, 2, 1, 2],
    [4, 1, 1, 1],
  ]);
  assert.deepEqual(rows[7], [8, 1, null, null]);
});

test('a row says what was measured', async () => {
  const [row] = await ask(
    `SELECT survey, vantage, origin, host, port, mode, CAST("at" AS VARCHAR), adopted, established_ms, first_byte_ms, late_h3,
      h3_attempted, h3_outcome, h3_established_ms, h3_rtt_ms, h3_address, h2_established_ms, verdict, alt_svc, alt_svc_h3,
      https_record_h3, address_prefix, error, program FROM races WHERE job = 9 AND vantage = 'office'`,
  );
  assert.deepEqual(row, [
    ...['sample', 'office', 'https://late.test', 'late.test', 443, 'race', '2026-01-02 03:04:05'],
    ...['h2', 40, 80, true, true, 'established-late', 50, 25, surveyAddress('late'), 40, 'h3-available'],
    ...['h3=":443"; ma=86400', true, null, '192.0.2.0/24', null, 'photofinish/1.0.0'],
  ]);
  const [expired] = await ask(
    `SELECT adopted, h3_error, h3_certificate, h2_error, alt_svc_h3 FROM races WHERE job = 7 AND vantage = 'office'`,
  );
  assert.deepEqual(expired, [null, 'certificate-invalid', 'expired', 'certificate-invalid', null]);
  const [gone] = await ask(
    `SELECT trial, error, h3_attempted FROM races WHERE job = 8 AND vantage = 'office'`,
  );
  assert.deepEqual(gone, [null, 'dns-failed', null]);
  const gains = await ask(
    `SELECT DISTINCT job, pairs, gain_ms, rtt_ms FROM races WHERE mode = 'compare' AND vantage = 'office' ORDER BY job`,
  );
  assert.deepEqual(gains, [
    [1, 10, 30, 20],
    [2, 10, 150, 150],
  ]);
  const prefixes = await ask(`SELECT DISTINCT address_prefix FROM races WHERE job = 11`);
  assert.ok(prefixes.flat().includes('2001:db8:7::/48'));
});

test('export.json says what is missing, repeated and blocked, and gives the files with their digests', () => {
  assert.deepEqual(JSON.parse(readFileSync(join(out, 'export.json'), 'utf8')), made);
  assert.deepEqual(made.survey, SAMPLE_SURVEY);
  assert.deepEqual(
    made.vantages.map(({ network, ...rest }) => ({ ...rest, ...network })),
    [
      {
        vantage: 'lab-2',
        measured: 11,
        missing: 1,
        givenUp: 0,
        repeated: 0,
        blocksUdp: false,
        failedHosts: 2,
        reachedHosts: 5,
        answeredHosts: 2,
      },
      {
        vantage: 'no-udp',
        measured: 11,
        missing: 1,
        givenUp: 1,
        repeated: 0,
        blocksUdp: true,
        failedHosts: 8,
        reachedHosts: 0,
        answeredHosts: 0,
      },
      {
        vantage: 'office',
        measured: 11,
        missing: 1,
        givenUp: 1,
        repeated: 2,
        blocksUdp: false,
        failedHosts: 1,
        reachedHosts: 6,
        answeredHosts: 2,
      },
    ],
  );
  assert.deepEqual(made.badLines, { count: 0, named: [] });
  for (const { path, sha256 } of made.files)
    assert.equal(
      createHash('sha256')
        .update(readFileSync(join(out, path)))
        .digest('hex'),
      sha256,
    );
});

test('a job is measured once or named once with its reason, and otherwise not known', async () => {
  const dead = `read_parquet('${out}/dead.parquet')`;
  assert.deepEqual(await ask(`SELECT * FROM ${dead} ORDER BY vantage`), [
    ['sample', 'no-udp', 12, null, 'max-deliveries'],
    ['sample', 'office', 12, 'https://away.test', 'opt-out'],
  ]);
  const both = `SELECT vantage, job FROM races INTERSECT SELECT vantage, job FROM ${dead}`;
  assert.deepEqual(await ask(both), []);
});

test('the same archive gives the same files, and a new export replaces an earlier one', async () => {
  const again = join(scratch, 'again');
  assert.deepEqual(await exportParquet(dir, again), made);
  const stale = join(again, 'vantage=lost', 'day=2026-01-02', 'races-0.parquet');
  mkdirSync(dirname(stale), { recursive: true });
  writeFileSync(stale, '');
  const path = relative(again, stale);
  const earlier = { ...made, files: [...made.files, { path, rows: 0, sha256: '' }] };
  writeFileSync(join(again, 'export.json'), JSON.stringify(earlier));
  assert.deepEqual(await exportParquet(dir, `${again}/`), made);
  assert.ok(!readdirSync(again).includes('vantage=lost'));
  assert.deepEqual(readdirSync(scratch).toSorted(), ['again', 'archive', 'parquet']);
});

test('what no export wrote is not removed with an earlier one, nor a directory beside it', async () => {
  const mixed = join(scratch, 'mixed');
  await exportParquet(dir, mixed);
  const mine = [join(mixed, 'notes.txt'), join(mixed, 'vantage=office', 'mine.parquet')];
  for (const file of mine) {
    writeFileSync(file, 'kept');
    const name = relative(mixed, file).replace(/\W/g, (character) => `\\${character}`);
    await assert.rejects(exportParquet(dir, mixed), {
      code: 'bad-directory',
      message: new RegExp(`contains ${name}, which no export wrote`),
    });
    assert.equal(readFileSync(file, 'utf8'), 'kept');
    rmSync(file);
  }
  const beside = `${mixed}.part`;
  mkdirSync(beside);
  writeFileSync(join(beside, 'film'), 'kept');
  await exportParquet(dir, mixed);
  assert.deepEqual(readdirSync(beside), ['film']);
  for (const [i, catalog] of ['{}', 'none', '{"schema":"other/1","files":[]}'].entries()) {
    const other = join(scratch, `catalog-${i}`);
    mkdirSync(other);
    writeFileSync(join(other, 'export.json'), catalog);
    await assert.rejects(exportParquet(dir, other), {
      code: 'bad-directory',
      message: /not an earlier export/,
    });
    assert.equal(readFileSync(join(other, 'export.json'), 'utf8'), catalog);
  }
});

test('without a file of jobs given up there are none, and lines of it that are none are named', async () => {
  const without = writeSampleArchive(join(scratch, 'without'));
  const path = join(without, 'dead.ndjson');
  rmSync(path);
  const before = await exportParquet(without, join(scratch, 'without-out'));
  assert.deepEqual(
    before.vantages.map(({ givenUp }) => givenUp),
    [0, 0, 0],
  );
  assert.deepEqual([before.files[0]?.path, before.files[0]?.rows], ['dead.parquet', 0]);
  const lines = [
    { vantage: 'new', job: 4, reason: 'no-answer' },
    { vantage: 'office', job: 13, reason: 'no-answer' },
    { vantage: 'office', job: 12, reason: 'tired' },
    { vantage: '../office', job: 12, reason: 'opt-out' },
    { vantage: 'office', job: 0, reason: 'opt-out' },
  ];
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'));
  const after = await exportParquet(without, join(scratch, 'without-out'));
  assert.deepEqual(
    after.badLines.named.map(({ file, line, reason }) => [file, line, reason.split(' ')[0]]),
    [
      ['dead.ndjson', 2, 'job'],
      ['dead.ndjson', 3, 'reason:'],
      ['dead.ndjson', 4, 'vantage:'],
      ['dead.ndjson', 5, 'job:'],
    ],
  );
  const unreached = after.vantages.find(({ vantage }) => vantage === 'new');
  assert.deepEqual([unreached?.measured, unreached?.missing, unreached?.givenUp], [0, 12, 1]);
});

test('lines that are no result are named in export.json', async () => {
  const damaged = writeSampleArchive(join(scratch, 'damaged'));
  writeSegment(damaged, 'results-x-1-1.ndjson.zst', ['{}']);
  const { badLines, vantages } = await exportParquet(damaged, join(scratch, 'damaged-out'));
  assert.equal(badLines.count, 1);
  assert.equal(badLines.named[0]?.file, 'results-x-1-1.ndjson.zst');
  assert.deepEqual(vantages.find(({ vantage }) => vantage === 'x')?.missing, 12);
});

test('a directory of something else is left alone, and without DuckDB nothing is written', async () => {
  const other = join(scratch, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'mine.txt'), 'kept');
  await assert.rejects(exportParquet(dir, other), { code: 'bad-directory' });
  assert.deepEqual(readdirSync(other), ['mine.txt']);
  const file = join(other, 'mine.txt', 'out');
  await assert.rejects(exportParquet(dir, file), {
    code: 'cannot-write',
    message: /ENOTDIR; the archive is unchanged$/,
  });
  const none = join(scratch, 'none');
  await assert.rejects(
    exportParquet(dir, none, () => Promise.reject(new Error('Cannot find package'))),
    {
      code: 'no-duckdb',
      message: /does not load \(Cannot find package\); run: npm install .*@duckdb\/node-api@/,
    },
  );
  assert.ok(!existsSync(none));
});

test('the command that installs DuckDB can be pasted whatever the path of the helper is', () => {
  assert.match(duckDbCommand('/srv/helper'), / --prefix \/srv\/helper @duckdb/);
  assert.match(duckDbCommand('/home/a/photo finish'), / --prefix (['"])\/home\/a\/photo finish\1 @duckdb/);
});

test('on a full disk one sentence says so, and nothing is left', async () => {
  const full = Error('IO Error: Could not write file "rows.duckdb": No space left on device');
  const create = () => Promise.reject(full);
  const load = async () => ({ DuckDBInstance: { create } }) as unknown as typeof import('@duckdb/node-api');
  const before = readdirSync(scratch);
  await assert.rejects(exportParquet(dir, join(scratch, 'full'), load), {
    code: 'cannot-write',
    message: /full: the disk is full; the archive is unchanged$/,
    exitCode: 1,
  });
  assert.deepEqual(readdirSync(scratch), before);
});

const connection = await (await DuckDBInstance.create()).connect();

const page = readFileSync(new URL('../../docs/survey.md', import.meta.url), 'utf8');
const [, questions = ''] = page.split('\n## Ten questions\n');
const [views = '', ...asked] = [...questions.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql = '']) =>
  sql.replaceAll("'parquet/", `'${out}/`),
);
await connection.run(views);

const titles = [...questions.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);

/** Counts are 64 bits wide, and therefore text in JSON. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  'What is reached over HTTP/3 from where?': [
    ['lab-2', '11', '5', '4', '2', 55.6],
    ['no-udp', '11', '0', '9', '2', 0],
    ['office', '11', '6', '3', '2', 66.7],
  ],
  'Which networks block UDP?': [
    ['lab-2', '2', '5', '2', false],
    ['no-udp', '8', '0', '0', true],
    ['office', '1', '6', '2', false],
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

test('the views know every code of a failure after a host answered over UDP', () => {
  const [, codes = ''] = /h3_error IN \(([^)]*)\)\), false\) AS answered/.exec(views) ?? [];
  assert.deepEqual(
    [...codes.matchAll(/'([^']+)'/g)].map(([, code]) => code),
    UDP_ANSWERED_CODES,
  );
});

test('one host at two ports, twice, or by two names is not the network, in export.json as in the view', async () => {
  const archive = join(scratch, 'one');
  mkdirSync(archive);
  writeFileSync(join(archive, 'survey.json'), JSON.stringify(SAMPLE_SURVEY));
  writeSegment(archive, 'results-a-1-1.ndjson.zst', oneSilentHost('a'));
  const to = join(scratch, 'one-out');
  const { vantages } = await exportParquet(archive, to);
  assert.deepEqual(
    vantages.map(({ network, blocksUdp }) => [network, blocksUdp]),
    [[{ failedHosts: 1, reachedHosts: 0, answeredHosts: 0 }, false]],
  );
  const alone = await (await DuckDBInstance.create()).connect();
  await alone.run(views.replaceAll(`'${out}/`, `'${to}/`));
  const rows = (await alone.runAndReadAll('SELECT * FROM vantages')).getRowsJson();
  assert.deepEqual(rows, [['a', '1', '0', '0', false]]);
});

for (const [i, title] of titles.entries())
  test(`docs/survey.md: ${title}`, async () => {
    const rows = (await connection.runAndReadAll(asked[i] ?? '')).getRowsJson();
    assert.deepEqual(rows, ANSWERS[title]);
  });
