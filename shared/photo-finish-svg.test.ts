import '@photofinish/shared/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { photoFinish } from './photo-finish.ts';
import { photoFinishSvg } from './photo-finish-svg.ts';
import { attempt, comparison, originRace, trial } from './race-samples.fixture.ts';

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
  const compared = svgOf(comparison([49, 51.8, 54], [108, 112.3, 119]));
  assert.equal(compared.match(PENNANT)?.length, 2);
  assert.match(compared, />60\.5 ms</);
  const race = svgOf(raced);
  assert.equal(race.match(PENNANT)?.length, 1);
  assert.match(race, />cancelled</);
  assert.match(race, /started after 10 ms/);
  assert.doesNotMatch(race, /faster/);
});

test('single trials are drawn only where there are several', () => {
  assert.match(svgOf(comparison([49, 51.8, 54], [108, 112.3, 119])), /trials: 49 ms, 51\.8 ms, 54 ms/);
  assert.doesNotMatch(svgOf(raced), />trials: /);
});

test('title and description name the drawing to screen readers', () => {
  const svg = svgOf(comparison([10, 11, 12], [20, 21, 22]));
  assert.match(svg, /role="img" aria-labelledby="x-title" aria-describedby="x-desc"/);
  assert.match(svg, /<title id="x-title">HTTP\/3 connects 10 ms faster<\/title>/);
  assert.match(svg, /<desc id="x-desc">HTTP\/3: established after 11 ms, first byte after 22 ms\. HTTP\/2: /);
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

test('every coordinate is a number, whatever the times', () => {
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
