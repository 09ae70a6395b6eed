// Draws the toolbar's marks and the product's icon as PNG, so that the committed images can be regenerated: `node
// extension/icons/draw.ts [FOLDER]`. One set serves light and dark toolbars, so no theme needs icons of its own.
// PHOTOFINISH_CHROMIUM names another Chromium than the distribution's.
import { mkdir, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { DARK, LIGHT, MARK_FIGURES, MARK_SHAPES, RING_DASHES } from '@photofinish/shared/drawing/svg';
import { MARKS, type Mark } from '@photofinish/shared/web/protocol';
import { chromium } from 'playwright-core';

const { PHOTOFINISH_CHROMIUM = '/usr/bin/chromium' } = process.env;
const SIZES_PX = [16, 32, 48, 128] as const;
/** The images' folder, or another one for a preview. */
const [, , folder = ''] = process.argv;
const here = folder === '' ? new URL('./', import.meta.url) : pathToFileURL(`${folder}/`);

/** Room for the halo of marks that reach the edge of the grid; the square's edges fall on pixels at 16 px. */
const FITS: Record<Mark, string> = {
  h3: '',
  h2: 'translate(8 8) scale(1.037) translate(-8 -8)',
  h1: 'translate(.5 .4) scale(.94)',
  unknown: 'translate(.5 .4) scale(.94)',
};

/** White under and around the shape keeps it legible on a dark toolbar and disappears on a light one. */
function toolbarMark(mark: Mark): string {
  const colour = LIGHT.marks[mark];
  const halo = `<path d="${MARK_SHAPES[mark]}" fill="#fff" stroke="#fff" stroke-width="${mark === 'unknown' ? 3 : 1.5}" stroke-linejoin="round"/>`;
  const shape =
    mark === 'unknown'
      ? `<path d="${MARK_SHAPES.unknown}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-dasharray="${RING_DASHES}"/>`
      : `<path d="${MARK_SHAPES[mark]}" fill="${colour}"/>`;
  const figure = `<path d="${MARK_FIGURES[mark]}" fill="none" stroke="${mark === 'unknown' ? colour : '#fff'}" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>`;
  return `<g transform="${FITS[mark]}">${halo}${shape}${figure}</g>`;
}

/** From this size on, the finish line has room for its squares. */
const CHEQUERED_FROM_PX = 32;

function finishLine(sizePx: number): string {
  if (sizePx < CHEQUERED_FROM_PX) return '<path d="M10 2h1v12h-1z" fill="#fff"/>';
  const squares = Array.from({ length: 12 }, (_, row) => `M${10 + (row % 2)} ${2 + row}h1v1h-1z`).join('');
  return `<path d="${squares}" fill="#fff"/>`;
}

/** Two lanes and the finish line, crossed by the upper one. All edges are on the grid, so at 16 px on pixels. */
function productIcon(sizePx: number): string {
  const { h3, h2 } = DARK.marks;
  // Makes it stand out from a dark toolbar.
  const hairline = 16 / sizePx;
  return `<rect width="16" height="16" rx="3.5" fill="#14181d"/>
    <rect x="${hairline / 2}" y="${hairline / 2}" width="${16 - hairline}" height="${16 - hairline}" rx="${3.5 - hairline / 2}" fill="none" stroke="#fff" stroke-opacity=".4" stroke-width="${hairline}"/>
    ${finishLine(sizePx)}
    <rect x="2" y="4" width="12" height="3" rx="1" fill="${h3}"/>
    <rect x="2" y="9" width="6" height="3" rx="1" fill="${h2}"/>`;
}

type Drawing = (sizePx: number) => string;
const drawings: [string, Drawing][] = MARKS.map((mark) => [mark, () => toolbarMark(mark)]);
drawings.push(['photofinish', productIcon]);

const browser = await chromium.launch({
  executablePath: PHOTOFINISH_CHROMIUM,
  args: ['--no-sandbox'],
});
const page = await browser.newPage();
await mkdir(here, { recursive: true });
for (const [name, draw] of drawings)
  for (const size of SIZES_PX) {
    await page.setViewportSize({ width: size, height: size });
    await page.setContent(
      `<body style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" style="display:block" width="${size}" height="${size}" viewBox="0 0 16 16">${draw(size)}</svg>`,
    );
    await writeFile(new URL(`${name}-${size}.png`, here), await page.screenshot({ omitBackground: true }));
  }
await browser.close();
