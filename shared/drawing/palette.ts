// The colours of all drawings, after Okabe and Ito: text has a contrast of 4.5:1 and shapes 3:1 on the backgrounds
// below. As paints they follow a page's theme and have a fallback without one.
import type { Mark } from './marks.ts';

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
