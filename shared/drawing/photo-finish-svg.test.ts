import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attempt, clearComparison, comparison, originRace, trial } from '../testing/race-samples.ts';
import { photoFinish } from './photo-finish.ts';
import { photoFinishSvg } from './photo-finish-svg.ts';

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

test('a comparison has two flags and its margin; a race one flag, a torn lane and no margin', () => {
  const compared = svgOf(clearComparison(51.8, 112.3));
  assert.equal(compared.match(PENNANT)?.length, 2);
  assert.match(compared, />60 ms</);
  const race = svgOf(raced);
  assert.equal(race.match(PENNANT)?.length, 1);
  assert.match(race, />cancelled</);
  assert.match(race, /started after 10 ms/);
  assert.doesNotMatch(race, /faster/);
});

test('without a clear result there is no flag, no margin and nothing bold', () => {
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
