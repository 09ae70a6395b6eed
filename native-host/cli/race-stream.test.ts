// The open loop of `photofinish race -`: which lines wait, and how a bad line or a failing race affects the others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { fixedPace } from './race-pace.ts';
import { type RaceStream, raceStream } from './race-stream.ts';

async function* linesOf(...lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** Races ended by the test; every event of the stream in order. */
function scene(options: Partial<RaceStream> & Pick<RaceStream, 'lines'>) {
  const events: string[] = [];
  const pending = new Map<string, PromiseWithResolvers<OriginRace>>();
  const stop = new AbortController();
  const over = raceStream({
    mode: 'race',
    pace: fixedPace(8),
    tellsWaits: true,
    wanted: () => true,
    race({ origin, mode }) {
      events.push(`start ${origin.host} ${mode}`);
      const race = Promise.withResolvers<OriginRace>();
      pending.set(origin.host, race);
      return race.promise;
    },
    finished: (_race, { origin }) => void events.push(`end ${origin.host}`),
    complain: (code, message) => void events.push(`${code} ${message}`),
    signal: stop.signal,
    ...options,
  });
  const end = async (host: string): Promise<void> => {
    pending.get(host)?.resolve({} as OriginRace);
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  };
  const fail = (host: string, why: Error): void => pending.get(host)?.reject(why);
  return { events, over, end, fail, stop };
}

test('lines are raced as they arrive, and reported as they end', async () => {
  const { events, over, end } = scene({ lines: linesOf('a.test', '{"origin":"b.test","mode":"h2"}') });
  await setImmediate();
  await end('b.test');
  await end('a.test');
  assert.deepEqual(await over, { badLines: 0, waits: 0 });
  assert.deepEqual(events, ['start a.test race', 'start b.test h2', 'end b.test', 'end a.test']);
});

test('a bad line is reported with its number and does not affect others', async () => {
  const { events, over, end } = scene({ lines: linesOf('', 'http://a.test', '{}', 'b.test') });
  await setImmediate();
  await end('b.test');
  assert.deepEqual(await over, { badLines: 2, waits: 0 });
  assert.match(events[0] ?? '', /^bad-origin line 2: /);
  assert.match(events[1] ?? '', /^bad-line line 3: origin: /);
  assert.deepEqual(events.slice(2), ['start b.test race', 'end b.test']);
});

test('beyond the limit lines wait, which is reported once', async () => {
  const { events, over, end } = scene({
    lines: linesOf('a.test', 'b.test', 'c.test', 'd.test'),
    pace: fixedPace(2),
  });
  await setImmediate();
  assert.deepEqual(events.slice(0, 2), ['start a.test race', 'start b.test race']);
  assert.match(events[2] ?? '', /^races-wait 2 races .*line 3/);
  await end('b.test');
  assert.deepEqual(events.slice(3), ['end b.test', 'start c.test race']);
  for (const host of ['a.test', 'c.test', 'd.test']) await end(host);
  assert.deepEqual(await over, { badLines: 0, waits: 2 });
  assert.equal(events.filter((event) => event.startsWith('races-wait')).length, 1);
});

test('a rising pace starts waiting lines, and adaptive waiting is not reported', async () => {
  let limit = 1;
  const pace = {
    limit: () => limit,
    over() {
      limit = 3;
    },
  };
  const lines = linesOf('a.test', 'b.test', 'c.test', 'd.test');
  const { events, over, end } = scene({ lines, pace, tellsWaits: false });
  await setImmediate();
  assert.deepEqual(events, ['start a.test race']);
  await end('a.test');
  assert.deepEqual(events.slice(2), ['start b.test race', 'start c.test race', 'start d.test race']);
  for (const host of ['b.test', 'c.test', 'd.test']) await end(host);
  await over;
  assert.ok(!events.some((event) => event.startsWith('races-wait')));
});

test('a line that is not wanted is neither raced nor reported, and keeps its number', async () => {
  const asked: string[] = [];
  const { events, over, end } = scene({
    lines: linesOf('a.test', '', 'b.test/x', 'c.test'),
    wanted({ origin }, line) {
      asked.push(`${origin.host} ${line}`);
      return origin.host === 'c.test';
    },
    finished: (_race, { origin }, line) => void events.push(`end ${origin.host} ${line}`),
  });
  await setImmediate();
  await end('c.test');
  await over;
  assert.deepEqual(asked, ['a.test 1', 'b.test 3', 'c.test 4']);
  assert.deepEqual(events, ['start c.test race', 'end c.test 4']);
});

test('what is left out of a line is reported with its number', async () => {
  const { events, over, end } = scene({ lines: linesOf('# mine', 'a.test/x') });
  await setImmediate();
  await end('a.test');
  assert.deepEqual(await over, { badLines: 0, waits: 0 });
  assert.deepEqual(events, [
    'path-left-out line 2: https://a.test is raced, without /x',
    'start a.test race',
    'end a.test',
  ]);
});

test('a race that cannot be run ends the stream after those in progress', async () => {
  const { events, over, end, fail } = scene({
    lines: linesOf('a.test', 'b.test', 'c.test'),
    pace: fixedPace(2),
  });
  const rejected = assert.rejects(over, /no transport/);
  await setImmediate();
  fail('a.test', new Error('no transport'));
  await setImmediate();
  await end('b.test');
  await rejected;
  assert.ok(events.includes('end b.test'));
  assert.ok(!events.includes('start c.test race'));
});

test('after an abort no line is started', async () => {
  const { events, over, end, stop } = scene({ lines: linesOf('a.test', 'b.test'), pace: fixedPace(1) });
  await setImmediate();
  stop.abort();
  await end('a.test');
  await over;
  assert.ok(!events.includes('start b.test race'));
});
