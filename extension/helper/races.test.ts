import '../words.fixture.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import { aRace } from '../report/race.fixture.ts';
import { HelperError } from './failure.ts';
import { comparison } from './helper.ts';
import { createRaces, RACES_AT_ONCE } from './races.ts';

const origins = Array.from({ length: RACES_AT_ONCE + 2 }, (_, i) => `https://o${i}.test` as Origin);

function bench() {
  const running = new Map<Origin, { resolve: (race: OriginRace) => void; reject: (e: Error) => void }>();
  const done: Origin[] = [];
  const failed: string[] = [];
  const words: string[] = [];
  const races = createRaces({
    race: ({ origin }) => ({
      result: new Promise((resolve, reject) => running.set(origin, { resolve, reject })),
      cancel: () => running.get(origin)?.reject(new HelperError('cancelled', 'cancelled')),
    }),
    onProgress: () => {},
    onDone: (race) => done.push(race.origin),
    onFailed: (origin, code, message) => {
      failed.push(`${origin} ${code}`);
      words.push(message);
    },
  });
  const finish = async (origin: Origin) => {
    running.get(origin)?.resolve(aRace({ origin }));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { races, running, done, failed, words, finish };
}

test('no more race at once than the helper’s budget allows; the next follows when one ends', async () => {
  const { races, running, done, finish } = bench();
  for (const origin of origins) races.start(comparison(origin));
  assert.equal(running.size, RACES_AT_ONCE);
  await finish(origins[0] as Origin);
  assert.deepEqual(done, [origins[0]]);
  assert.equal(running.size, RACES_AT_ONCE + 1);
});

test('an origin does not race itself', () => {
  const { races, running } = bench();
  races.start(comparison(origins[0] as Origin));
  races.start(comparison(origins[0] as Origin));
  assert.equal(running.size, 1);
});

test('a waiting race is cancelled here, a running one by the helper', async () => {
  const { races, failed } = bench();
  for (const origin of origins) races.start(comparison(origin));
  races.cancel(origins.at(-1) as Origin);
  races.cancel(origins[0] as Origin);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(failed, [`${origins.at(-1)} cancelled`, `${origins[0]} cancelled`]);
});

test('what waits is withdrawn where it is not wanted any more; what runs goes on', async () => {
  const { races, running, failed, finish } = bench();
  for (const origin of origins) races.start(comparison(origin));
  const [first, kept, withdrawn] = [origins[0], origins.at(-2), origins.at(-1)] as [Origin, Origin, Origin];
  races.withdraw(({ origin }) => origin !== kept);
  assert.deepEqual(failed, [`${withdrawn} cancelled`]);
  await finish(first);
  assert.ok(running.has(kept));
  assert.equal(running.has(withdrawn), false);
});

test('a used-up budget is said in words that tell when to try again', async () => {
  const { races, running, words } = bench();
  races.start(comparison(origins[0] as Origin));
  running
    .get(origins[0] as Origin)
    ?.reject(new HelperError('too-many-races', 'the budget of races is used up'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(words[0] ?? '', /30 races a minute.*Try again/);
});

test('a race beyond what can wait is refused, not forgotten', () => {
  const { races, failed } = bench();
  for (let i = 0; i < 600; i += 1) races.start(comparison(`https://many${i}.test` as Origin));
  assert.equal(failed.length, 600 - RACES_AT_ONCE - 500);
  assert.equal(failed[0], `https://many${RACES_AT_ONCE + 500}.test too-many-races`);
});
