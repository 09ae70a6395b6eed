// Plots put every value where it belongs, and say what they cannot show.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { signOf } from './drawing.ts';
import { pointPlotSvg } from './point-plot.ts';
import { bins, stripPlotSvg } from './strip-plot.ts';

const FRAME = { id: 'plot', title: 'title', description: 'description', widthPx: 600 };
const SIGN = signOf('h3', 0);
const estimate = (value: number) => ({ value, low: value - 1, high: value + 1 });

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;
const signs = (svg: string) => count(svg, /<path transform="translate/g);

test('the first twelve of a kind have signs of their own', () => {
  const all = Array.from({ length: 12 }, (_, nth) => JSON.stringify(signOf('h2', nth)));
  assert.equal(new Set(all).size, 12);
});

describe('estimates by setting', () => {
  const plot = (points: (ReturnType<typeof estimate> | null)[]) =>
    pointPlotSvg({
      ...FRAME,
      settings: ['0', '50'],
      xTitle: 'x',
      yTitle: 'y',
      ticks: [0, 5, 10],
      series: [{ sign: SIGN, points }],
      reference: [2, 2],
    });

  test('have a sign each, and none where nothing was measured', () => {
    assert.equal(signs(plot([estimate(3), estimate(4)])), 2);
    assert.equal(signs(plot([estimate(3), null])), 1);
    assert.equal(signs(plot([estimate(Number.NaN), null])), 0);
  });

  test('beyond the axis are told by their figure', () => {
    const svg = plot([estimate(3), estimate(56.28)]);
    assert.equal(signs(svg), 1);
    assert.match(svg, />56.3</);
  });

  test('stand the higher, the larger they are', () => {
    const [[, low] = [], [, high] = []] = plot([estimate(3), estimate(8)]).matchAll(
      /<path transform="translate\([\d.]+ ([\d.]+)\)/g,
    );
    assert.ok(Number(low) > Number(high));
  });
});

describe('strips', () => {
  const strip = (valuesMs: readonly number[], failed = 0) =>
    stripPlotSvg({
      ...FRAME,
      strips: [{ label: 'race', sign: SIGN, valuesMs, failed }],
      fromMs: 0.5,
      toMs: 100,
    });

  test('hold every value in a bin', () => {
    const counts = bins([1, 1.2, 3, 99, 100], (ms) => ms);
    assert.deepEqual(
      [...counts.entries()],
      [
        [0, 2],
        [2, 1],
        [98, 1],
        [100, 1],
      ],
    );
  });

  test('name the median, of failed trials too', () => {
    assert.match(strip([1, 2, 3]), />2 ms</);
    assert.match(strip([1, 2, 3], 2), />3 ms, 2 failed</);
    assert.match(strip([1], 3), />most failed, 3 failed</);
    assert.match(strip([], 3), />most failed, 3 failed</);
  });

  test('without anything told say so', () => {
    assert.match(strip([]), />not told</);
  });

  test('draw nothing outside of the axis', () => {
    const places = [...strip([0, 0.01, 50, 100]).matchAll(/M(\d+) [\d.]+h2/g)].map(([, x]) => Number(x));
    assert.equal(places.length, 3);
    for (const place of places) assert.ok(place > 40 && place <= 470, String(place));
  });
});
