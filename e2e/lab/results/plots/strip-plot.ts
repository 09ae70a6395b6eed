// The distribution of times, one strip for each client on one logarithmic axis: every trial is in it, the median is
// marked and named. Failed trials stand at the end, apart.
import { markPaint } from '@photofinish/shared/marks';
import { INK, LINE, MUTED, PAPER, px } from '@photofinish/shared/paint';
import { median } from '@photofinish/shared/statistics';
import { formatNumber } from '../goal-row.ts';
import { type Frame, frameSvg, line, type Sign, signSvg, text } from './drawing.ts';

export interface Strip {
  readonly label: string;
  readonly sign: Sign;
  /** Of trials that did not fail, ms. */
  readonly valuesMs: readonly number[];
  readonly failed: number;
  /** Where only a mean is known, as of a paper: a hollow sign instead of a strip. */
  readonly meanMs?: number;
}

export interface StripPlot extends Omit<Frame, 'heightPx'> {
  readonly strips: readonly Strip[];
  /** Both ends of the axis, ms, at powers of ten times 1, 2 or 5; earlier times stand at its start. */
  readonly fromMs: number;
  readonly toMs: number;
  /** What the axis counts; unless said, what a trial took beyond the round trip. */
  readonly axisTitle?: string;
}

const ROOM = { right: 130, top: 22, bottom: 22 };
/** For labels: of a letter, on the safe side; and for the sign beside them. */
const LETTER_PX = 6.1;
const SIGN_PX = 28;
const ROW_PX = 23;
const BIN_PX = 2;
/** A strip's height where it is fullest; heights go with the square root, so that one trial in a thousand is seen. */
const FULL_PX = 19;
const LEAST_PX = 3;
const TICKS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000];
const NAMED = /^[15]0*$/;

/** Where the axis begins, behind the longest label. */
function startPx({ strips }: StripPlot): number {
  return SIGN_PX + LETTER_PX * Math.max(0, ...strips.map(({ label }) => label.length));
}

function scale(plot: StripPlot): (ms: number) => number {
  const [from, to] = [Math.log(plot.fromMs), Math.log(plot.toMs)];
  const start = startPx(plot);
  const width = plot.widthPx - ROOM.right - start;
  return (ms) => {
    const share = (Math.log(Math.max(ms, plot.fromMs)) - from) / (to - from);
    return start + width * Math.min(1, share);
  };
}

/** How many values fall into each two pixels of the axis, by the bin's left edge. */
export function bins(valuesMs: readonly number[], x: (ms: number) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const value of valuesMs) {
    const bin = Math.floor(x(value) / BIN_PX) * BIN_PX;
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  return counts;
}

function stripSvg(
  { valuesMs, sign, failed, meanMs }: Strip,
  y: number,
  x: (ms: number) => number,
  end: number,
): string {
  const paint = markPaint(sign.mark);
  const total = valuesMs.length + failed;
  if (meanMs !== undefined)
    return `${signSvg(sign, x(meanMs), y)}${text(end + 10, y + 4, `mean ${formatNumber(meanMs)} ms`)}`;
  if (total === 0) return text(end + 10, y + 4, 'not told');
  const counts = bins(valuesMs, x);
  const fullest = Math.max(...counts.values());
  const bars = [...counts].map(([left, count]) => {
    const height = Math.max(LEAST_PX, FULL_PX * Math.sqrt(count / fullest));
    return `M${left} ${px(y - height / 2)}h${BIN_PX}v${px(height)}h-${BIN_PX}z`;
  });
  const middle = median([...valuesMs, ...Array.from({ length: failed }, () => Infinity)]) ?? Infinity;
  const flag =
    middle === Infinity
      ? ''
      : `${line(x(middle), y - 11, x(middle), y + 11, PAPER, 'stroke-width="4"')}${line(x(middle), y - 11, x(middle), y + 11, INK, 'stroke-width="1.8"')}`;
  const told = middle === Infinity ? 'most failed' : `${formatNumber(Number(middle.toPrecision(3)))} ms`;
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `<path d="${bars.join('')}" fill="${paint}"/>${flag}${text(end + 10, y + 4, `${told}${failures}`, { strong: true })}`;
}

/** The plot as one SVG element. */
export function stripPlotSvg(plot: StripPlot): string {
  const x = scale(plot);
  const [start, end] = [startPx(plot), plot.widthPx - ROOM.right];
  const floor = ROOM.top + ROW_PX * plot.strips.length;
  const ticks = TICKS.filter((tick) => tick >= plot.fromMs && tick <= plot.toMs).map((tick) => {
    const name = NAMED.test(String(tick))
      ? text(x(tick), floor + 15, formatNumber(tick), { anchor: 'middle' })
      : '';
    return line(x(tick), ROOM.top - 4, x(tick), floor, LINE) + name;
  });
  const rows = plot.strips.map((strip, index) => {
    const y = ROOM.top + ROW_PX * (index + 0.5);
    return `${text(start - 24, y + 4, strip.label, { anchor: 'end' })}${signSvg(strip.sign, start - 13, y)}${line(start, y, end, y, LINE)}${stripSvg(strip, y, x, end)}`;
  });
  const heads = `${text(start, 11, `${plot.axisTitle ?? 'ms over the round trip'}, logarithmic`)}${text(end + 10, 11, 'median')}`;
  const axis = line(start, floor, end, floor, MUTED);
  return frameSvg({ ...plot, heightPx: floor + ROOM.bottom }, heads + ticks.join('') + rows.join('') + axis);
}
