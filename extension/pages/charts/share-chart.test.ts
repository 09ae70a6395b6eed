// The chart of shares: drawn to scale, gaps stay gaps, and every drawing is labelled, well formed and free of injected
// markup.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { daysBetween } from './days.ts';
import {
  type ShareChart,
  type ShareDay,
  shareChartIndex,
  shareChartSvg,
  shareChartX,
} from './share-chart.ts';

const DAYS = daysBetween('2026-11-01', '2026-11-04');

function chart(values: readonly (ShareDay | null)[], more: Partial<ShareChart> = {}): ShareChart {
  return {
    id: 'c',
    widthPx: 600,
    title: 'Title',
    description: 'Description',
    days: DAYS,
    values,
    bands: ['h3', 'older', 'hidden'],
    reference: null,
    ofText: 'requests a day',
    ...more,
  };
}

const day = (h3: number, older: number, hidden: number): ShareDay => ({
  parts: [h3, older, hidden],
  of: h3 + older + hidden,
  line: h3 + older === 0 ? null : h3 / (h3 + older),
});

/** Heights of the columns of a band, left to right. */
function heights(svg: string, band: string): number[] {
  const path = new RegExp(`class="${band}" d="([^"]*)"`).exec(svg)?.[1] ?? '';
  return [...path.matchAll(/M[\d.]+ ([\d.]+)V([\d.]+)/g)].map(
    ([, bottom, top]) => Number(bottom) - Number(top),
  );
}

test('bands fill the whole in proportion', () => {
  const svg = shareChartSvg(chart([day(1, 2, 1), null, null, day(0, 4, 0)]));
  const [h3 = 0, ...restH3] = heights(svg, 'band h3');
  const [older = 0, oldest = 0] = heights(svg, 'band older');
  const [hidden = 0] = heights(svg, 'band hidden');
  assert.deepEqual(restH3, [], 'no column for nothing');
  assert.equal(older, 2 * h3);
  assert.equal(hidden, h3);
  assert.equal(oldest, h3 + older + hidden);
});

test('a day without data has no column, and interrupts the line', () => {
  const svg = shareChartSvg(chart([day(1, 1, 0), null, day(1, 1, 0), day(2, 1, 0)]));
  assert.equal(heights(svg, 'of').length, 3);
  const line = /class="line" d="([^"]*)"/.exec(svg)?.[1] ?? '';
  assert.equal(line.match(/M/g)?.length, 2, line);
  assert.equal(line.match(/L/g)?.length, 1, line);
});

test('a day with only hidden answers has no point on the line', () => {
  const svg = shareChartSvg(chart([day(0, 0, 5), null, null, null]));
  assert.doesNotMatch(svg, /class="line"/);
  assert.equal(heights(svg, 'band hidden').length, 1);
});

test('a ratio of zero is visible, a day without data is not', () => {
  const none = { parts: [0], of: 5, line: null };
  const svg = shareChartSvg(
    chart([none, null, null, { parts: [5], of: 5, line: null }], { bands: ['plain'] }),
  );
  assert.deepEqual(heights(svg, 'band plain'), [2, 160]);
});

test('the reference line is at its share, with its label', () => {
  const svg = shareChartSvg(
    chart([day(1, 1, 0), null, null, null], { reference: { share: 0.5, label: 'half & half' } }),
  );
  assert.match(svg, /class="reference"/);
  assert.match(svg, />half &amp; half</);
  const grid = /d="M44 ([\d.]+)H[\d.]+"[^>]*\/><text[^>]*>50 %</.exec(svg)?.[1];
  assert.equal(/class="reference" d="M44 ([\d.]+)H/.exec(svg)?.[1], grid);
});

test('every drawing is labelled, its tags close, and no text breaks out of it', () => {
  const count = fc.integer({ min: 0, max: 1e9 });
  const days = fc.option(fc.tuple(count, count, count).map(([a, b, c]) => day(a, b, c)));
  fc.assert(
    fc.property(
      fc.array(days, { minLength: 4, maxLength: 4 }),
      fc.string(),
      fc.integer({ min: 260, max: 2000 }),
      (values, text, widthPx) => {
        const svg = shareChartSvg(chart(values, { title: text, description: text, ofText: text, widthPx }));
        assert.match(svg, /^<svg [^>]*role="img" aria-labelledby="c-title" aria-describedby="c-desc"/);
        assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
        const open: string[] = [];
        for (const [, close, name = '', self] of svg.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
          if (close) assert.equal(open.pop(), name);
          else if (!self) open.push(name);
        }
        assert.deepEqual(open, []);
      },
    ),
  );
});

test('a position on the chart converts to its day, and the day back to the position', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 260, max: 2000 }),
      fc.nat(399),
      (count, width, any) => {
        const index = any % count;
        assert.equal(shareChartIndex(width, count, shareChartX(width, count, index)), index);
      },
    ),
  );
});
