// Two surveys on one server, and two vantage points of one survey, never share a stream or a subject.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from './streams.ts';

function everyName(survey: string): string[] {
  const { bucket, streams, ...names } = namesOf(survey);
  const subjects = ['a', 'a-b'].flatMap((vantage) => [
    names.resultSubject(vantage),
    names.laterSubject(vantage),
    names.deadSubject(vantage),
  ]);
  return [
    `KV_${bucket}`,
    ...Object.values(streams),
    names.todoSubject(0),
    names.todoSubject(63),
    ...subjects,
  ];
}

test('names are of the survey, and told apart by what they are for', () => {
  const { streams, resultSubject } = namesOf('web-1');
  assert.deepEqual(Object.values(streams), ['web-1-todo', 'web-1-result', 'web-1-later', 'web-1-dead']);
  assert.equal(resultSubject('office-1'), 'survey.web-1.result.office-1');
});

test('no two surveys share a name', () => {
  const all = ['web', 'web-todo', 'todo', 'KV', 'KV-web'].flatMap(everyName);
  assert.equal(new Set(all).size, all.length);
});
