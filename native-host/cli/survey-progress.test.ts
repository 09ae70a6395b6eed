// The line that shows how far `race -` is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, originRace, trial } from '@photofinish/shared/testing/race-samples';
import { surveyCounter, surveyWords } from './survey-progress.ts';
import type { Terminal } from './terminal.ts';
import { plain } from './text.ts';

test('done, failed, rate, and the time left once the total is known', () => {
  const half = { done: 400, failed: 3, total: 5000, elapsedMs: 10_000 };
  assert.equal(surveyWords(half), '400 of 5000 done, 3 failed, 40 per second, 1 min left');
  assert.equal(surveyWords({ ...half, total: null }), '400 done, 3 failed, 40 per second');
  assert.equal(surveyWords({ ...half, total: 400 }), '400 of 400 done, 3 failed, 40 per second');
});

test('slow rates are per minute, and few races have no rate', () => {
  assert.match(surveyWords({ done: 30, failed: 0, total: null, elapsedMs: 10_000 }), /3\.0 per second/);
  assert.match(surveyWords({ done: 10, failed: 0, total: null, elapsedMs: 60_000 }), /10 per minute/);
  assert.equal(surveyWords({ done: 2, failed: 1, total: 9, elapsedMs: 50 }), '2 of 9 done, 1 failed');
});

test('races disturbed by a busy machine are counted and reported once, at the end', () => {
  const said: string[] = [];
  const terminal: Terminal = {
    paint: plain,
    result() {},
    error: (code, message) => void said.push(`${code}: ${message}`),
    confirm: async () => true,
    progress() {},
  };
  const reached = originRace([trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 5 })])]);
  const [own] = reached.trials;
  assert.ok(own);
  const disturbed = originRace([own, { ...own, disturbed: 'times' }]);
  const unheard = originRace([], { error: { code: 'dns-failed', message: 'm', disturbed: true } });
  const quiet = surveyCounter(terminal);
  quiet.over(reached, 2);
  quiet.end();
  assert.deepEqual(said, []);
  const busy = surveyCounter(terminal);
  for (const race of [disturbed, reached, unheard]) busy.over(race, null);
  busy.end();
  assert.deepEqual(busy.counts, { done: 3, failed: 1, busy: 2 });
  assert.deepEqual(said, ['machine-busy: this machine was late in 2 of 3 races: see "disturbed"']);
});
