// Shares by day: stacked columns, with a line or a reference across them, and below them the totals that the shares
// refer to. A day without data is a gap: no column, and the line is interrupted.
import {
  drawing,
  element,
  FONT_PX,
  type Frame,
  INK,
  LINE,
  line,
  MUTED,
  PAPER,
  px,
  text,
} from '@photofinish/shared/drawing/svg';
import { formatNumber } from '@photofinish/shared/language/catalog';
import { dayTicks } from './days.ts';
import { type Band, bandFill, haloText, hatchPattern, shareGrid } from './paint.ts';

/** One day: the bands' counts, and the total they are part of. */
export interface ShareDay {
  /** Counts, in the order of the chart's bands, bottom first. */
  readonly parts: readonly number[];
  readonly of: number;
  /** The value of the line, 0 to 1; null: none for that day. */
  readonly line: number | null;
}

export interface ShareChart extends Omit<Frame, 'heightPx'> {
  /** Every day of the period. */
  readonly days: readonly string[];
  /** By day; null: nothing was recorded. */
  readonly values: readonly (ShareDay | null)[];
  readonly bands: readonly Band[];
  /** A share to compare with, 0 to 1, and its label. */
  readonly reference: { readonly share: number; readonly label: string } | null;
  /** What the lower panel counts, for example "requests a day". */
  readonly ofText: string;
}

/** The plot's layout, in pixels. */
const START_ROOM = 44;
const END_ROOM = 12;
const TOP = 10;
const SHARES_HEIGHT = 160;
const PANEL_GAP = 30;
const PANEL_HEIGHT = 36;
const AXIS_ROOM = 20;
export const SHARE_CHART_HEIGHT = TOP + SHARES_HEIGHT + PANEL_GAP + PANEL_HEIGHT + AXIS_ROOM;
const WIDEST_COLUMN = 32;
/** Columns this wide or wider have gaps; narrower ones would be mostly gap. */
const COLUMN_WITH_AIR = 5;
const ZERO_HEIGHT = 2;
const TICK_ROOM = 64;
/** Up to this number of days each value of the line has a dot. */
const MAX_DOTS = 31;

interface ColumnLayout {
  readonly step: number;
  readonly column: number;
  readonly centre: (index: number) => number;
}

function placeOf(widthPx: number, count: number): ColumnLayout {
  const step = (widthPx - START_ROOM - END_ROOM) / Math.max(1, count);
  const column = Math.min(WIDEST_COLUMN, step >= COLUMN_WITH_AIR ? step * 0.8 : step);
  return { step, column, centre: (index) => START_ROOM + (index + 0.5) * step };
}

/** The day at a horizontal position, or the nearest one. */
export function shareChartIndex(widthPx: number, count: number, x: number): number {
  const { step } = placeOf(widthPx, count);
  return Math.min(count - 1, Math.max(0, Math.floor((x - START_ROOM) / step)));
}

/** The horizontal middle of a day's column. */
export function shareChartX(widthPx: number, count: number, index: number): number {
  return placeOf(widthPx, count).centre(index);
}

function shareY(share: number): number {
  return TOP + SHARES_HEIGHT * (1 - share);
}

function column(place: ColumnLayout, index: number, top: number, bottom: number): string {
  const x = place.centre(index) - place.column / 2;
  return `M${px(x)} ${px(bottom)}V${px(top)}h${px(place.column)}V${px(bottom)}z`;
}

function bandPath(chart: ShareChart, place: ColumnLayout, band: number): string {
  const kind = chart.bands[band];
  const paths = chart.values.map((value, index) => {
    if (value === null || value.of === 0) return '';
    const count = value.parts[band] ?? 0;
    const below = value.parts.slice(0, band).reduce((sum, n) => sum + n, 0);
    const [top, bottom] = [shareY((below + count) / value.of), shareY(below / value.of)];
    // A ratio of zero is still something to show, unlike missing data.
    if (count === 0) return kind === 'plain' ? column(place, index, bottom - ZERO_HEIGHT, bottom) : '';
    return column(place, index, top, bottom);
  });
  const d = paths.join('');
  if (kind === undefined || d === '') return '';
  return element('path', { class: `band ${kind}`, d, ...bandFill(kind, chart.id) });
}

/** The line over consecutive days; a day without a value interrupts it. */
function linePath(chart: ShareChart, place: ColumnLayout): string {
  let pen = 'M';
  const points: string[] = [];
  const dots: string[] = [];
  chart.values.forEach((value, index) => {
    if (value === null || value.line === null) {
      pen = 'M';
      return;
    }
    const at = `${px(place.centre(index))} ${px(shareY(value.line))}`;
    const alone = pen === 'M' && (chart.values[index + 1]?.line ?? null) === null;
    points.push(`${pen}${at}`);
    // A point of zero length with round caps is a dot.
    if (alone || chart.days.length <= MAX_DOTS) dots.push(`M${at}h0`);
    pen = 'L';
  });
  if (points.length === 0) return '';
  const d = points.join('');
  const round = { 'stroke-linecap': 'round' };
  const dotted = dots.join('');
  return element(
    'g',
    { fill: 'none', 'stroke-linejoin': 'round' },
    line(d, PAPER, 4),
    line(d, INK, 1.75, { class: 'line' }),
    dotted && line(dotted, PAPER, 7.5, round) + line(dotted, INK, 5, { class: 'dots', ...round }),
  );
}

function panelSvg(chart: ShareChart, place: ColumnLayout): string {
  const most = Math.max(0, ...chart.values.map((value) => value?.of ?? 0));
  const top = TOP + SHARES_HEIGHT + PANEL_GAP;
  const bottom = top + PANEL_HEIGHT;
  const end = chart.widthPx - END_ROOM;
  const across = (y: number, dashes: string | null) =>
    line(`M${START_ROOM} ${y}H${px(end)}`, LINE, 1, { 'stroke-dasharray': dashes });
  const base = across(bottom, null);
  const words = text(START_ROOM, top - 8, chart.ofText);
  if (most === 0) return base + words;
  const bars = chart.values.map((value, index) =>
    value === null || value.of === 0
      ? ''
      : column(place, index, bottom - (PANEL_HEIGHT * value.of) / most, bottom),
  );
  const label = (y: number, count: string) => text(START_ROOM - 8, y + 4, count, { 'text-anchor': 'end' });
  const labels = label(top, compactNumber(most)) + label(bottom, '0');
  const of = element('path', { class: 'of', d: bars.join(''), fill: MUTED });
  return base + across(top, '1 3') + labels + words + of;
}

/** A count short enough for an axis: up to four digits as they are, larger ones in thousands and millions. */
function compactNumber(value: number): string {
  if (value < 10_000) return formatNumber(value);
  // From here on, thousands would be rounded to a thousand of them.
  return value < 999_500
    ? `${formatNumber(Number((value / 1e3).toPrecision(3)))}k`
    : `${formatNumber(Number((value / 1e6).toPrecision(3)))}M`;
}

function daysAxis(chart: ShareChart, place: ColumnLayout): string {
  const y = SHARE_CHART_HEIGHT - AXIS_ROOM + FONT_PX + 5;
  const most = Math.floor((chart.widthPx - START_ROOM - END_ROOM) / TICK_ROOM);
  return dayTicks(chart.days, most)
    .map(({ index, label }) => {
      const x = place.centre(index);
      const room = 3.2 * label.length;
      const anchor = x + room > chart.widthPx ? 'end' : 'middle';
      const mark = line(`M${px(x)} ${SHARE_CHART_HEIGHT - AXIS_ROOM}v4`, MUTED, 1);
      return mark + text(anchor === 'end' ? chart.widthPx : x, y, label, { 'text-anchor': anchor });
    })
    .join('');
}

function referenceSvg({ reference, widthPx }: ShareChart): string {
  if (reference === null) return '';
  const y = shareY(reference.share);
  const end = widthPx - END_ROOM;
  const look = { class: 'reference', 'stroke-dasharray': '5 4' };
  const across = line(`M${START_ROOM} ${px(y)}H${px(end)}`, INK, 1.25, look);
  return across + haloText(end, y - 5, reference.label, 'end');
}

/** The chart as one SVG element. */
export function shareChartSvg(chart: ShareChart): string {
  const place = placeOf(chart.widthPx, chart.days.length);
  const hatch = chart.bands.includes('hidden') ? element('defs', {}, hatchPattern(chart.id)) : '';
  return drawing(
    'chart',
    { ...chart, heightPx: SHARE_CHART_HEIGHT },
    hatch,
    shareGrid(START_ROOM, chart.widthPx - END_ROOM, shareY),
    ...chart.bands.map((_, band) => bandPath(chart, place, band)),
    referenceSvg(chart),
    linePath(chart, place),
    panelSvg(chart, place),
    daysAxis(chart, place),
  );
}
