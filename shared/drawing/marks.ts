// How a protocol is marked wherever it is drawn: a shape and a figure first, a colour second, so that colour is never
// the only sign. Palette after Okabe and Ito; text reaches 4.5:1 and shapes 3:1 on the papers below.
import type { Protocol } from '../web/protocol.ts';

export const MARKS = ['h3', 'h2', 'h1', 'unknown'] as const;
export type Mark = (typeof MARKS)[number];

/** The mark of a protocol; both HTTP/1 versions share one. */
export function markOf(protocol: Protocol): Mark {
  if (protocol === 'http/1.1' || protocol === 'http/1.0') return 'h1';
  return protocol;
}

/** The shortest way to write a protocol: the toolbar's badge, the lanes of a drawing. */
export const MARK_LABELS: Record<Mark, string> = { h3: 'H3', h2: 'H2', h1: 'H1', unknown: '?' };

interface Theme {
  readonly paper: string;
  readonly wash: string;
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly onMark: string;
  readonly marks: Readonly<Record<Mark, string>>;
}

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

function properties(theme: Theme): string {
  const names = {
    paper: theme.paper,
    wash: theme.wash,
    ink: theme.ink,
    muted: theme.muted,
    line: theme.line,
  };
  const all = { ...names, 'on-mark': theme.onMark, ...theme.marks };
  return Object.entries(all)
    .map(([name, value]) => `--pf-${name}: ${value};`)
    .join(' ');
}

/** Custom properties of both themes and of forced colours (CSS Color Adjustment, section 3); print is always light. */
export const PALETTE_CSS = `:root { color-scheme: light dark; ${properties(LIGHT)} }
@media screen and (prefers-color-scheme: dark) { :root { ${properties(DARK)} } }
@media (forced-colors: active) { :root { --pf-paper: Canvas; --pf-wash: Canvas; --pf-ink: CanvasText; --pf-muted: CanvasText; --pf-line: ButtonBorder; --pf-on-mark: Canvas; --pf-h3: LinkText; --pf-h2: CanvasText; --pf-h1: CanvasText; --pf-unknown: CanvasText; } }`;

/** The colour of a mark as an SVG paint that follows the page's theme and is right without one. */
export function markPaint(mark: Mark): string {
  return `var(--pf-${mark}, ${LIGHT.marks[mark]})`;
}

/** Side of the square that every shape and figure below is drawn in. */
export const MARK_GRID = 16;

/** Outlines as SVG path data on the grid. */
export const MARK_SHAPES: Record<Mark, string> = {
  h3: 'M8 .75a7.25 7.25 0 1 1 0 14.5a7.25 7.25 0 1 1 0-14.5z',
  h2: 'M4 1.25h8A2.75 2.75 0 0 1 14.75 4v8A2.75 2.75 0 0 1 12 14.75H4A2.75 2.75 0 0 1 1.25 12V4A2.75 2.75 0 0 1 4 1.25z',
  h1: 'M7.05 1.6a1.1 1.1 0 0 1 1.9 0l6.35 11.5a1.1 1.1 0 0 1-.95 1.65H1.65a1.1 1.1 0 0 1-.95-1.65z',
  unknown: 'M8 1.5a6.5 6.5 0 1 1 0 13a6.5 6.5 0 1 1 0-13z',
};

/** Figures as strokes, not text: they look the same whatever fonts there are, and stay crisp at 16 px. */
export const MARK_FIGURES: Record<Mark, string> = {
  h3: 'M5.6 4.5h4.6L7.7 7.2c1.7-.1 2.8.8 2.8 2.1c0 1.3-1.1 2.2-2.6 2.2c-1.1 0-1.9-.4-2.4-1.2',
  h2: 'M5.6 6.3c.1-1.2 1-1.9 2.3-1.9c1.4 0 2.4.8 2.4 1.9c0 .8-.4 1.4-1.1 2.1l-3.5 3.2h4.8',
  h1: 'M6.7 8l1.6-1v5.6',
  unknown: 'M6.2 6.3c.1-1.1.9-1.7 1.9-1.7c1.1 0 1.9.7 1.9 1.7c0 1.4-1.9 1.5-1.9 2.8M8.1 11.5v.05',
};

/** Eight dashes around the ring of `unknown`. */
export const RING_DASHES = '3.4 1.705';

/**
 * The mark as an SVG element of `sizePx`. It is decoration: the protocol's name stands beside it as text, so it is
 * hidden from screen readers.
 */
export function markSvg(mark: Mark, sizePx: number): string {
  const paint = markPaint(mark);
  const shape =
    mark === 'unknown'
      ? `<path d="${MARK_SHAPES.unknown}" fill="none" stroke="${paint}" stroke-width="1.5" stroke-dasharray="${RING_DASHES}"/>`
      : `<path d="${MARK_SHAPES[mark]}" fill="${paint}"/>`;
  const ink = mark === 'unknown' ? paint : `var(--pf-on-mark, ${LIGHT.onMark})`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="mark" width="${sizePx}" height="${sizePx}" viewBox="0 0 ${MARK_GRID} ${MARK_GRID}" aria-hidden="true" focusable="false">${shape}<path d="${MARK_FIGURES[mark]}" fill="none" stroke="${ink}" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
}
