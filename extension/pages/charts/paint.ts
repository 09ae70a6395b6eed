// What every chart is made of: text, areas, and the frame that names a drawing to screen
// readers. SVG text only: no script, no style sheet, no event handler.
import { markPaint } from '@photofinish/shared/drawing/marks';
import { INK, MUTED, PAPER, px } from '@photofinish/shared/drawing/paint';
import { escapeMarkup } from '@photofinish/shared/language/markup';

export const FONT_PX = 11;

/** A text at a place; `attributes` are our own. */
export function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${px(x)}" y="${px(y)}" font-size="${FONT_PX}" fill="${MUTED}" ${attributes}>${escapeMarkup(content)}</text>`;
}

/** A text that stays legible where it crosses lines or areas. */
export function haloText(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${px(x)}" y="${px(y)}" font-size="${FONT_PX}" font-weight="600" fill="${INK}" text-anchor="${anchor}" stroke="${PAPER}" stroke-width="3" stroke-linejoin="round" paint-order="stroke">${escapeMarkup(content)}</text>`;
}

/** How an area is filled: each kind differs in lightness or texture, so that it is told apart on grey paper too. */
const BANDS = ['h3', 'older', 'hidden', 'plain'] as const;
export type Band = (typeof BANDS)[number];

const HATCH_PX = 5;

/** The texture that areas of a drawing refer to; `id` is unique on the page. */
export function hatchPattern(id: string): string {
  const unknown = markPaint('unknown');
  return `<pattern id="${escapeMarkup(id)}-hatch" width="${HATCH_PX}" height="${HATCH_PX}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V${HATCH_PX}" stroke="${unknown}" stroke-width="1.6"/></pattern>`;
}

/** Fill attributes of a band in the drawing `id`, which holds the pattern. */
export function bandFill(band: Band, id: string): string {
  switch (band) {
    case 'h3':
      return `fill="${markPaint('h3')}"`;
    case 'older':
      return `fill="${markPaint('h2')}" fill-opacity=".34"`;
    case 'hidden':
      return `fill="url(#${escapeMarkup(id)}-hatch)"`;
    case 'plain':
      return `fill="${MUTED}" fill-opacity=".7"`;
  }
}

export interface Frame {
  /** Unique on the page. */
  readonly id: string;
  readonly widthPx: number;
  readonly heightPx: number;
  /** The drawing in one sentence, and in full, for those who do not see it. */
  readonly title: string;
  readonly description: string;
}

/** The drawing as one SVG element, named and described. */
export function frameSvg({ id, widthPx, heightPx, title, description }: Frame, body: string): string {
  const name = escapeMarkup(id);
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-labelledby="${name}-title" aria-describedby="${name}-desc" width="${widthPx}" height="${heightPx}" viewBox="0 0 ${widthPx} ${heightPx}"><title id="${name}-title">${escapeMarkup(title)}</title><desc id="${name}-desc">${escapeMarkup(description)}</desc>${body}</svg>`;
}

const SWATCH_PX = 14;

/** A legend's sample of a band; decoration beside its words. */
export function bandSwatch(band: Band, id: string): string {
  const edge = band === 'hidden' ? `stroke="${markPaint('unknown')}"` : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" class="swatch" width="${SWATCH_PX}" height="${SWATCH_PX}" viewBox="0 0 ${SWATCH_PX} ${SWATCH_PX}" aria-hidden="true" focusable="false">${band === 'hidden' ? hatchPattern(id) : ''}<rect x=".5" y=".5" width="${SWATCH_PX - 1}" height="${SWATCH_PX - 1}" rx="2" ${bandFill(band, id)} ${edge}/></svg>`;
}

/** A legend's sample of a line. */
export function lineSwatch(dashed = false, paint = INK): string {
  const dashes = dashed ? ' stroke-dasharray="4 3"' : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" class="swatch" width="20" height="${SWATCH_PX}" viewBox="0 0 20 ${SWATCH_PX}" aria-hidden="true" focusable="false"><path d="M0 7H20" stroke="${paint}" stroke-width="2"${dashes}/></svg>`;
}
