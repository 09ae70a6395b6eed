import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ATTEMPT_ERROR_CODES } from '../race/terms.ts';
import { attempt, clearComparison, comparison, originRace, trial } from '../testing/race-samples.ts';
import { attemptErrorText } from '../verdict/codes.ts';
import { beyondText, laneText, photoFinish } from './photo-finish.ts';
import { photoFinishSvg } from './photo-finish-svg.ts';
import { axisTicks } from './svg.ts';

test('compare: both lanes begin at 0 although they ran in sequence; the gain is the distance of the flags', () => {
  const finish = photoFinish(clearComparison(51.8, 112.3));
  const [h3, h2] = finish.lanes;
  assert.deepEqual([h3.startMs, h2.startMs], [0, 0]);
  assert.equal(h3.establishedMs, 51.8);
  assert.ok(Math.abs((h2.establishedMs ?? 0) - 112.3) < 1e-9);
  assert.deepEqual(finish.result, { winner: 'h3', gain: '60 ms', words: 'HTTP/3 connects 60 ms faster' });
  assert.deepEqual([laneText(h3), laneText(h2)], ['52 ms', '112 ms'], 'the reader can subtract');
  assert.equal(finish.caption, 'median of 10 pairs');
  assert.deepEqual(h3.trialsMs.slice(0, 3), [51.8, 52.8, 50.8]);
});

test('compare: HTTP/2 can win', () => {
  const finish = photoFinish(clearComparison(91, 41));
  assert.equal(finish.result?.winner, 'h2');
  assert.equal(finish.title, 'HTTP/2 connects 50.0 ms faster');
});

test('compare: fewer than three pairs give flags but no gain, and the caption says so', () => {
  const finish = photoFinish(comparison([10, 11], [20, 21]));
  assert.equal(finish.result, null);
  assert.equal(finish.caption, 'median of 2 pairs, too few to measure a gain');
});

test('compare: pairs that do not agree have no winner and no gain, and the range is shown', () => {
  const finish = photoFinish(comparison([14, 14.3, 15, 14.2], [14.5, 13, 14.37, 16]));
  assert.deepEqual([finish.result?.winner, finish.result?.gain], [null, null]);
  assert.equal(finish.title, 'No clear difference: from HTTP/2 1.3 ms faster to HTTP/3 1.8 ms faster');
});

test('a gain stated by a record is ignored if its pairs do not show it', () => {
  const race = comparison([10, 11, 12], [20, 21, 22]);
  const stated = { ...race, summary: { ...race.summary, gainMs: 10 } };
  assert.equal(photoFinish(stated).result?.winner, null);
});

test('the axis fits the medians; single trials far beyond it are counted and mentioned', () => {
  const race = clearComparison(50, 100);
  const late = comparison([50, 51, 49, 50, 50, 5000, 52], [100, 101, 99, 2000, 100, 99, 110]);
  assert.equal(photoFinish(race).axis.maxMs, 200, 'the first byte');
  const finish = photoFinish(late);
  assert.equal(finish.axis.maxMs, 200);
  assert.match(finish.description, / Beyond the axis: 5 s\. Beyond the axis: 2 s\./);
  assert.deepEqual(beyondText(finish.lanes[0], 200), { few: '+1 later', times: 'Beyond the axis: 5 s' });
  assert.deepEqual(beyondText(photoFinish(race).lanes[0], 200), { few: '', times: '' });
});

test('compare: a pair with a failure counts for neither flag, and the caption counts it', () => {
  const whole = clearComparison(20, 120);
  const refused = attempt({
    protocol: 'h3',
    outcome: 'failed',
    error: { code: 'udp-refused', message: 'm' },
  });
  const slow = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 900 });
  const finish = photoFinish({
    ...whole,
    trials: [...whole.trials, trial([refused], null), trial([slow], 'h2')],
  });
  assert.equal(finish.caption, 'median of 10 of 11 pairs');
  assert.equal(finish.result?.gain, '100 ms');
  assert.deepEqual(
    finish.lanes.map((lane) => lane.establishedMs),
    [20, 120],
  );
});

test('compare: if one protocol always fails the other is drawn, and there is no winner', () => {
  const refused = () =>
    trial(
      [attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-refused', message: 'm' } })],
      null,
    );
  const old = () => trial([attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9 })], 'h2');
  const finish = photoFinish(originRace([refused(), old(), old(), refused()], { mode: 'compare' }));
  assert.deepEqual(
    finish.lanes.map((lane) => [lane.state, lane.tried]),
    [
      ['failed', 2],
      ['established', 2],
    ],
  );
  assert.equal(finish.caption, '2 pairs, none complete');
  assert.equal(finish.result, null);
});

test('race: the cancelled lane stops where the winner was established, without a flag or a gain', () => {
  const finish = photoFinish(
    originRace([
      trial([
        attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 38, firstByteMs: 60 }),
        attempt({ protocol: 'h2', outcome: 'cancelled', startedMs: 10, transportMs: 30 }),
      ]),
    ]),
  );
  const [h3, h2] = finish.lanes;
  assert.deepEqual([h3.state, h3.adopted, h2.state, h2.adopted], ['established', true, 'cancelled', false]);
  assert.deepEqual([h2.startMs, h2.cutMs, h2.establishedMs], [10, 38, null]);
  assert.equal(finish.result, null);
});

test('race: even with a gain in its summary a race shows none', () => {
  assert.equal(photoFinish({ ...clearComparison(11, 21), mode: 'race' }).result, null);
});

test('a lane shows what happened most often: one finish in three trials is no median', () => {
  const won = (h2: Parameters<typeof attempt>[0]) =>
    trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 20 }), attempt(h2)]);
  const finish = photoFinish(
    originRace([
      won({ protocol: 'h2', outcome: 'cancelled' }),
      won({ protocol: 'h2', outcome: 'cancelled' }),
      won({ protocol: 'h2', outcome: 'established-late', establishedMs: 30 }),
    ]),
  );
  assert.equal(finish.lanes[1].state, 'cancelled');
  assert.match(finish.description, /HTTP\/2: cancelled\. Established in 1 of 3 trials\./);
});

test('a failed lane says why in words, for every code', () => {
  for (const code of ATTEMPT_ERROR_CODES) {
    const finish = photoFinish(
      originRace([
        trial(
          [
            attempt({ protocol: 'h3', outcome: 'failed', error: { code, message: 'm' } }),
            attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 5 }),
          ],
          'h2',
        ),
      ]),
    );
    assert.equal(laneText(finish.lanes[0]), attemptErrorText(code));
    assert.ok(finish.description.includes(attemptErrorText(code)));
  }
});

test('a fresh QUIC attempt that wins is drawn from the start of the one that it joined', () => {
  const [h3] = photoFinish(
    originRace([
      trial(
        [
          attempt({ protocol: 'h3', outcome: 'cancelled' }),
          attempt({ protocol: 'h3', outcome: 'adopted', fresh: true, startedMs: 60, establishedMs: 104 }),
        ],
        'h3',
      ),
    ]),
  ).lanes;
  assert.deepEqual([h3.startMs, h3.establishedMs, h3.tried, h3.adopted], [0, 104, 1, true]);
});

test('of several addresses in a trial the one established first represents the transport', () => {
  const finish = photoFinish(
    originRace([
      trial([
        attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-timeout', message: 'm' } }),
        attempt({ protocol: 'h3', outcome: 'adopted', startedMs: 250, establishedMs: 300 }),
      ]),
    ]),
  );
  assert.deepEqual([finish.lanes[0].state, finish.lanes[0].establishedMs], ['established', 300]);
  assert.equal(finish.lanes[1].state, 'absent');
});

test('TCP and TLS that yielded HTTP/1.1 is labelled so', () => {
  const finish = photoFinish(
    originRace([
      trial([attempt({ protocol: 'http/1.1', outcome: 'adopted', establishedMs: 9 })], 'http/1.1'),
    ]),
  );
  assert.match(finish.title, /HTTP\/1\.1 9 ms/);
});

test('the axis starts at 0, has round steps and never more than six labels', () => {
  assert.deepEqual(axisTicks(180), [0, 50, 100, 150]);
  assert.deepEqual(axisTicks(2.1), [0, 0.5, 1, 1.5, 2]);
  fc.assert(
    fc.property(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), (maxMs) => {
      const ticks = axisTicks(maxMs);
      assert.equal(ticks[0], 0);
      assert.ok(ticks.length >= 2 && ticks.length <= 6, String(ticks));
      assert.ok((ticks.at(-1) ?? 0) <= maxMs * (1 + 1e-9));
    }),
  );
});

test('no times at all still give a drawing', () => {
  const finish = photoFinish(originRace([]));
  assert.deepEqual(
    finish.lanes.map((lane) => lane.state),
    ['absent', 'absent'],
  );
  assert.ok(finish.axis.maxMs > 0);
});

test('an axis of almost zero length has its zero', () => {
  assert.deepEqual(axisTicks(Number.MIN_VALUE), [0]);
});

test('compare: a pair disturbed by a busy machine counts for neither flag, and the caption says so', () => {
  const race = comparison([10, 20, 30, 900], [110, 120, 130, 140]);
  const trials = race.trials.map((t) =>
    t.establishedMs === 900 ? { ...t, disturbed: 'times' as const } : t,
  );
  const finish = photoFinish({ ...race, trials, summary: { ...race.summary, gainMs: 100 } });
  assert.deepEqual(
    finish.lanes.map((lane) => lane.establishedMs),
    [20, 120],
  );
  assert.equal(finish.caption, 'median of 3 of 4 pairs; this machine was too busy in 1 of 8 trials');
});

test('race: disturbed trials are drawn only if there are no others, and mentioned unless the verdict does so', () => {
  const refused = attempt({
    protocol: 'h3',
    outcome: 'failed',
    error: { code: 'udp-timeout', message: 'm' },
  });
  const disturbed = { ...trial([refused], null), disturbed: 'outcome' as const };
  const reached = trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 5 })]);
  const finish = photoFinish(originRace([disturbed, disturbed, reached]));
  assert.deepEqual([finish.lanes[0].state, finish.lanes[0].tried], ['established', 1]);
  assert.match(finish.caption, /too busy in 2 of 3 trials$/);
  const alone = photoFinish(originRace([disturbed]));
  assert.equal(alone.lanes[0].state, 'failed');
  assert.doesNotMatch(alone.caption, /busy/);
});

const PENNANT = /l9 3\.75l-9 3\.75z/g;

function svgOf(race: Parameters<typeof photoFinish>[0]): string {
  return photoFinishSvg(photoFinish(race), 'x', 368);
}

const raced = originRace([
  trial([
    attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 38 }),
    attempt({ protocol: 'h2', outcome: 'cancelled', startedMs: 10 }),
  ]),
]);

test('a comparison has two flags and its gain; a race one flag, a torn lane and no gain', () => {
  const compared = svgOf(clearComparison(51.8, 112.3));
  assert.equal(compared.match(PENNANT)?.length, 2);
  assert.match(compared, />60 ms</);
  const race = svgOf(raced);
  assert.equal(race.match(PENNANT)?.length, 1);
  assert.match(race, />cancelled</);
  assert.match(race, /started after 10 ms/);
  assert.doesNotMatch(race, /faster/);
});

test('without a clear result there is no flag, no gain and nothing bold', () => {
  const pairs = [14, 15, 13, 14, 15, 13, 14, 15];
  const undecided = svgOf(comparison(pairs, pairs.toReversed()));
  assert.equal(undecided.match(PENNANT), null);
  assert.doesNotMatch(undecided, /paint-order/);
  const weights = (svg: string) => svg.match(/font-weight="\d+"/g)?.length ?? 0;
  assert.equal(weights(undecided), 2, 'the names of the lanes');
  assert.ok(weights(svgOf(clearComparison(51.8, 112.3))) > 2);
});

test('trials beyond the axis are at its end and counted', () => {
  const svg = svgOf(comparison([50, 51, 49, 50, 50, 5000, 52], [100, 101, 99, 2000, 100, 99, 110]));
  assert.equal(svg.match(/>\+1 later</g)?.length, 2);
  const [width] =
    svg
      .match(/viewBox="0 0 (\d+)/)
      ?.slice(1)
      .map(Number) ?? [];
  const places = [...svg.matchAll(/M([\d.]+) \d+v5/g)].map(([, x]) => Number(x));
  assert.equal(places.length, 14);
  assert.ok(places.every((x) => x <= (width ?? 0)));
  assert.equal(Math.max(...places), places[5], 'at the end, not beyond it');
  assert.doesNotMatch(svgOf(clearComparison(51.8, 112.3)), /later</);
});

test('single trials are drawn only if there are several', () => {
  assert.match(svgOf(comparison([49, 51.8, 54], [108, 112.3, 119])), /trials: 49 ms, 51\.8 ms, 54 ms/);
  assert.doesNotMatch(svgOf(raced), />trials: /);
});

test('title and description label the drawing for screen readers', () => {
  const svg = svgOf(clearComparison(11, 21));
  assert.match(svg, /role="img" aria-labelledby="x-title" aria-describedby="x-desc"/);
  assert.match(svg, /<title id="x-title">HTTP\/3 connects 10\.0 ms faster<\/title>/);
  assert.match(
    svg,
    /<desc id="x-desc">HTTP\/3: established after 11\.0 ms, first byte after 22 ms\. HTTP\/2: /,
  );
});

test('nothing in it can run, load or break out, whatever the id is', () => {
  fc.assert(
    fc.property(fc.string(), (id) => {
      const svg = photoFinishSvg(photoFinish(raced), id, 368);
      assert.doesNotMatch(svg, /<(script|style|foreignObject|image|use|a)\b|\son\w+=|href|url\(/i);
      assert.equal(svg.match(/<svg/g)?.length, 1);
      assert.equal(svg.match(/<title id="[^"<>]*">/g)?.length, 1);
    }),
  );
});

test('every coordinate is a number, for any times', () => {
  const time = fc.double({ min: 0, max: 60_000, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(time, time), { minLength: 1, maxLength: 20 }), (pairs) => {
      const svg = svgOf(
        comparison(
          pairs.map((p) => p[0]),
          pairs.map((p) => p[1]),
        ),
      );
      assert.doesNotMatch(svg, /NaN|Infinity|undefined|null/);
    }),
  );
});
