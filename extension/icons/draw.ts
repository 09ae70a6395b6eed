// Draws the toolbar's marks and the product's icon as PNG, so that the committed pictures can always be made again:
// `node extension/icons/draw.ts`. PHOTOFINISH_CHROMIUM names another Chromium than the distribution's.
import { mkdir, writeFile } from 'node:fs/promises';
import {
  DARK,
  LIGHT,
  MARK_FIGURES,
  MARK_SHAPES,
  MARKS,
  type Mark,
  RING_DASHES,
} from '@photofinish/shared/marks';
import { chromium } from 'playwright-core';

const { PHOTOFINISH_CHROMIUM = '/usr/bin/chromium' } = process.env;
const SIZES_PX = [16, 32, 48, 128] as const;
const here = new URL('./', import.meta.url);

/** White under and around the shape keeps it legible on a dark toolbar and vanishes on a light one. */
function toolbarMark(mark: Mark): string {
  const colour = LIGHT.marks[mark];
  const halo = `<path d="${MARK_SHAPES[mark]}" fill="#fff" stroke="#fff" stroke-width="${mark === 'unknown' ? 3 : 1.5}" stroke-linejoin="round"/>`;
  const shape =
    mark === 'unknown'
      ? `<path d="${MARK_SHAPES.unknown}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-dasharray="${RING_DASHES}"/>`
      : `<path d="${MARK_SHAPES[mark]}" fill="${colour}"/>`;
  const figure = `<path d="${MARK_FIGURES[mark]}" fill="none" stroke="${mark === 'unknown' ? colour : '#fff'}" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>`;
  // These two reach the edge of the grid, where their halo would be cut off.
  const fit = mark === 'h1' || mark === 'unknown' ? 'translate(.5 .4) scale(.94)' : '';
  return `<g transform="${fit}">${halo}${shape}${figure}</g>`;
}

/** Two lanes and the finish line: the upper one is through it. */
function productIcon(): string {
  const { h3, h2 } = DARK.marks;
  return `<rect x=".5" y=".5" width="15" height="15" rx="3.5" fill="#14181d" stroke="#fff" stroke-opacity=".55" stroke-width=".5"/>
    <rect x="2.5" y="4" width="10.5" height="3" rx="1" fill="${h3}"/>
    <rect x="2.5" y="9" width="5.5" height="3" rx="1" fill="${h2}"/>
    <path d="M10.5 2.5v11" stroke="#fff" stroke-width="1"/>`;
}

const drawings: [string, string][] = MARKS.map((mark) => [mark, toolbarMark(mark)]);
drawings.push(['photofinish', productIcon()]);

const browser = await chromium.launch({
  executablePath: PHOTOFINISH_CHROMIUM,
  args: ['--no-sandbox'],
});
const page = await browser.newPage();
await mkdir(here, { recursive: true });
for (const [name, drawing] of drawings)
  for (const size of SIZES_PX) {
    await page.setViewportSize({ width: size, height: size });
    await page.setContent(
      `<body style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" style="display:block" width="${size}" height="${size}" viewBox="0 0 16 16">${drawing}</svg>`,
    );
    await writeFile(new URL(`${name}-${size}.png`, here), await page.screenshot({ omitBackground: true }));
  }
await browser.close();
