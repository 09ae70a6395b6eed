// Building blocks of every drawing, as SVG text: elements, texts, frames and axes, whose texts and attributes are
// escaped here. No script, no style sheet, no event handler.
import { escapeMarkup } from '../language/markup.ts';
import { MUTED } from './palette.ts';

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

const MOST_TICKS = 5;
/** Below a nanosecond there is nothing to distinguish, and powers of ten underflow to 0. */
const LEAST_AXIS = 1e-6;

/** Round steps of 1, 2 or 5 times a power of ten from 0 up to `max`, at most five after 0. */
export function axisTicks(max: number): number[] {
  const rough = Math.max(max, LEAST_AXIS) / MOST_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const count = Math.floor(max / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}
