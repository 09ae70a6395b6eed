// The plots of the page: lines over load or hit ratio with a whisker from the 10th to the 90th percentile at each point.
// SVG text only, in the colours of the page's theme.
import { markPaint } from '@photofinish/shared/marks';
import { escapeMarkup } from '@photofinish/shared/markup';
import { LINE, px } from '@photofinish/shared/paint';
import { formatNumber } from '../results/goal-row.ts';
import { figure } from '../results/page-frame.ts';
import { frameSvg, line, type Sign, signMarkup, signOf, signSvg, text } from '../results/plots/drawing.ts';
import type { Spread } from './summary.ts';

export interface PlotPoint {
  readonly x: number;
  readonly y: Spread;
}

export interface PlotSeries {
  readonly name: string;
  readonly sign: Sign;
  readonly points: readonly PlotPoint[];
  /** Drawn in place of what joins the points. */
  readonly fit?: { readonly slope: number; readonly intercept: number };
}

export interface Plot {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly series: readonly PlotSeries[];
}

const WIDTH = 460;
const HEIGHT = 270;
const ROOM = { left: 46, right: 14, top: 26, bottom: 40 };
const TICKS = 5;
/** Series of one x stand beside each other, or their whiskers would hide each other. */
const ASIDE_PX = 5;
const CAP_PX = 3;
const MIDDLE = { anchor: 'middle' } as const;

/** Who a series is about. */
export const SIGNS = { h2: signOf('h2', 1), h3: signOf('h3', 0), both: signOf('h1', 2) } as const;

/** A round number so that at most `TICKS` of it reach the value (1, 2 or 5 times a power of ten). */
export function tickStep(most: number): number {
  const rough = most / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) as number) * power;
}

interface Scale {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

function grid(plot: Plot, xs: readonly number[], topY: number, { x, y }: Scale): string {
  const step = tickStep(topY);
  const count = Math.floor(topY / step + 1e-9);
  const rows = Array.from({ length: count + 1 }, (_, index) => index * step).map(
    (value) =>
      `${line(ROOM.left, y(value), WIDTH - ROOM.right, y(value), LINE)}${text(ROOM.left - 6, y(value) + 4, formatNumber(value), { anchor: 'end' })}`,
  );
  const ticks = xs.map((value) => text(x(value), HEIGHT - ROOM.bottom + 16, formatNumber(value), MIDDLE));
  return [
    ...rows,
    ...ticks,
    text((ROOM.left + WIDTH - ROOM.right) / 2, HEIGHT - 6, plot.xTitle, MIDDLE),
    text(4, 14, plot.yTitle),
  ].join('');
}

function drawSeries({ sign, points, fit }: PlotSeries, aside: number, { x, y }: Scale): string {
  const paint = markPaint(sign.mark);
  const at = (value: number) => x(value) + aside;
  const height = (point: PlotPoint) =>
    y(fit === undefined ? point.y.median : fit.intercept + fit.slope * point.x);
  const path = points.map((point) => `${px(at(point.x))} ${px(height(point))}`).join('L');
  const dashes = fit === undefined ? '' : ' stroke-dasharray="5 3"';
  const whiskers = points.map(({ x: value, y: spread }) => {
    const [left, low, high] = [at(value) - CAP_PX, y(spread.p10), y(spread.p90)].map(px);
    const caps = `M${left} ${low}h${2 * CAP_PX}M${left} ${high}h${2 * CAP_PX}`;
    return `<path d="M${px(at(value))} ${low}V${high}${caps}" stroke="${paint}" stroke-width="1.3"/>`;
  });
  const marks = points.map((point) => signSvg(sign, at(point.x), y(point.y.median)));
  return `<path d="M${path}" fill="none" stroke="${paint}" stroke-width="1.3"${dashes}/>${whiskers.join('')}${marks.join('')}`;
}

/** The plot with its legend as markup; empty where no series has a point. */
export function plotMarkup(plot: Plot): string {
  const series = plot.series.filter(({ points }) => points.length > 0);
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return '';
  const xs = [...new Set(points.map((point) => point.x))].toSorted((a, b) => a - b);
  const topY = 1.05 * Math.max(...points.map(({ y }) => y.p90));
  const [from, to] = [Math.min(0, ...xs), Math.max(...xs)];
  const margin = ASIDE_PX * series.length;
  const width = WIDTH - ROOM.left - ROOM.right - 2 * margin;
  const scale: Scale = {
    x: (value) => ROOM.left + margin + (to === from ? width / 2 : ((value - from) / (to - from)) * width),
    y: (value) => HEIGHT - ROOM.bottom - (value / topY) * (HEIGHT - ROOM.top - ROOM.bottom),
  };
  const body = series.map((one, index) =>
    drawSeries(one, (index - (series.length - 1) / 2) * ASIDE_PX, scale),
  );
  const said = series.map(
    (one) =>
      `${one.name}: ${one.points.map((point) => `${formatNumber(point.x)}: ${formatNumber(point.y.median)}`).join(', ')}`,
  );
  const frame = {
    id: plot.id,
    widthPx: WIDTH,
    heightPx: HEIGHT,
    title: plot.title,
    description: said.join('. '),
  };
  const legend = series.map(({ name, sign }) => `<span>${signMarkup(sign)}${escapeMarkup(name)}</span>`);
  const drawing = frameSvg(frame, grid(plot, xs, topY, scale) + body.join(''));
  return figure(plot.title, `<span class="legend">${legend.join('')}</span>`, drawing);
}
