// How a protocol is marked wherever it is drawn: primarily by shape and digit, secondarily by colour, so that colour is
// never the only indication.
import type { Protocol } from '../web/protocol.ts';
import { decoration, element, markPaint, ON_MARK } from './svg.ts';

export const MARKS = ['h3', 'h2', 'h1', 'unknown'] as const;
export type Mark = (typeof MARKS)[number];

/** The mark of a protocol; both HTTP/1 versions share one. */
export function markOf(protocol: Protocol): Mark {
  if (protocol === 'http/1.1' || protocol === 'http/1.0') return 'h1';
  return protocol;
}

/** The shortest name of a protocol: for the toolbar's badge and the lanes of a drawing. */
export const MARK_LABELS: Record<Mark, string> = { h3: 'H3', h2: 'H2', h1: 'H1', unknown: '?' };

/** Side of the square in which all shapes and digits below are drawn. */
export const MARK_GRID = 16;

/** Outlines as SVG path data on the grid. */
export const MARK_SHAPES: Record<Mark, string> = {
  h3: 'M8 .75a7.25 7.25 0 1 1 0 14.5a7.25 7.25 0 1 1 0-14.5z',
  h2: 'M4 1.25h8A2.75 2.75 0 0 1 14.75 4v8A2.75 2.75 0 0 1 12 14.75H4A2.75 2.75 0 0 1 1.25 12V4A2.75 2.75 0 0 1 4 1.25z',
  h1: 'M7.05 1.6a1.1 1.1 0 0 1 1.9 0l6.35 11.5a1.1 1.1 0 0 1-.95 1.65H1.65a1.1 1.1 0 0 1-.95-1.65z',
  unknown: 'M8 1.5a6.5 6.5 0 1 1 0 13a6.5 6.5 0 1 1 0-13z',
};

/** Digits as strokes instead of text: they look the same with any fonts, and are sharp at 16 px. */
export const MARK_FIGURES: Record<Mark, string> = {
  h3: 'M5.6 4.5h4.6L7.7 7.2c1.7-.1 2.8.8 2.8 2.1c0 1.3-1.1 2.2-2.6 2.2c-1.1 0-1.9-.4-2.4-1.2',
  h2: 'M5.6 6.3c.1-1.2 1-1.9 2.3-1.9c1.4 0 2.4.8 2.4 1.9c0 .8-.4 1.4-1.1 2.1l-3.5 3.2h4.8',
  h1: 'M6.7 8l1.6-1v5.6',
  unknown: 'M6.2 6.3c.1-1.1.9-1.7 1.9-1.7c1.1 0 1.9.7 1.9 1.7c0 1.4-1.9 1.5-1.9 2.8M8.1 11.5v.05',
};

/** Eight dashes around the ring of `unknown`. */
export const RING_DASHES = '3.4 1.705';

/**
 * The mark as an SVG element of `sizePx`. It is decorative: the protocol's name is beside it as text, so it is hidden
 * from screen readers.
 */
export function markSvg(mark: Mark, sizePx: number): string {
  const paint = markPaint(mark);
  const isRing = mark === 'unknown';
  const ring = { fill: 'none', stroke: paint, 'stroke-width': 1.5, 'stroke-dasharray': RING_DASHES };
  const shape = element('path', { d: MARK_SHAPES[mark], ...(isRing ? ring : { fill: paint }) });
  const figure = element('path', {
    d: MARK_FIGURES[mark],
    fill: 'none',
    stroke: isRing ? paint : ON_MARK,
    'stroke-width': 1.7,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  });
  return decoration('mark', [sizePx, sizePx], [MARK_GRID, MARK_GRID], shape, figure);
}
