// Jobs: what a line becomes, and what is refused where it leaves the server. Results: batches hold each once, in order,
// in messages that a server takes, under ids that a repeat has again.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { RACE_SCHEMA } from '@photofinish/shared/race/outcome';
import { comparison } from '@photofinish/shared/testing/race-samples';
import * as v from 'valibot';
import {
  batchesOf,
  deadSchema,
  jobSchema,
  MAX_BATCH,
  postponedSchema,
  RESULT_SCHEMA,
  readSurveyLine,
  requestOf,
  SURVEY_MODES,
  type SurveyResult,
} from './schema.ts';

test('a line is read as `race -` reads it', () => {
  const plain = readSurveyLine('a.test/path', 'compare');
  assert.ok(plain?.ok);
  assert.equal(plain.value.origin.origin, 'https://a.test');
  assert.equal(plain.value.mode, 'compare');
  const own = readSurveyLine('{"origin":"https://a.test:8443","mode":"h3"}', 'compare');
  assert.ok(own?.ok);
  assert.equal(own.value.mode, 'h3');
  assert.equal(readSurveyLine('# comment', 'race'), null);
  assert.equal(readSurveyLine('http://a.test', 'race')?.ok, false);
});

test('a mode that resolves names during a trial is refused', () => {
  assert.ok(!SURVEY_MODES.some((mode: string) => mode === 'v3'));
  const line = readSurveyLine('{"origin":"a.test","mode":"v3"}', 'race');
  assert.ok(line !== null && !line.ok);
  assert.equal(line.code, 'bad-line');
  assert.match(line.message, /^mode v3 resolves names during a trial/);
  assert.ok(!v.is(jobSchema, { origin: 'https://a.test', mode: 'v3' }));
  const misspelt = readSurveyLine('{"origin":"a.test","mode":"H3"}', 'race');
  assert.ok(misspelt !== null && !misspelt.ok);
  assert.equal(misspelt.message, 'mode: "H3" is not one; there are race, alt-svc, naive, compare, h3 or h2');
});

test('a job whose origin cannot be read has no request', () => {
  const request = requestOf({ origin: 'https://a.test', mode: 'h2' });
  assert.equal(request?.origin.host, 'a.test');
  assert.equal(request?.mode, 'h2');
  assert.equal(requestOf({ origin: 'http://a.test', mode: 'race' }), null);
});

test('a postponed job knows its sequence in the list', () => {
  const postponed = { origin: 'https://a.test', mode: 'race', job: 7 };
  assert.deepEqual(v.parse(postponedSchema, postponed), postponed);
  for (const over of [{ job: 0 }, { job: 1.5 }, { job: undefined }, { mode: 'v3' }, { origin: 7 }])
    assert.ok(!v.is(postponedSchema, { ...postponed, ...over }), JSON.stringify(over));
});

test('a job that was given up has a reason of ours', () => {
  const dead = { vantage: 'office', job: 7, origin: 'https://a.test', reason: 'opt-out' };
  assert.deepEqual(v.parse(deadSchema, dead), dead);
  assert.ok(v.is(deadSchema, { vantage: 'office', job: 7, reason: 'bad-job' }));
  for (const over of [{ reason: 'tired' }, { job: '7' }, { vantage: undefined }])
    assert.ok(!v.is(deadSchema, { ...dead, ...over }), JSON.stringify(over));
});

function result(job: number, over: Partial<SurveyResult> = {}, network = 'net'): SurveyResult {
  const race = { ...comparison([10], [20]), network };
  const { mode, memory, startDelayMs } = race;
  return {
    ...{ schema: RESULT_SCHEMA, survey: 's', vantage: 'v', job, program: 'photofinish/1' },
    document: { schema: RACE_SCHEMA, mode, memory, startDelayMs, races: [race] },
    ...over,
  };
}

const jobs = (count: number) => Array.from({ length: count }, (_, index) => result(index + 1));
const onlyId = (...results: SurveyResult[]) => {
  const [batch, more] = batchesOf(results);
  assert.equal(more, undefined);
  return batch?.id;
};

test('bytes are the lines of the results, compressed', () => {
  const results = jobs(3);
  const [batch] = batchesOf(results);
  assert.ok(batch);
  assert.deepEqual(batch.results, results);
  const lines = zstdDecompressSync(batch.bytes).toString('utf8');
  assert.equal(lines, results.map((each) => `${JSON.stringify(each)}\n`).join(''));
});

test('a batch has at most 200 results', () => {
  const sizes = (count: number) => batchesOf(jobs(count)).map(({ results }) => results.length);
  assert.deepEqual(sizes(0), []);
  assert.deepEqual(sizes(MAX_BATCH), [200]);
  assert.deepEqual(sizes(2 * MAX_BATCH + 1), [200, 200, 1]);
});

test('a batch larger than a message is halved until it fits, and one result is never split', () => {
  // Random text does not compress: each result takes about 300 kB.
  const large = jobs(7).map(({ job }) => result(job, {}, randomBytes(200_000).toString('base64')));
  const batches = batchesOf(large);
  assert.deepEqual(
    batches.flatMap(({ results }) => results.map(({ job }) => job)),
    [1, 2, 3, 4, 5, 6, 7],
  );
  assert.ok(batches.length < 7, 'halved no more than needed');
  for (const { bytes } of batches) assert.ok(bytes.length <= 900_000);
  const [huge, more] = batchesOf([result(1, {}, randomBytes(1_000_000).toString('base64'))]);
  assert.equal(more, undefined);
  assert.ok((huge?.bytes.length ?? 0) > 900_000);
});

test('the id follows from the jobs of a survey and vantage, not from what was measured', () => {
  const id = onlyId(result(1), result(2));
  assert.equal(onlyId(result(1, {}, 'elsewhere'), result(2, { program: 'photofinish/2' })), id);
  const others = [
    onlyId(result(1), result(3)),
    onlyId(result(12)),
    onlyId(result(1)),
    onlyId(result(1, { vantage: 'w' }), result(2)),
    onlyId(result(1, { survey: 't' }), result(2)),
  ];
  assert.equal(new Set([id, ...others]).size, 6);
});
