// What binds a worker follows the control bucket entry by entry, and a damaged entry never loosens what is in force.
// And where a survey stands, for people.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLE_SURVEY } from '../testing/survey-archive.ts';
import {
  type Announcement,
  budgetOf,
  type ControlState,
  changed,
  NOTHING,
  WORKER_TIMEOUT_MS,
  workerKey,
} from './control.ts';
import { NO_LIST } from './opt-out.ts';
import { STATUS_SCHEMA, type SurveyStatus, statusText } from './status.ts';

const encoder = new TextEncoder();

const AT = 1000;

function put(state: ControlState, key: string, value: unknown, storedAtMs = AT): ControlState {
  return changed(state, key, encoder.encode(JSON.stringify(value)), storedAtMs);
}

const BUDGET = { perNetworkPerSecond: 0.5, totalPerSecond: 30 };
const WORKER: Announcement = {
  vantage: 'office-1',
  worker: 'a',
  session: 's',
  seenAtMs: 5,
  measured: 7,
  sickSinceMs: null,
};

/** Of a list without entries, which needs no other key. */
const HEAD = { generation: '01234567-89ab-4cde-8f01-23456789abcd', parts: 0, entries: 0 };

const full = [
  ['survey', SAMPLE_SURVEY],
  ['budget', BUDGET],
  ['opt-out', HEAD],
  ['pause', true],
  [workerKey(WORKER), WORKER],
] as const;
const FULL = full.reduce((state, [key, value]) => put(state, key, value), NOTHING);

test('each key changes what it is for', () => {
  assert.deepEqual(FULL, {
    survey: SAMPLE_SURVEY,
    budget: BUDGET,
    optOut: { ...NO_LIST, head: HEAD },
    paused: true,
    workers: new Map([['worker.office-1.a', { ...WORKER, storedAtMs: AT }]]),
  });
});

test('a key that is removed is as before it was written, and the others stay', () => {
  for (const [index, [key]] of full.entries()) {
    const others = full.toSpliced(index, 1);
    const without = others.reduce((state, [other, value]) => put(state, other, value), NOTHING);
    assert.deepEqual(changed(FULL, key, null, AT), without, key);
  }
});

const UNFIT: readonly (readonly [string, unknown])[] = [
  ['survey', { ...SAMPLE_SURVEY, schema: 'photofinish.survey/2' }],
  ['survey', { ...SAMPLE_SURVEY, perNetworkPerSecond: 0 }],
  ['budget', { perNetworkPerSecond: 0, totalPerSecond: 1 }],
  ['budget', { perNetworkPerSecond: 1 }],
  ['budget', { perNetworkPerSecond: 1001, totalPerSecond: 1 }],
  ['opt-out', ['example.org']],
  ['pause', 'yes'],
  ['pause', null],
  ['worker.office-1.a', { ...WORKER, measured: -1 }],
  ['worker.office-1.a', { ...WORKER, vantage: 'no/name' }],
  ['worker.office-1.b', {}],
  ['other', true],
];

test('a value that does not fit changes nothing', () => {
  for (const [key, value] of UNFIT)
    assert.deepEqual(put(FULL, key, value, AT + 1), FULL, JSON.stringify(value));
});

test('bytes that are no JSON change nothing', () => {
  for (const [key] of full)
    for (const bytes of [new Uint8Array(), Uint8Array.of(0xff, 0), encoder.encode('{"schema":')])
      assert.deepEqual(changed(FULL, key, bytes, AT + 1), FULL, key);
});

test('workers come, are seen again, and go, each by its own key', () => {
  const second = { ...WORKER, worker: 'b', session: 't' };
  const two = put(FULL, workerKey(second), second);
  const later = put(two, workerKey(WORKER), { ...WORKER, seenAtMs: 9 }, 2000);
  const other = { ...second, storedAtMs: AT };
  assert.deepEqual([...later.workers.values()], [{ ...WORKER, seenAtMs: 9, storedAtMs: 2000 }, other]);
  assert.deepEqual([...changed(later, workerKey(WORKER), null, AT).workers.values()], [other]);
  assert.equal(two.workers.get(workerKey(WORKER))?.seenAtMs, 5, 'a state that was handed out stays as it is');
});

test('the budget in force is the one set last, otherwise the one the survey began with', () => {
  assert.equal(budgetOf(NOTHING), null);
  assert.deepEqual(budgetOf(FULL), BUDGET);
  const { perNetworkPerSecond, totalPerSecond } = SAMPLE_SURVEY;
  const began = { perNetworkPerSecond, totalPerSecond };
  assert.deepEqual(budgetOf(changed(FULL, 'budget', null, AT)), began, 'and nothing else of that');
});

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
const WORKER_STATUS: SurveyStatus['workers'][number] = {
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
  const status = { ...EMPTY, budget, paused: true, vantages: [vantage], workers: [WORKER_STATUS] };
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
  const line = (over: Partial<typeof WORKER_STATUS>) =>
    statusText({ ...EMPTY, workers: [{ ...WORKER_STATUS, ...over }] }).split('\n')[1];
  assert.match(line({ silentMs: WORKER_TIMEOUT_MS }) ?? '', /at work$/);
  assert.match(line({ sickSinceMs: 5 }) ?? '', /its canaries fail: it writes nothing$/);
  assert.match(
    line({ sickSinceMs: 5, canariesOptedOut: true }) ?? '',
    /all its canaries have opted out: it writes nothing$/,
  );
  for (const sickSinceMs of [null, 5])
    assert.match(
      line({ silentMs: WORKER_TIMEOUT_MS + 1, sickSinceMs }) ?? '',
      /silent for 7 s; it keeps its share/,
    );
});
