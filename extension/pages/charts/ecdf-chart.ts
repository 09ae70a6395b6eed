// Distributions of times as empirical cumulative distribution functions: for every time the share of trials completed
// by then. Medians are marked on the curves; slow trials beyond the axis are counted in words, never dropped silently.
import {
  axisTicks,
  drawing,
  element,
  FONT_PX,
  type Frame,
  line,
  MUTED,
  markPaint,
  PAPER,
  px,
  text,
} from '@photofinish/shared/drawing/svg';
import { formatNumber, getMessage } from '@photofinish/shared/language/catalog';
import { formatMs } from '@photofinish/shared/language/markup';
import { median, percentile } from '@photofinish/shared/race/statistics';
import { MARK_LABELS, type Mark } from '@photofinish/shared/web/protocol';
import { haloText, shareGrid } from './paint.ts';

export interface EcdfSeries {
  readonly mark: Mark;
  /** Milliseconds, sorted ascending. */
  readonly valuesMs: readonly number[];
}

export interface EcdfChart extends Omit<Frame, 'heightPx'> {
  /** The first is drawn solid, the second dashed. */
  readonly series: readonly EcdfSeries[];
  /** The end of the axis in milliseconds; the same for charts shown side by side. */
  readonly maxMs: number;
}

const START_ROOM = 44;
const END_ROOM = 16;
const TOP = 40;
/** Medians are labelled above the plot, each on a line of its own so that close ones never overlap. */
const MEDIAN_LINE = 15;
const MEDIAN_ROOM = 84;
const PLOT_HEIGHT = 150;
const AXIS_ROOM = 22;
export const ECDF_CHART_HEIGHT = TOP + PLOT_HEIGHT + AXIS_ROOM;
/** The axis ends where nearly all trials are done, unless the slowest are only slightly later. */
const NEARLY_ALL = 0.95;
const NOT_FAR = 2;
const DASHES = [null, '6 3'];

/** Where the axis for these trials ends, in milliseconds. */
export function ecdfAxisMs(series: readonly EcdfSeries[]): number {
  const ends = series
    .filter(({ valuesMs }) => valuesMs.length > 0)
    .map(({ valuesMs }) => {
      // Rounded down, so that even among few trials a single late one is beyond it.
      const nearlyAll = valuesMs[Math.max(1, Math.floor(NEARLY_ALL * valuesMs.length)) - 1] ?? 0;
      return Math.min(percentile(valuesMs, 1), NOT_FAR * nearlyAll);
    });
  return Math.max(1, ...ends) * 1.04;
}

/** How many of the sorted values are at most `ms`. */
export function countUpTo(sorted: readonly number[], ms: number): number {
  const beyond = sorted.findIndex((value) => value > ms);
  return beyond === -1 ? sorted.length : beyond;
}

/** The horizontal positions of times. */
export function ecdfX(chart: Pick<EcdfChart, 'widthPx' | 'maxMs'>): (ms: number) => number {
  const room = chart.widthPx - START_ROOM - END_ROOM;
  return (ms) => START_ROOM + (room * Math.min(ms, chart.maxMs)) / chart.maxMs;
}

/** The time at a horizontal position, within the axis. */
export function ecdfMs(chart: Pick<EcdfChart, 'widthPx' | 'maxMs'>, x: number): number {
  const share = (x - START_ROOM) / (chart.widthPx - START_ROOM - END_ROOM);
  return chart.maxMs * Math.min(1, Math.max(0, share));
}

const y = (share: number): number => TOP + PLOT_HEIGHT * (1 - share);

/** Steps, one for each screen position where the curve rises: a thousand trials do not need a thousand steps. */
function steps(chart: EcdfChart, valuesMs: readonly number[]): string {
  const x = ecdfX(chart);
  let d = `M${px(x(0))} ${px(y(0))}`;
  let drawn = '';
  valuesMs.forEach((ms, i) => {
    if (ms > chart.maxMs) return;
    const next = valuesMs[i + 1];
    const at = px(x(ms));
    if (next !== undefined && next <= chart.maxMs && px(x(next)) === at) return;
    d += `H${at}V${px(y((i + 1) / valuesMs.length))}`;
    drawn = at;
  });
  return drawn === '' ? d : `${d}H${px(x(chart.maxMs))}`;
}

function seriesSvg(chart: EcdfChart, { mark, valuesMs }: EcdfSeries, index: number): string {
  if (valuesMs.length === 0) return '';
  const d = steps(chart, valuesMs);
  const stroke = {
    stroke: markPaint(mark),
    'stroke-width': '2.25',
    'stroke-dasharray': DASHES[index] ?? null,
  };
  const curve = element('path', { class: `curve ${mark}`, d, ...stroke });
  return element('g', { fill: 'none', 'stroke-linejoin': 'round' }, line(d, PAPER, 4.5), curve);
}

/** Medians as labels above the plot, each with a line down to it. */
function mediansSvg(chart: EcdfChart): string {
  const x = ecdfX(chart);
  const flags = chart.series.map(({ mark, valuesMs }, row) => {
    const ms = median(valuesMs);
    if (ms === null) return '';
    const at = x(ms);
    const y1 = FONT_PX + row * MEDIAN_LINE;
    const anchor = at > chart.widthPx - MEDIAN_ROOM ? 'end' : 'start';
    const drop = line(`M${px(at)} ${y1 - 8}V${px(y(0))}`, markPaint(mark), 1, { 'stroke-dasharray': '2 3' });
    const words = `${MARK_LABELS[mark]} ${formatMs(ms)}`;
    return element(
      'g',
      { class: 'median' },
      drop,
      haloText(at + (anchor === 'end' ? -5 : 5), y1, words, anchor),
    );
  });
  return flags.join('');
}

function axisSvg(chart: EcdfChart): string {
  const x = ecdfX(chart);
  const ticks = axisTicks(chart.maxMs);
  const times = ticks.map((ms, i) => {
    // All ticks share the unit of the last, which is the only one to say it.
    const label = i === ticks.length - 1 ? getMessage('milliseconds', { value: ms }) : formatNumber(ms);
    const mark = line(`M${px(x(ms))} ${px(y(0))}v4`, MUTED, 1);
    return mark + text(x(ms), y(0) + FONT_PX + 6, label, { 'text-anchor': 'middle' });
  });
  return times.join('');
}

/** The chart as one SVG element. */
export function ecdfChartSvg(chart: EcdfChart): string {
  const curves = chart.series.map((series, i) => seriesSvg(chart, series, i)).toReversed();
  const grid = shareGrid(START_ROOM, chart.widthPx - END_ROOM, y);
  const frame = { ...chart, heightPx: ECDF_CHART_HEIGHT };
  return drawing('chart', frame, grid, axisSvg(chart), ...curves, mediansSvg(chart));
}
