// What every plot of the laboratory is made of: text, lines, a frame that names the drawing to screen readers,
// and the marks by which clients are told apart without colour.
import { type Mark, markPaint } from '@photofinish/shared/marks';
import { escapeMarkup } from '@photofinish/shared/markup';
import { INK, MUTED, PAPER, px } from '@photofinish/shared/paint';

export interface TextStyle {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly strong?: boolean;
}

/** A text at a place; strong text is in ink, other text muted. */
export function text(
  x: number,
  y: number,
  content: string,
  { anchor = 'start', strong = false }: TextStyle = {},
): string {
  const weight = strong ? ` font-weight="600" fill="${INK}"` : ` fill="${MUTED}"`;
  return `<text x="${px(x)}" y="${px(y)}" font-size="11"${weight} text-anchor="${anchor}">${escapeMarkup(content)}</text>`;
}

/** A straight line; `extra` are further attributes. */
export function line(x1: number, y1: number, x2: number, y2: number, paint: string, extra = ''): string {
  return `<path d="M${px(x1)} ${px(y1)}L${px(x2)} ${px(y2)}" fill="none" stroke="${paint}" ${extra}/>`;
}

export interface Frame {
  /** Unique on the page. */
  readonly id: string;
  readonly widthPx: number;
  readonly heightPx: number;
  /** The drawing in one sentence, and what it shows, for those who do not see it. */
  readonly title: string;
  readonly description: string;
}

/** The drawing as one SVG element, named and described. */
export function frameSvg({ id, widthPx, heightPx, title, description }: Frame, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" aria-labelledby="${id}-title" aria-describedby="${id}-desc" viewBox="0 0 ${widthPx} ${heightPx}" style="max-width:${widthPx}px"><title id="${id}-title">${escapeMarkup(title)}</title><desc id="${id}-desc">${escapeMarkup(description)}</desc>${body}</svg>`;
}

/** Who a row, point or legend entry is about. On grey paper kinds differ by how they are filled, members by shape. */
export interface Sign {
  readonly mark: Mark;
  readonly shape: number;
}

/** Around the origin, about nine pixels wide. */
const SHAPES = [
  'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z',
  'M-4-4h8v8h-8z',
  'M0-5L4.8 4H-4.8z',
  'M0-5.4L5 0L0 5.4L-5 0z',
  'M0 5L4.8-4H-4.8z',
  'M-1.8-5h3.6v3.2h3.2v3.6h-3.2v3.2h-3.6v-3.2h-3.2v-3.6h3.2z',
  'M5 0L-4 4.8V-4.8z',
  'M-5 0L4 4.8V-4.8z',
  'M-4.6-4.6H4.6L-4.6 4.6H4.6z',
  'M0-5L4.8-1.5L3 4.2H-3L-4.8-1.5z',
  'M-4.6-4.6V4.6L4.6-4.6V4.6z',
  'M-5-2.4h10v4.8h-10z',
] as const;
const CROSS = 'M-4-4L4 4M-4 4L4-4';

const FILLS: Readonly<Record<Mark, 'solid' | 'hollow' | 'dotted'>> = {
  h3: 'solid',
  h2: 'hollow',
  h1: 'dotted',
  unknown: 'hollow',
};

/** The sign of the nth of its kind, counted from 0; twelve of a kind have signs of their own. */
export function signOf(mark: Mark, nth: number): Sign {
  return { mark, shape: nth % SHAPES.length };
}

/** A cross, which stands for no client of ours: published figures. */
export const PUBLISHED: Sign = { mark: 'unknown', shape: SHAPES.length };

/** A sign centred on a place. */
export function signSvg({ mark, shape }: Sign, x: number, y: number): string {
  const paint = markPaint(mark);
  const place = `transform="translate(${px(x)} ${px(y)})"`;
  const outline = SHAPES[shape];
  if (outline === undefined)
    return `<path ${place} d="${CROSS}" fill="none" stroke="${paint}" stroke-width="2.2"/>`;
  const fill = FILLS[mark];
  const [inside, edge, width] = fill === 'solid' ? [paint, PAPER, 1] : [PAPER, paint, 1.7];
  const drawn = `<path ${place} d="${outline}" fill="${inside}" stroke="${edge}" stroke-width="${width}"/>`;
  return fill === 'dotted' ? `${drawn}<circle cx="${px(x)}" cy="${px(y)}" r="1.5" fill="${paint}"/>` : drawn;
}

/** A sign as a small picture beside words. */
export function signMarkup(sign: Sign): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="sign" width="13" height="13" viewBox="-6.5 -6.5 13 13" aria-hidden="true" focusable="false">${signSvg(sign, 0, 0)}</svg>`;
}
