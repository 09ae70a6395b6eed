// Estimates with their intervals over a few settings: every client a sign, every interval a whisker, side by side within
// a setting so that none hides another.
import { markPaint } from '@photofinish/shared/marks';
import { INK, LINE, PAPER, px } from '@photofinish/shared/paint';
import { type Estimate, formatNumber } from '../goal-row.ts';
import { type Frame, frameSvg, line, type Sign, signSvg, text } from './drawing.ts';

export interface PointSeries {
  readonly sign: Sign;
  /** One for each setting; null: not measured. */
  readonly points: readonly (Estimate | null)[];
}

export interface PointPlot extends Omit<Frame, 'heightPx'> {
  /** What the settings are. */
  readonly settings: readonly string[];
  readonly xTitle: string;
  readonly yTitle: string;
  readonly ticks: readonly number[];
  /** Written behind each tick. */
  readonly unit?: string;
  readonly series: readonly PointSeries[];
  /** A value for each setting to compare with, drawn as a dashed step; `yTitle` says what it is. */
  readonly reference?: readonly number[];
}

const ROOM = { left: 52, right: 12, top: 26, bottom: 40 };
const PLOT_PX = 250;
/** Between signs of one setting, at most. */
const APART_PX = 15;
const FLOOR_SHARE = 0.86;

interface Scales {
  readonly x: (setting: number, nth?: number) => number;
  readonly y: (value: number) => number;
  readonly top: number;
}

function scalesOf({ widthPx, settings, series, ticks }: PointPlot): Scales {
  const [bottom, top] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const step = (widthPx - ROOM.left - ROOM.right) / settings.length;
  const apart = Math.min(APART_PX, (FLOOR_SHARE * step) / Math.max(1, series.length));
  return {
    x: (setting, nth) =>
      ROOM.left + step * (setting + 0.5) + (nth === undefined ? 0 : apart * (nth - (series.length - 1) / 2)),
    y: (value) =>
      ROOM.top + PLOT_PX * (1 - (Math.min(top, Math.max(bottom, value)) - bottom) / (top - bottom)),
    top,
  };
}

function pointSvg({ x, y, top }: Scales, { sign, points }: PointSeries, nth: number): string {
  return points
    .map((point, setting) => {
      if (point === null || Number.isNaN(point.value)) return '';
      const at = x(setting, nth);
      // Beyond the axis only an arrow and the value itself are honest.
      if (point.value > top)
        return `<path d="M${px(at - 4)} ${ROOM.top + 6}L${px(at)} ${ROOM.top - 1}L${px(at + 4)} ${ROOM.top + 6}" fill="none" stroke="${markPaint(sign.mark)}" stroke-width="1.6"/>${text(at, ROOM.top - 6, formatNumber(Number(point.value.toPrecision(3))), { anchor: 'middle' })}`;
      const [low, high] = [y(point.low), y(point.high)];
      const caps = `M${px(at - 3)} ${px(low)}h6M${px(at)} ${px(low)}V${px(high)}M${px(at - 3)} ${px(high)}h6`;
      return `<path d="${caps}" fill="none" stroke="${PAPER}" stroke-width="3.5"/><path d="${caps}" fill="none" stroke="${markPaint(sign.mark)}" stroke-width="1.3"/>${signSvg(sign, at, y(point.value))}`;
    })
    .join('');
}

function gridSvg(plot: PointPlot, { x, y }: Scales): string {
  const { widthPx, ticks, unit = '', settings } = plot;
  const end = widthPx - ROOM.right;
  const floor = ROOM.top + PLOT_PX;
  const shares = ticks.map((tick) => {
    const label = unit === '' ? formatNumber(tick) : `${formatNumber(tick)} ${unit}`;
    return `${line(ROOM.left, y(tick), end, y(tick), LINE)}${text(ROOM.left - 8, y(tick) + 4, label, { anchor: 'end' })}`;
  });
  const names = settings.map((setting, index) =>
    text(x(index), floor + 16, setting, { anchor: 'middle', strong: true }),
  );
  const half = (x(1) - x(0)) / 2;
  const between = settings
    .slice(1)
    .map((_, index) =>
      line(x(index) + half, ROOM.top, x(index) + half, floor, LINE, 'stroke-dasharray="2 3"'),
    );
  return [
    ...shares,
    ...between,
    ...names,
    text(x(0) - half, 11, plot.yTitle),
    text((ROOM.left + end) / 2, floor + 34, plot.xTitle, { anchor: 'middle' }),
  ].join('');
}

/** A step for each setting, as wide as its signs stand. */
function referenceSvg({ reference }: PointPlot, { x, y, top }: Scales): string {
  if (reference === undefined) return '';
  const half = (x(1) - x(0)) / 2;
  const steps = reference.flatMap((value, setting) =>
    value > top
      ? []
      : line(
          x(setting) - half + 2,
          y(value),
          x(setting) + half - 2,
          y(value),
          INK,
          'stroke-width="1.3" stroke-dasharray="6 3"',
        ),
  );
  return steps.join('');
}

/** The plot as one SVG element; a value beyond the last tick is an arrow with its figure. */
export function pointPlotSvg(plot: PointPlot): string {
  const scales = scalesOf(plot);
  const points = plot.series.map((series, nth) => pointSvg(scales, series, nth));
  const heightPx = ROOM.top + PLOT_PX + ROOM.bottom;
  return frameSvg(
    { ...plot, heightPx },
    gridSvg(plot, scales) + referenceSvg(plot, scales) + points.join(''),
  );
}
