// What the dashboard's charts share: how areas are filled, the grid of shares, and samples for their legends.
import {
  type Attributes,
  decoration,
  element,
  halo,
  INK,
  LINE,
  line,
  MUTED,
  markPaint,
  PAPER,
  px,
  text,
} from '@photofinish/shared/drawing/svg';
import { getMessage } from '../../common/catalog.ts';

/** Text that stays legible where it crosses lines or areas. */
export function haloText(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return text(x, y, words, { 'font-weight': 600, fill: INK, 'text-anchor': anchor, ...halo(PAPER) });
}

const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Horizontal lines at every quarter, each labelled with its share; `y` maps a share from 0 to 1 to its position. */
export function shareGrid(fromX: number, toX: number, y: (share: number) => number): string {
  const lines = SHARE_TICKS.map((share) => {
    const words = getMessage('dashboardPercent', { value: 100 * share });
    const label = text(fromX - 8, y(share) + 4, words, { 'text-anchor': 'end' });
    return line(`M${fromX} ${px(y(share))}H${px(toX)}`, LINE, 1) + label;
  });
  return lines.join('');
}

/**
 * How an area is filled: the kinds differ in lightness or texture, so that they are distinguishable in greyscale too.
 */
export type Band = 'h3' | 'older' | 'hidden' | 'plain';

const HATCH_PX = 5;

/** The texture that areas of a drawing refer to; `id` must be unique on the page. */
export function hatchPattern(id: string): string {
  const attributes = {
    id: `${id}-hatch`,
    width: HATCH_PX,
    height: HATCH_PX,
    patternUnits: 'userSpaceOnUse',
    patternTransform: 'rotate(45)',
  };
  return element('pattern', attributes, line(`M0 0V${HATCH_PX}`, markPaint('unknown'), 1.6));
}

/** The fill of a band in the drawing `id`, which contains the pattern. */
export function bandFill(band: Band, id: string): Attributes {
  switch (band) {
    case 'h3':
      return { fill: markPaint('h3') };
    case 'older':
      return { fill: markPaint('h2'), 'fill-opacity': '.34' };
    case 'hidden':
      return { fill: `url(#${id}-hatch)` };
    case 'plain':
      return { fill: MUTED, 'fill-opacity': '.7' };
  }
}

const SWATCH_PX = 14;

/** A band's sample for a legend; decorative, beside its label. */
export function bandSwatch(band: Band, id: string): string {
  const square = [SWATCH_PX, SWATCH_PX] as const;
  const size = { x: 0.5, y: 0.5, width: SWATCH_PX - 1, height: SWATCH_PX - 1, rx: 2 };
  const stroke = band === 'hidden' ? markPaint('unknown') : null;
  const area = element('rect', { ...size, ...bandFill(band, id), stroke });
  return decoration('swatch', square, square, band === 'hidden' ? hatchPattern(id) : '', area);
}

/** A line's sample for a legend. */
export function lineSwatch(dashed = false, paint = INK): string {
  const size = [20, SWATCH_PX] as const;
  return decoration(
    'swatch',
    size,
    size,
    line('M0 7H20', paint, 2, { 'stroke-dasharray': dashed ? '4 3' : null }),
  );
}
