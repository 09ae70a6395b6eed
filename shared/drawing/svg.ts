// Building blocks of every drawing, as SVG text: the palette, elements, texts, frames, axes and the marks of protocols.
// Texts and attributes are escaped here. No script, no style sheet, no event handler.
import { escapeMarkup } from '../language/markup.ts';
import type { Mark } from '../web/protocol.ts';

/** Colours after Okabe and Ito: text has a contrast of 4.5:1, and shapes of 3:1, on `paper` and `wash`. */
type Theme = Readonly<Record<'paper' | 'wash' | 'ink' | 'muted' | 'line' | 'onMark', string>> & {
  readonly marks: Readonly<Record<Mark, string>>;
};

export const LIGHT: Theme = {
  paper: '#ffffff',
  wash: '#f6f7f9',
  ink: '#14181d',
  muted: '#5b616a',
  line: '#dfe2e6',
  onMark: '#ffffff',
  marks: { h3: '#007a5a', h2: '#0062a3', h1: '#b35900', unknown: '#63676e' },
};

export const DARK: Theme = {
  paper: '#15181c',
  wash: '#1c2026',
  ink: '#eceef1',
  muted: '#a3a8b0',
  line: '#30353c',
  onMark: '#0d1013',
  marks: { h3: '#3ddcab', h2: '#6bb8f5', h1: '#ffb057', unknown: '#a3a8b0' },
};

function properties({ onMark, marks, ...colours }: Theme): string {
  return Object.entries({ ...colours, 'on-mark': onMark, ...marks })
    .map(([name, value]) => `--pf-${name}: ${value};`)
    .join(' ');
}

/**
 * Custom properties of both themes, of more contrast (WCAG 2.2: lines 3:1, text 7:1) and of forced colours (CSS Color
 * Adjustment, section 3); print is always light.
 */
export const PALETTE_CSS = `:root { color-scheme: light dark; ${properties(LIGHT)} }
@media screen and (prefers-color-scheme: dark) { :root { ${properties(DARK)} } }
@media (prefers-contrast: more) { :root { --pf-muted: color-mix(in srgb, var(--pf-ink) 85%, var(--pf-paper)); --pf-line: color-mix(in srgb, var(--pf-ink) 55%, var(--pf-paper)); } }
@media (forced-colors: active) { :root { --pf-paper: Canvas; --pf-wash: Canvas; --pf-ink: CanvasText; --pf-muted: CanvasText; --pf-line: ButtonBorder; --pf-on-mark: Canvas; --pf-h3: LinkText; --pf-h2: CanvasText; --pf-h1: CanvasText; --pf-unknown: CanvasText; } }`;

/** The colour of a mark as an SVG paint that follows the page's theme, with a fallback without one. */
export function markPaint(mark: Mark): string {
  return `var(--pf-${mark}, ${LIGHT.marks[mark]})`;
}

export const INK = `var(--pf-ink, ${LIGHT.ink})`;
export const MUTED = `var(--pf-muted, ${LIGHT.muted})`;
export const LINE = `var(--pf-line, ${LIGHT.line})`;
export const PAPER = `var(--pf-paper, ${LIGHT.paper})`;
export const WASH = `var(--pf-wash, ${LIGHT.wash})`;
export const ON_MARK = `var(--pf-on-mark, ${LIGHT.onMark})`;

export const FONT_PX = 11;

/** A coordinate with one decimal, which is finer than any screen. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Numbers are coordinates; null attributes are omitted. */
export type Attributes = Readonly<Record<string, string | number | null>>;

/** An element; `content` is markup. */
export function element(name: string, attributes: Attributes, ...content: readonly string[]): string {
  let head = name;
  for (const attribute in attributes) {
    const value = attributes[attribute];
    if (value === null || value === undefined) continue;
    head += ` ${attribute}="${typeof value === 'number' ? px(value) : escapeMarkup(value)}"`;
  }
  const body = content.join('');
  return body === '' ? `<${head}/>` : `<${head}>${body}</${name}>`;
}

/** An element's tooltip. */
export function tip(words: string): string {
  return `<title>${escapeMarkup(words)}</title>`;
}

/** A text at a position. */
export function text(x: number, y: number, words: string, attributes: Attributes = {}): string {
  return element('text', { x, y, 'font-size': FONT_PX, fill: MUTED, ...attributes }, escapeMarkup(words));
}

/** Keeps a text legible where it crosses lines, on a background of this paint. */
export function halo(paint: string): Attributes {
  return { stroke: paint, 'stroke-width': 3, 'stroke-linejoin': 'round', 'paint-order': 'stroke' };
}

/** Lines along a path, without a fill. */
export function line(d: string, stroke: string, width: number, attributes: Attributes = {}): string {
  const look = { class: null, d, fill: 'none', stroke, 'stroke-width': String(width) };
  return element('path', { ...look, ...attributes });
}

/** A drawing's size, and its names for screen readers. */
export interface Frame {
  /** Unique on the page. */
  readonly id: string;
  readonly widthPx: number;
  readonly heightPx: number;
  /** The drawing in one sentence, and in full. */
  readonly title: string;
  readonly description: string;
}

/** A drawing as one SVG element, with title and description. */
export function drawing(name: string, frame: Frame, ...content: readonly string[]): string {
  const { id, widthPx, heightPx, title, description } = frame;
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    class: name,
    role: 'img',
    'aria-labelledby': `${id}-title`,
    'aria-describedby': `${id}-desc`,
    width: widthPx,
    height: heightPx,
    viewBox: `0 0 ${widthPx} ${heightPx}`,
  };
  const named = element('title', { id: `${id}-title` }, escapeMarkup(title));
  const described = element('desc', { id: `${id}-desc` }, escapeMarkup(description));
  return element('svg', attributes, named, described, ...content);
}

type Size = readonly [width: number, height: number];

/** A drawing beside text with the same meaning, hidden from screen readers; `grid` is its coordinate system. */
export function decoration(name: string, size: Size, grid: Size, ...content: readonly string[]): string {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    class: name,
    width: size[0],
    height: size[1],
    viewBox: `0 0 ${grid[0]} ${grid[1]}`,
    'aria-hidden': 'true',
    focusable: 'false',
  };
  return element('svg', attributes, ...content);
}

const MAX_TICKS = 5;
/** Below a nanosecond there is nothing to distinguish, and powers of ten underflow to 0. */
const MIN_AXIS_LENGTH = 1e-6;

/** Round steps of 1, 2 or 5 times a power of ten from 0 up to `max`, at most five after 0. */
export function axisTicks(max: number): number[] {
  const rough = Math.max(max, MIN_AXIS_LENGTH) / MAX_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const count = Math.floor(max / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

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
