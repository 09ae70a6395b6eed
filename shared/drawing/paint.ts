// What drawings are made with wherever they are made: paints that follow a page's theme and are right without one, and
// coordinates as they are written.
import { LIGHT } from './marks.ts';

export const INK = `var(--pf-ink, ${LIGHT.ink})`;
export const MUTED = `var(--pf-muted, ${LIGHT.muted})`;
export const LINE = `var(--pf-line, ${LIGHT.line})`;
export const PAPER = `var(--pf-paper, ${LIGHT.paper})`;

/** A coordinate with one decimal, which is finer than any screen. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}
