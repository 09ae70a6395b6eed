// What every plot of the laboratory is made of: themed paints, text, a frame that names the drawing to screen readers,
// and the marks by which clients are told apart without colour.
import { LIGHT, type Mark, markPaint } from '@photofinish/shared/marks';
import { escapeMarkup } from '@photofinish/shared/markup';

export const INK = `var(--pf-ink, ${LIGHT.ink})`;
export const MUTED = `var(--pf-muted, ${LIGHT.muted})`;
export const LINE = `var(--pf-line, ${LIGHT.line})`;
export const PAPER = `var(--pf-paper, ${LIGHT.paper})`;

/** A coordinate with one decimal, which is finer than any screen. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

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

/** Who a row, point or legend entry is about: colour by kind, shape within the kind. */
export interface Sign {
  readonly mark: Mark;
  readonly shape: number;
  readonly hollow: boolean;
}

/** Around the origin, about nine pixels wide. */
const SHAPES = [
  'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z',
  'M-4-4h8v8h-8z',
  'M0-5L4.8 4H-4.8z',
  'M0-5.4L5 0L0 5.4L-5 0z',
  'M0 5L4.8-4H-4.8z',
  'M-1.5-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z',
] as const;

/** The sign of the nth of its kind: every shape filled, then every shape hollow. */
export function signOf(mark: Mark, nth: number): Sign {
  const hollow = Math.floor(nth / SHAPES.length) % 2 === 1;
  return { mark, shape: nth % SHAPES.length, hollow };
}

/** A sign centred on a place. */
export function signSvg({ mark, shape, hollow }: Sign, x: number, y: number): string {
  const paint = markPaint(mark);
  return `<path transform="translate(${px(x)} ${px(y)})" d="${SHAPES[shape] ?? SHAPES[0]}" fill="${hollow ? PAPER : paint}" stroke="${hollow ? paint : PAPER}" stroke-width="${hollow ? 1.8 : 1}"/>`;
}

/** A sign as a small picture beside words. */
export function signMarkup(sign: Sign): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="sign" width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true" focusable="false">${signSvg(sign, 0, 0)}</svg>`;
}
