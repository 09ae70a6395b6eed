// Shares by day: columns of bands that fill one whole, a line or a reference across them, and under them the number the
// shares are of. A day without data is a gap: no column, and the line breaks.
import { INK, LINE, MUTED, PAPER, px } from '@photofinish/shared/drawing/paint';
import { sayNumber } from '@photofinish/shared/language/words';
import { say } from '../../common/words.ts';
import { dayTicks } from './days.ts';
import { type Band, bandFill, FONT_PX, type Frame, frameSvg, haloText, hatchPattern, text } from './paint.ts';

/** One day: the bands' counts, and what they are counted of. */
export interface ShareDay {
  /** Counts, in the order of the chart's bands, bottom first. */
  readonly parts: readonly number[];
  readonly of: number;
  /** Where the line stands, 0 to 1; null: nothing to say that day. */
  readonly line: number | null;
}

export interface ShareChart extends Omit<Frame, 'heightPx'> {
  /** Every day of the period. */
  readonly days: readonly string[];
  /** By day; null: nothing was recorded. */
  readonly values: readonly (ShareDay | null)[];
  readonly bands: readonly Band[];
  /** A share to compare with, 0 to 1, and its words. */
  readonly reference: { readonly share: number; readonly label: string } | null;
  /** What the lower panel counts, for example "requests a day". */
  readonly ofWords: string;
}

/** The plot's own pixels. */
const START_ROOM = 44;
const END_ROOM = 12;
const TOP = 10;
const SHARES_HEIGHT = 160;
const PANEL_GAP = 30;
const PANEL_HEIGHT = 36;
const AXIS_ROOM = 20;
export const SHARE_CHART_HEIGHT = TOP + SHARES_HEIGHT + PANEL_GAP + PANEL_HEIGHT + AXIS_ROOM;
const WIDEST_COLUMN = 32;
/** Columns this wide or wider stand apart; narrower ones would be mostly air. */
const COLUMN_WITH_AIR = 5;
const ZERO_HEIGHT = 2;
const TICK_ROOM = 64;
/** Up to so many days each value of the line has its dot. */
const MOST_DOTS = 31;
const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1];

interface Place {
  readonly step: number;
  readonly column: number;
  readonly centre: (index: number) => number;
}

function placeOf(widthPx: number, count: number): Place {
  const step = (widthPx - START_ROOM - END_ROOM) / Math.max(1, count);
  const column = Math.min(WIDEST_COLUMN, step >= COLUMN_WITH_AIR ? step * 0.8 : step);
  return { step, column, centre: (index) => START_ROOM + (index + 0.5) * step };
}

/** The day under a horizontal position, or the nearest one. */
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

function column(place: Place, index: number, top: number, bottom: number): string {
  const x = place.centre(index) - place.column / 2;
  return `M${px(x)} ${px(bottom)}V${px(top)}h${px(place.column)}V${px(bottom)}z`;
}

function bandPath(chart: ShareChart, place: Place, band: number): string {
  const kind = chart.bands[band];
  const paths = chart.values.map((value, index) => {
    if (value === null || value.of === 0) return '';
    const count = value.parts[band] ?? 0;
    const below = value.parts.slice(0, band).reduce((sum, n) => sum + n, 0);
    const [top, bottom] = [shareY((below + count) / value.of), shareY(below / value.of)];
    // A ratio of nothing is still something to see, which no data is not.
    if (count === 0) return kind === 'plain' ? column(place, index, bottom - ZERO_HEIGHT, bottom) : '';
    return column(place, index, top, bottom);
  });
  const d = paths.join('');
  return kind === undefined || d === ''
    ? ''
    : `<path class="band ${kind}" d="${d}" ${bandFill(kind, chart.id)}/>`;
}

/** The line over days that follow each other; a day without a value ends it. */
function linePath(chart: ShareChart, place: Place): string {
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
    // A point of no length with round caps is a dot.
    if (alone || chart.days.length <= MOST_DOTS) dots.push(`M${at}h0`);
    pen = 'L';
  });
  if (points.length === 0) return '';
  const d = points.join('');
  const dotted =
    dots.length === 0
      ? ''
      : `<path d="${dots.join('')}" stroke="${PAPER}" stroke-width="7.5" stroke-linecap="round"/><path class="dots" d="${dots.join('')}" stroke="${INK}" stroke-width="5" stroke-linecap="round"/>`;
  return `<g fill="none" stroke-linejoin="round"><path d="${d}" stroke="${PAPER}" stroke-width="4"/><path class="line" d="${d}" stroke="${INK}" stroke-width="1.75"/>${dotted}</g>`;
}

function gridSvg(chart: ShareChart): string {
  const end = chart.widthPx - END_ROOM;
  return SHARE_TICKS.map((share) => {
    const y = shareY(share);
    const words = say('dashboardPercent', { value: 100 * share });
    return `<path d="M${START_ROOM} ${px(y)}H${px(end)}" stroke="${LINE}"/>${text(START_ROOM - 8, y + 4, words, 'text-anchor="end"')}`;
  }).join('');
}

function panelSvg(chart: ShareChart, place: Place): string {
  const most = Math.max(0, ...chart.values.map((value) => value?.of ?? 0));
  const top = TOP + SHARES_HEIGHT + PANEL_GAP;
  const bottom = top + PANEL_HEIGHT;
  const end = chart.widthPx - END_ROOM;
  const base = `<path d="M${START_ROOM} ${bottom}H${px(end)}" stroke="${LINE}"/>`;
  const words = text(START_ROOM, top - 8, chart.ofWords);
  if (most === 0) return base + words;
  const bars = chart.values.map((value, index) =>
    value === null || value.of === 0
      ? ''
      : column(place, index, bottom - (PANEL_HEIGHT * value.of) / most, bottom),
  );
  return `${base}<path d="M${START_ROOM} ${top}H${px(end)}" stroke="${LINE}" stroke-dasharray="1 3"/>${text(START_ROOM - 8, top + 4, compactNumber(most), 'text-anchor="end"')}${text(START_ROOM - 8, bottom + 4, '0', 'text-anchor="end"')}${words}<path class="of" d="${bars.join('')}" fill="${MUTED}"/>`;
}

/** A count short enough for an axis: four figures as they are, more in thousands and millions. */
function compactNumber(value: number): string {
  if (value < 10_000) return sayNumber(value);
  return value < 1e6
    ? `${sayNumber(Number((value / 1e3).toPrecision(3)))}k`
    : `${sayNumber(Number((value / 1e6).toPrecision(3)))}M`;
}

function daysAxis(chart: ShareChart, place: Place): string {
  const y = SHARE_CHART_HEIGHT - AXIS_ROOM + FONT_PX + 5;
  const most = Math.floor((chart.widthPx - START_ROOM - END_ROOM) / TICK_ROOM);
  return dayTicks(chart.days, most)
    .map(({ index, label }) => {
      const x = place.centre(index);
      const room = 3.2 * label.length;
      const anchor = x + room > chart.widthPx ? 'end' : 'middle';
      return `<path d="M${px(x)} ${SHARE_CHART_HEIGHT - AXIS_ROOM}v4" stroke="${MUTED}"/>${text(anchor === 'end' ? chart.widthPx : x, y, label, `text-anchor="${anchor}"`)}`;
    })
    .join('');
}

function referenceSvg({ reference, widthPx }: ShareChart): string {
  if (reference === null) return '';
  const y = shareY(reference.share);
  const end = widthPx - END_ROOM;
  return `<path class="reference" d="M${START_ROOM} ${px(y)}H${px(end)}" stroke="${INK}" stroke-width="1.25" stroke-dasharray="5 4"/>${haloText(end, y - 5, reference.label, 'end')}`;
}

/** The chart as one SVG element. */
export function shareChartSvg(chart: ShareChart): string {
  const place = placeOf(chart.widthPx, chart.days.length);
  const bands = chart.bands.map((_, band) => bandPath(chart, place, band)).join('');
  const hatch = chart.bands.includes('hidden') ? `<defs>${hatchPattern(chart.id)}</defs>` : '';
  const body = `${hatch}${gridSvg(chart)}${bands}${referenceSvg(chart)}${linePath(chart, place)}${panelSvg(chart, place)}${daysAxis(chart, place)}`;
  return frameSvg({ ...chart, heightPx: SHARE_CHART_HEIGHT }, body);
}
