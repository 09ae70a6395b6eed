// Requirements on popup.html and popup.css: the shared palette, and nothing that a strict content security policy
// rejects.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { PALETTE_CSS } from '@photofinish/shared/drawing/svg';
import { catalogFiles } from '../../testing/catalogs.ts';

const html = await readFile(new URL('./popup.html', import.meta.url), 'utf8');
const css = await readFile(new URL('./popup.css', import.meta.url), 'utf8');

const theme = await readFile(new URL('../ui/theme.css', import.meta.url), 'utf8');

test('all pages use the shared palette', () => {
  const bare = (text: string) => text.replaceAll(/\s+|;(?=\s*})/g, '');
  assert.ok(
    bare(theme).includes(bare(PALETTE_CSS)),
    'copy PALETTE_CSS of shared/drawing/svg.ts to the top of ui/theme.css',
  );
});

test('the page has no inline script, style or handler, and loads only its own files', () => {
  assert.doesNotMatch(html, /<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/i);
  for (const [, address = ''] of html.matchAll(/(?:src|href)="([^"]*)"/g))
    assert.doesNotMatch(address, /^(\w+:|\/\/)/);
  assert.doesNotMatch(css, /@import|url\(/i);
});

test('every id that a script uses is in the page', async () => {
  const sources = (await readdir(new URL('.', import.meta.url))).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  for (const file of sources) {
    const source = await readFile(new URL(file, import.meta.url), 'utf8');
    for (const [, id] of source.matchAll(/byId(?:<\w+>)?\('([^']+)'\)/g))
      assert.ok(html.includes(`id="${id}"`), `${file} asks for #${id}`);
  }
});

test('every text of the page is in the catalog, and none is in the page itself', async () => {
  const english = Object.assign({}, ...catalogFiles('en').values());
  const named = [...html.matchAll(/data-message(?:-\w+)?="([^"]*)"/g)].map(([, key]) => key ?? '');
  assert.ok(named.length > 20);
  for (const key of named) assert.ok(key in english, key);
  const words = html
    .replaceAll(/<!--[\s\S]*?-->|<title>.*?<\/title>|<[^>]*>/g, ' ')
    .replaceAll('Photofinish', '')
    .trim();
  assert.doesNotMatch(words, /\p{L}/u);
});

test('no style uses left or right', () => {
  assert.doesNotMatch(
    css,
    /(?:^|[\s;{-])(?:left|right)\s*:|(?:margin|padding|border)-(?:left|right)|text-align:\s*(?:left|right)/m,
  );
});
