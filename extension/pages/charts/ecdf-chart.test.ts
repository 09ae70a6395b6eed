// Distributions: every trial counts, medians are at their positions, and what is beyond the axis is known.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countUpTo, type EcdfChart, ecdfAxisMs, ecdfChartSvg, ecdfMs, ecdfX } from './ecdf-chart.ts';

const times = fc
  .array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 1, maxLength: 200 })
  .map((values) => values.toSorted((a, b) => a - b));

function chart(h3: readonly number[], h2: readonly number[], widthPx = 500): EcdfChart {
  const series = [
    { mark: 'h3', valuesMs: h3 },
    { mark: 'h2', valuesMs: h2 },
  ] as const;
  return { id: 'e', widthPx, title: 'T', description: 'D', series, maxMs: ecdfAxisMs(series) };
}

test('one late trial of a single comparison does not determine the axis', () => {
  const late = [10, 11, 11, 12, 12, 12, 13, 13, 14, 3000];
  assert.ok(chart(late, late).maxMs < 30);
  assert.ok(chart(late.slice(0, 9), [50]).maxMs > 50);
});

test('counting up to a time agrees with checking each value', () => {
  fc.assert(
    fc.property(times, fc.double({ min: -1, max: 6000, noNaN: true }), (sorted, ms) => {
      assert.equal(countUpTo(sorted, ms), sorted.filter((value) => value <= ms).length);
    }),
  );
});

test('nearly all trials are on the axis', () => {
  fc.assert(
    fc.property(times, times, (h3, h2) => {
      const { maxMs } = chart(h3, h2);
      for (const sorted of [h3, h2]) assert.ok(countUpTo(sorted, maxMs) >= Math.floor(0.95 * sorted.length));
    }),
  );
});

test('one slow trial does not squeeze the others into a corner', () => {
  const fast = Array.from({ length: 99 }, (_, i) => 10 + i / 10);
  const { maxMs } = chart([...fast, 3000], fast);
  assert.ok(maxMs < 50, String(maxMs));
});

test('a curve rises to one, at the position of its last trial', () => {
  const svg = ecdfChartSvg(chart([10, 20, 40], []));
  const d = /class="curve h3" d="([^"]*)"/.exec(svg)?.[1] ?? '';
  const rises = [...d.matchAll(/V([\d.]+)/g)].map(([, y]) => Number(y));
  assert.equal(rises.length, 3);
  assert.deepEqual(
    rises,
    rises.toSorted((a, b) => b - a),
  );
  assert.equal(rises.at(-1), 40, 'the top of the plot');
  assert.doesNotMatch(svg, /class="curve h2"/, 'nothing measured, nothing drawn');
});

test('medians are written on the drawing', () => {
  const svg = ecdfChartSvg(chart([10, 20, 40], [30, 50, 90]));
  assert.match(svg, />H3 20 ms</);
  assert.match(svg, />H2 50 ms</);
});

test('positions and times convert both ways', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 260, max: 2000 }),
      (share, widthPx) => {
        const axis = { widthPx, maxMs: 250 };
        assert.ok(Math.abs(ecdfMs(axis, ecdfX(axis, share * 250)) - share * 250) < 1e-9);
      },
    ),
  );
});
