// What a vantage point does without its canaries; with them, and a real server, it is tested in
// e2e/specs/survey-worker.spec.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparison, originRace } from '@photofinish/shared/testing/race-samples';
import { namedNetwork } from '../network/watch.ts';
import type { RaceSpec } from '../racing.ts';
import { SAMPLE_SURVEY } from '../testing/survey-archive.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { NOTHING } from './control.ts';
import { type OptOut, optOut } from './opt-out.ts';
import { Vantage, type VantageParts } from './vantage.ts';

const NAMES = ['a.test', 'b.test'];

/** A vantage point whose canaries are reached, at 192.0.2.1 and 192.0.2.2. */
function testbed(drains: boolean) {
  let listed: readonly string[] = [];
  const logged: string[] = [];
  let letGo = 0;
  const list = (): OptOut => {
    const read = optOut(listed);
    assert.ok(read.ok);
    return read.value;
  };
  async function race({ origin, mayUse }: RaceSpec) {
    const address = `192.0.2.${NAMES.indexOf(origin.host) + 1}`;
    const isAllowed = mayUse?.([{ host: origin.host, address }], null) === true;
    return isAllowed
      ? comparison([10], [20])
      : originRace([], { error: { code: 'cancelled', message: 'cancelled' } });
  }
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
    publish: async () => {},
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
    'every canary of the survey has opted out: nothing vouches for what is measured, and it needs others',
  ]);
  await round('a.test');
  assert.deepEqual([vantage.mayRace, vantage.canariesOptedOut], [true, false]);
});

test('a draining worker does not wait for canaries that have all opted out', async () => {
  const { round } = testbed(true);
  await round();
  await assert.rejects(round('a.test', 'b.test'), { code: 'bad-survey', message: /has opted out/ });
});
