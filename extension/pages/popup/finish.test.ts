// The figure of a race in the popup, and what its page must be.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { PALETTE_CSS } from '@photofinish/shared/drawing/svg';
import type { Progress } from '@photofinish/shared/port/wire';
import { catalogFiles } from '../../testing/catalogs.ts';
import { liveFinish, NO_PROGRESS, progressed } from './finish.ts';

function fold(events: [Progress['event'], Progress['contender'], number, number][]) {
  return events.reduce(
    (live, [event, transport, trial, atMs]) =>
      progressed(live, { id: 1, type: 'progress', event, contender: transport, trial, trials: 6, atMs }),
    NO_PROGRESS,
  );
}

test('before any event both lanes are empty', () => {
  const finish = liveFinish(NO_PROGRESS);
  assert.deepEqual(
    finish.lanes.map((lane) => lane.state),
    ['absent', 'absent'],
  );
  assert.equal(finish.caption, 'racing');
});

test('a started lane runs, an established one has its time', () => {
  const running = liveFinish(fold([['started', 'h3', 1, 0]]));
  assert.equal(running.lanes[0].state, 'running');
  const later = liveFinish(
    fold([
      ['started', 'h3', 1, 0],
      ['established', 'h3', 1, 50],
      ['adopted', 'h3', 1, 50],
      ['started', 'h2', 2, 0],
      ['established', 'h2', 2, 108],
      ['first-byte', 'h2', 2, 150],
      ['started', 'h2', 3, 0],
    ]),
  );
  assert.deepEqual(
    later.lanes.map((lane) => lane.establishedMs),
    [50, 108],
  );
  assert.equal(later.lanes[1].firstByteMs, 150);
  assert.equal(later.caption, 'racing, pair 2 of at most 3');
});

test('lanes show the median of the trials done so far, and never a margin', () => {
  const finish = liveFinish(
    fold(
      [1, 2, 3].flatMap((pair) => [
        ['started', 'h3', 2 * pair - 1, 0],
        ['established', 'h3', 2 * pair - 1, 10 * pair],
        ['started', 'h2', 2 * pair, 0],
        ['established', 'h2', 2 * pair, 50],
      ]),
    ),
  );
  assert.equal(finish.lanes[0].establishedMs, 20);
  assert.deepEqual(finish.lanes[0].trialsMs, [10, 20, 30]);
  assert.equal(finish.result, null);
});

test('a failed transport shows at once', () => {
  const finish = liveFinish(
    fold([
      ['started', 'h3', 1, 0],
      ['failed', 'h3', 1, 2],
    ]),
  );
  assert.equal(finish.lanes[0].state, 'failed');
});

// Requirements on popup.html and popup.css: the shared palette, and nothing that a strict content security policy
// rejects.

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
