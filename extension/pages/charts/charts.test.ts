// The charts and their days. Shares: drawn to scale, gaps stay gaps, and every drawing is labelled, well formed and free
// of injected markup.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DAY_MS, dayOf, daysBetween } from '../../common/records/schema.ts';
import { useLanguage } from '../../testing/catalogs.ts';
import { dayStartMs, dayTicks } from './days.ts';
import { countUpTo, type EcdfChart, ecdfAxisMs, ecdfChartSvg, ecdfMs, ecdfX } from './ecdf-chart.ts';
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

test('a total is short enough for its axis', () => {
  const label = (of: number) =>
    />([^<]*)<\/text><text[^>]*>0<\/text>/.exec(shareChartSvg(chart([day(of, 0, 0), null, null, null])))?.[1];
  assert.deepEqual([9999, 12_345, 999_499, 999_500].map(label), ['9,999', '12.3k', '999k', '1M']);
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

// Distributions: every trial counts, medians are at their positions, and what is beyond the axis is known.

const times = fc
  .array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 1, maxLength: 200 })
  .map((values) => values.toSorted((a, b) => a - b));

function distribution(h3: readonly number[], h2: readonly number[], widthPx = 500): EcdfChart {
  const series = [
    { mark: 'h3', valuesMs: h3 },
    { mark: 'h2', valuesMs: h2 },
  ] as const;
  return { id: 'e', widthPx, title: 'T', description: 'D', series, maxMs: ecdfAxisMs(series) };
}

test('one late trial of a single comparison does not determine the axis', () => {
  const late = [10, 11, 11, 12, 12, 12, 13, 13, 14, 3000];
  assert.ok(distribution(late, late).maxMs < 30);
  assert.ok(distribution(late.slice(0, 9), [50]).maxMs > 50);
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
      const { maxMs } = distribution(h3, h2);
      for (const sorted of [h3, h2]) assert.ok(countUpTo(sorted, maxMs) >= Math.floor(0.95 * sorted.length));
    }),
  );
});

test('one slow trial does not squeeze the others into a corner', () => {
  const fast = Array.from({ length: 99 }, (_, i) => 10 + i / 10);
  const { maxMs } = distribution([...fast, 3000], fast);
  assert.ok(maxMs < 50, String(maxMs));
});

test('a curve rises to one, at the position of its last trial', () => {
  const svg = ecdfChartSvg(distribution([10, 20, 40], []));
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
  const svg = ecdfChartSvg(distribution([10, 20, 40], [30, 50, 90]));
  assert.match(svg, />H3 20 ms</);
  assert.match(svg, />H2 50 ms</);
});

test('the labels of a time axis share one unit, and are numbers of the language', (t) => {
  t.after(() => useLanguage('en'));
  const labels = (ms: number) =>
    [...ecdfChartSvg(distribution([ms], [])).matchAll(/text-anchor="middle"[^>]*>([^<]*)</g)].map(
      ([, label]) => label,
    );
  assert.deepEqual(labels(1800), ['0', '500', '1,000', '1,500 ms']);
  useLanguage('de');
  assert.deepEqual(labels(1), ['0', '0,5', '1 ms']);
});

test('positions and times convert both ways', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 260, max: 2000 }),
      (share, widthPx) => {
        const axis = { widthPx, maxMs: 250 };
        assert.ok(Math.abs(ecdfMs(axis, ecdfX(axis)(share * 250)) - share * 250) < 1e-9);
      },
    ),
  );
});

// UTC days: none is lost or doubled, and labels never overlap.

const instants = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2060, 0, 1) });

test('days are consecutive without a gap, ends included', () => {
  fc.assert(
    fc.property(instants, fc.integer({ min: 0, max: 800 }), (startMs, more) => {
      const days = daysBetween(dayOf(startMs), dayOf(startMs + more * DAY_MS));
      assert.equal(days.length, more + 1);
      assert.equal(days[0], dayOf(startMs));
      for (const [i, day] of days.entries())
        assert.equal(dayStartMs(day), dayStartMs(days[0] ?? '') + i * DAY_MS);
    }),
  );
});

test('reversed days give none', () => {
  assert.deepEqual(daysBetween('2026-11-21', '2026-11-20'), []);
});

test('there are never more labels than requested', () => {
  fc.assert(
    fc.property(
      instants,
      fc.integer({ min: 0, max: 800 }),
      fc.integer({ min: 1, max: 30 }),
      (startMs, more, most) => {
        const days = daysBetween(dayOf(startMs), dayOf(startMs + more * DAY_MS));
        const ticks = dayTicks(days, most);
        assert.ok(ticks.length <= most, `${ticks.length} of ${most}`);
        assert.ok(ticks.every(({ index }) => days[index] !== undefined));
      },
    ),
  );
});

test('weeks are counted from the newest day, months from their first', () => {
  const month = daysBetween('2026-10-23', '2026-11-21');
  assert.equal(dayTicks(month, 5).at(-1)?.index, month.length - 1);
  const year = daysBetween('2025-10-18', '2026-11-21');
  const ticks = dayTicks(year, 14);
  assert.ok(ticks.every(({ index }) => year[index]?.endsWith('-01')));
  assert.match(ticks.map(({ label }) => label).join(), /2026/, 'January says its year');
  const few = dayTicks(year, 4).map(({ label }) => label);
  assert.deepEqual(few, ['Nov', 'Mar 2026', 'Jul', 'Nov'], 'so does the first label after it');
});
