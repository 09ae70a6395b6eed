// When a vantage point is healthy, when its path has changed, and when nothing it measures is evidence; and what it
// does without its canaries. With them, and a real server, it is tested in e2e/specs/survey-worker.spec.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, comparison, originRace, trial } from '@photofinish/shared/testing/race-samples';
import { namedNetwork } from '../network/watch.ts';
import type { RaceSpec } from '../racer.ts';
import { SAMPLE_SURVEY } from '../testing/survey-archive.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { NOTHING } from './control.ts';
import { type OptOut, optOut } from './opt-out.ts';
import type { Task } from './schema.ts';
import {
  CanaryWatch,
  HeldResults,
  reachOfCanaries,
  SETTLES_AFTER_MS,
  Vantage,
  type VantageParts,
} from './vantage.ts';

const BOTH = { h3: true, h2: true };
const ONLY_H2 = { h3: false, h2: true };
const ONLY_H3 = { h3: true, h2: false };
const NEITHER = { h3: false, h2: false };

function after(...first: readonly { h3: boolean; h2: boolean }[]): CanaryWatch {
  const watch = new CanaryWatch();
  for (const reach of first) watch.record(reach, 0);
  return watch;
}

const silent = { code: 'udp-timeout', message: 'm' } as const;
const blocked = { code: 'blocked', message: 'm' } as const;
const h3Fails = trial([attempt({ protocol: 'h3', outcome: 'failed', error: silent })], null);
const h2Works = trial(
  [attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 12 })],
  'h2',
);

test('any canary that is reached over a transport counts for it', () => {
  const blocked = originRace([h3Fails, h2Works], { mode: 'compare' });
  const unresolved = originRace([], { error: { code: 'dns-failed', message: 'm' } });
  assert.deepEqual(reachOfCanaries([comparison([10], [20])]), BOTH);
  assert.deepEqual(reachOfCanaries([blocked]), ONLY_H2);
  assert.deepEqual(reachOfCanaries([blocked, unresolved, comparison([10], [20])]), BOTH);
  assert.deepEqual(reachOfCanaries([unresolved]), NEITHER);
  assert.deepEqual(reachOfCanaries([]), NEITHER);
});

test('what this busy machine measured of a canary does not count', () => {
  const { trials } = comparison([10], [20]);
  const disturbed = originRace(trials.map((each) => ({ ...each, disturbed: 'outcome' as const })));
  assert.deepEqual(reachOfCanaries([disturbed]), NEITHER);
});

test('the first round that reaches anything is the norm', () => {
  for (const reach of [BOTH, ONLY_H2, ONLY_H3]) {
    const watch = new CanaryWatch();
    assert.deepEqual(watch.record(reach, 0), { state: 'good' });
    assert.deepEqual(watch.record(reach, 30_000), { state: 'good' });
  }
  const watch = new CanaryWatch();
  assert.deepEqual(watch.record(NEITHER, 0), { state: 'sick', sinceMs: 0 });
  assert.deepEqual(watch.record(ONLY_H2, 30_000), { state: 'good' });
});

test('the loss of either transport is sick until it is back', () => {
  for (const less of [ONLY_H2, ONLY_H3, NEITHER]) {
    const watch = after(BOTH);
    assert.deepEqual(watch.record(less, 30_000), { state: 'sick', sinceMs: 30_000 });
    assert.deepEqual(watch.record(less, 60_000), { state: 'sick', sinceMs: 30_000 });
    assert.deepEqual(watch.record(BOTH, 90_000), { state: 'good' });
    assert.deepEqual(watch.record(less, 120_000), { state: 'sick', sinceMs: 120_000 });
  }
});

test('one transport in place of the other is a loss', () => {
  assert.deepEqual(after(ONLY_H2).record(ONLY_H3, 1), { state: 'sick', sinceMs: 1 });
});

test('more than before is another path, once', () => {
  const watch = after(ONLY_H2);
  assert.deepEqual(watch.record(BOTH, 1), { state: 'changed' });
  assert.deepEqual(watch.record(BOTH, 2), { state: 'good' });
  assert.deepEqual(watch.record(ONLY_H2, 3), { state: 'sick', sinceMs: 3 });
});

test('what has been reached for ten minutes is the new norm', () => {
  const watch = after(BOTH);
  assert.equal(watch.record(ONLY_H2, 1000).state, 'sick');
  assert.equal(watch.record(ONLY_H2, 1000 + SETTLES_AFTER_MS - 1).state, 'sick');
  assert.deepEqual(watch.record(ONLY_H2, 1000 + SETTLES_AFTER_MS), { state: 'changed' });
  assert.deepEqual(watch.record(ONLY_H2, 1001 + SETTLES_AFTER_MS), { state: 'good' });
});

test('reaching nothing never becomes the norm', () => {
  const watch = after(BOTH);
  for (const nowMs of [0, SETTLES_AFTER_MS, 10 * SETTLES_AFTER_MS])
    assert.deepEqual(watch.record(NEITHER, nowMs), { state: 'sick', sinceMs: 0 });
});

test('the first transport to return after a long outage is not the norm yet', () => {
  const watch = after(BOTH);
  watch.record(NEITHER, 0);
  const backMs = 2 * SETTLES_AFTER_MS;
  assert.deepEqual(watch.record(ONLY_H2, backMs), { state: 'sick', sinceMs: 0 });
  assert.deepEqual(watch.record(ONLY_H2, backMs + SETTLES_AFTER_MS), { state: 'changed' });
});

test('on another network the next round is the first', () => {
  const watch = after(BOTH);
  watch.record(ONLY_H2, 1000);
  watch.forget();
  assert.deepEqual(watch.record(NEITHER, 2000), { state: 'sick', sinceMs: 2000 });
  assert.deepEqual(watch.record(ONLY_H2, 3000), { state: 'good' });
});

function holding(...endedMs: readonly number[]) {
  const held = new HeldResults<number, string>();
  for (const ms of endedMs) held.add({ job: ms, result: `r${ms}`, endedMs: ms });
  return held;
}

test('a good canary releases what had ended when it began, once', () => {
  const held = holding(1, 2, 3);
  assert.deepEqual(held.release(2), [
    { job: 1, result: 'r1', endedMs: 1 },
    { job: 2, result: 'r2', endedMs: 2 },
  ]);
  assert.deepEqual(held.release(2), []);
  assert.equal(held.size, 1);
  assert.deepEqual(
    held.release(3).map(({ job }) => job),
    [3],
  );
});

test('a failed canary discards everything, also what ended after it began', () => {
  const held = holding(1, 9);
  assert.deepEqual(
    held.discard().map(({ job }) => job),
    [1, 9],
  );
  assert.equal(held.size, 0);
  assert.deepEqual(held.release(10), []);
  assert.deepEqual(held.discard(), []);
});

const NAMES = ['a.test', 'b.test'];

async function reached({ origin, mayUse }: RaceSpec) {
  const address = `192.0.2.${NAMES.indexOf(origin.host) + 1}`;
  const isAllowed = mayUse?.([{ host: origin.host, address }], null) === true;
  return isAllowed
    ? comparison([10], [20])
    : originRace([], { error: { code: 'cancelled', message: 'cancelled' } });
}

/** A vantage point whose canaries are reached, at 192.0.2.1 and 192.0.2.2, unless `race` does otherwise. */
function testbed(drains: boolean, race: VantageParts['race'] = reached) {
  let listed: readonly string[] = [];
  const logged: string[] = [];
  let letGo = 0;
  const list = (): OptOut => {
    const read = optOut(listed);
    assert.ok(read.ok);
    return read.value;
  };
  const parts: VantageParts = {
    control: { state: () => NOTHING } as VantageParts['control'],
    survey: { ...SAMPLE_SURVEY, canaries: NAMES.map((name) => `https://${name}`) },
    race,
    network: namedNetwork('home'),
    clock: virtualTime().clock,
    drains,
    log: (message) => logged.push(message),
    optOut: list,
    again: () => {},
    // As while the server's disk is full.
    publish: () => new Promise(() => {}),
    letGo: () => {
      letGo += 1;
    },
    recovered: () => {},
    isOver: () => false,
  };
  const vantage = new Vantage(parts, 'home');
  return {
    vantage,
    logged,
    letGo: () => letGo,
    async round(...entries: readonly string[]) {
      listed = entries;
      await vantage.canaryRound();
    },
  };
}

test('canaries that have all opted out, by name or address, are not told as failing', async () => {
  const { vantage, logged, letGo, round } = testbed(false);
  await round();
  await round('a.test');
  assert.deepEqual([vantage.mayRace, logged], [true, []]);
  await round('a.test', '192.0.2.2');
  await round('a.test', 'b.test');
  assert.deepEqual([vantage.mayRace, vantage.canariesOptedOut], [false, true]);
  assert.ok(vantage.sickSinceMs !== null);
  assert.equal(letGo(), 2, 'no other canary will come');
  assert.deepEqual(logged, [
    'every canary of the survey has opted out: no result can be confirmed, so the survey needs other canaries',
  ]);
  await round('a.test');
  assert.deepEqual([vantage.mayRace, vantage.canariesOptedOut], [true, false]);
});

test('canaries that fail are told with the codes of what failed', async () => {
  const { vantage, logged, round } = testbed(false, async () => originRace([h3Fails], { error: blocked }));
  await round();
  assert.equal(vantage.mayRace, false);
  assert.deepEqual(logged, [
    'the canaries fail (blocked, udp-timeout): nothing is written until they succeed again',
  ]);
});

test('a server that takes no results does not keep the canaries from watching the path', async () => {
  const { vantage, round } = testbed(false);
  vantage.hold({} as Task, comparison([10], [20]));
  await round();
  assert.equal(vantage.held, 0, 'its result is being published');
  await round();
});

test('a draining worker does not wait for canaries that have all opted out', async () => {
  const { round } = testbed(true);
  await round();
  await assert.rejects(round('a.test', 'b.test'), { code: 'bad-survey', message: /has opted out/ });
});
