import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROTOCOLS } from '../web/protocol.ts';
import { MARKS, markOf, markSvg } from './marks.ts';
import { DARK, LIGHT } from './svg.ts';

/** WCAG 2.2, relative luminance and contrast ratio. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

for (const [name, theme] of Object.entries({ light: LIGHT, dark: DARK }))
  test(`${name}: text and marks reach 4.5:1 on every surface where they are used`, () => {
    for (const surface of [theme.paper, theme.wash]) {
      for (const text of [theme.ink, theme.muted, ...Object.values(theme.marks)])
        assert.ok(contrast(text, surface) >= 4.5, `${text} on ${surface}: ${contrast(text, surface)}`);
    }
    for (const mark of ['h3', 'h2', 'h1'] as const)
      assert.ok(contrast(theme.onMark, theme.marks[mark]) >= 4.5, `${theme.onMark} on ${mark}`);
  });

test('every protocol has a mark, and no two marks look alike without colour', () => {
  for (const protocol of PROTOCOLS) assert.ok(MARKS.includes(markOf(protocol)));
  const withoutColour = MARKS.map((mark) => markSvg(mark, 16).replaceAll(/var\([^)]*\)/g, ''));
  assert.equal(new Set(withoutColour).size, MARKS.length);
});
