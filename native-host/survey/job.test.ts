// Jobs as they travel: what a line becomes, and what is refused where it leaves the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { deadSchema, jobSchema, postponedSchema, readSurveyLine, requestOf, SURVEY_MODES } from './job.ts';

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

test('a mode that looks names up during a trial is refused', () => {
  assert.ok(!SURVEY_MODES.some((mode: string) => mode === 'v3'));
  const line = readSurveyLine('{"origin":"a.test","mode":"v3"}', 'race');
  assert.ok(line !== null && !line.ok);
  assert.equal(line.code, 'bad-line');
  assert.match(line.message, /^mode v3 looks names up during a trial/);
  assert.ok(!v.is(jobSchema, { origin: 'https://a.test', mode: 'v3' }));
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
