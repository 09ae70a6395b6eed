// Where a survey stands, for people.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GONE_AFTER_MS } from './control.ts';
import { STATUS_SCHEMA, type SurveyStatus, statusText } from './status.ts';

const EMPTY: SurveyStatus = {
  schema: STATUS_SCHEMA,
  survey: 'web',
  jobs: 10,
  loaded: 4,
  paused: false,
  budget: null,
  optOut: 0,
  vantages: [],
  workers: [],
  uncollected: 0,
  dead: 0,
};
const WORKER: SurveyStatus['workers'][number] = {
  ...{ vantage: 'office', worker: 'a', measured: 3, silentMs: 0, sickSinceMs: null, canariesOptedOut: false },
};

test('a survey that only has a list', () => {
  assert.equal(
    statusText(EMPTY),
    'survey web: 4 of 10 jobs loaded\n0 batches not collected, 0 jobs given up, 0 opted out',
  );
});

test('a line for the budget, each vantage point and each worker', () => {
  const vantage = { vantage: 'office', waiting: 4, inProgress: 3, postponed: 2, done: 1 };
  const budget = { perNetworkPerSecond: 0.5, totalPerSecond: 0 };
  const status = { ...EMPTY, budget, paused: true, vantages: [vantage], workers: [WORKER] };
  assert.equal(
    statusText({ ...status, uncollected: 7, dead: 8, optOut: 9 }),
    `survey web: 4 of 10 jobs loaded, paused
budget: 0.5 races/s for a network, no limit in total
office: 1 done, 3 in progress, 2 postponed, 4 waiting
  worker a at office: 3 measured, at work
7 batches not collected, 8 jobs given up, 9 opted out`,
  );
  assert.match(
    statusText({ ...status, budget: { ...budget, totalPerSecond: 30 } }),
    /network, 30 in total$/m,
  );
});

test('one of anything is in the singular', () => {
  assert.equal(
    statusText({ ...EMPTY, jobs: 1, loaded: 1, uncollected: 1, dead: 1 }),
    'survey web: 1 of 1 job loaded\n1 batch not collected, 1 job given up, 0 opted out',
  );
});

test('a worker is at work, sick, or silent, whatever it said before', () => {
  const line = (over: Partial<typeof WORKER>) =>
    statusText({ ...EMPTY, workers: [{ ...WORKER, ...over }] }).split('\n')[1];
  assert.match(line({ silentMs: GONE_AFTER_MS }) ?? '', /at work$/);
  assert.match(line({ sickSinceMs: 5 }) ?? '', /its canaries fail: it writes nothing$/);
  assert.match(
    line({ sickSinceMs: 5, canariesOptedOut: true }) ?? '',
    /all its canaries have opted out: it writes nothing$/,
  );
  for (const sickSinceMs of [null, 5])
    assert.match(
      line({ silentMs: GONE_AFTER_MS + 1, sickSinceMs }) ?? '',
      /silent for 7 s; it keeps its share/,
    );
});
