// What binds a worker follows the control bucket entry by entry, and a damaged entry never loosens what is in force.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLE_SURVEY } from '../testing/survey-archive.ts';
import { type Announcement, budgetOf, type ControlState, changed, NOTHING, workerKey } from './control.ts';
import { NO_LIST } from './opt-out.ts';

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
