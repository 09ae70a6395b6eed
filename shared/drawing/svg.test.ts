import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MARKS, markOf, PROTOCOLS } from '../web/protocol.ts';
import { DARK, drawing, element, LIGHT, markSvg, PALETTE_CSS, text } from './svg.ts';

test('no text and no attribute of a drawing breaks out of its context', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (words, value) => {
      const svg = text(1, 2, words, { class: value });
      assert.match(
        svg,
        /^<text x="1" y="2" font-size="11" fill="[^"<>]*" class="[^"<>]*"(\/>|>[^<>]*<\/text>)$/,
      );
      const frame = { id: value, widthPx: 10, heightPx: 10, title: `t${words}`, description: `d${value}` };
      assert.equal(drawing('plot', frame).match(/</g)?.length, 6);
    }),
  );
});

test('coordinates have one decimal, null attributes are omitted', () => {
  assert.equal(
    element('line', { x1: 1.26, x2: 2, class: null, y1: '4%' }),
    '<line x1="1.3" x2="2" y1="4%"/>',
  );
  assert.equal(element('g', {}, '<b/>', '<b/>'), '<g><b/><b/></g>');
});

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

/** As `color-mix(in srgb)`. */
function mixed(a: string, share: number, b: string): string {
  const channel = (i: number): string => {
    const [x = 0, y = 0] = [a, b].map((hex) => Number.parseInt(hex.slice(i, i + 2), 16));
    return Math.round(x * share + y * (1 - share))
      .toString(16)
      .padStart(2, '0');
  };
  return `#${[1, 3, 5].map(channel).join('')}`;
}

for (const [name, theme] of Object.entries({ light: LIGHT, dark: DARK }))
  test(`${name}: if more contrast is preferred, lines reach 3:1 and muted text 7:1`, () => {
    const [, more = ''] = PALETTE_CSS.split('@media (prefers-contrast: more)');
    for (const [of, least] of [
      ['line', 3],
      ['muted', 7],
    ] as const) {
      const [, percent] =
        new RegExp(
          `^[^@]*--pf-${of}: color-mix\\(in srgb, var\\(--pf-ink\\) (\\d+)%, var\\(--pf-paper\\)\\)`,
        ).exec(more) ?? [];
      const colour = mixed(theme.ink, Number(percent) / 100, theme.paper);
      for (const surface of [theme.paper, theme.wash]) assert.ok(contrast(colour, surface) >= least, of);
    }
  });

test('every protocol has a mark, and no two marks look alike without colour', () => {
  for (const protocol of PROTOCOLS) assert.ok(MARKS.includes(markOf(protocol)));
  const withoutColour = MARKS.map((mark) => markSvg(mark, 16).replaceAll(/var\([^)]*\)/g, ''));
  assert.equal(new Set(withoutColour).size, MARKS.length);
});
