// Steps that run in parallel must not overwrite each other, neither on a terminal nor in a log.
import assert from 'node:assert/strict';
import test from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { Display, formatDuration, formatTable } from './display.ts';

function recorder(isTTY: boolean) {
  const written: string[] = [];
  const out = { isTTY, columns: 30, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  return { written, display: new Display(out) };
}

/** The final content of a terminal: a cursor-up sequence clears everything below. */
function shown(written: readonly string[]): string[] {
  const lines: string[] = [];
  for (const text of written) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what moves the cursor.
    const up = /^\u001b\[(\d+)A/.exec(text)?.[1];
    if (up !== undefined) lines.splice(lines.length - Number(up));
    const rest = stripVTControlCharacters(text).replaceAll('\r', '');
    if (rest !== '') lines.push(rest.trimEnd());
  }
  return lines.map((line) => line.replace(/\d+\.\d s.*$/, 'N'));
}

test('on a terminal, open steps stay below printed lines and finished steps', () => {
  const { written, display } = recorder(true);
  const first = display.beginStep('first');
  const second = display.beginStep('second');
  display.printLine('a remark');
  first.end(true);
  second.detail('a detail that is far longer than the terminal is wide');
  const third = display.beginStep('third');
  assert.deepEqual(shown(written), ['a remark', '  ✓ first  N', '  … second  N', '  … third  N']);
  assert.ok(written.every((text) => stripVTControlCharacters(text).trim().length < 30));
  second.end(false, 'exit code 1');
  third.end('skipped', 'no Go');
  assert.deepEqual(shown(written), ['a remark', '  ✓ first  N', '  ✗ second  N', '  – third  N']);
});

test('a log gets whole lines and no cursor movement', () => {
  const { written, display } = recorder(false);
  const first = display.beginStep('first');
  const second = display.beginStep('second');
  second.end(true, '3 passed');
  first.end(true);
  assert.match(written.join(''), /^ {2}✓ second {2}0\.0 s {2}3 passed\n {2}✓ first {2}0\.0 s\n$/);
});

test('durations use a readable unit', () => {
  assert.equal(formatDuration(0), '0 s');
  assert.equal(formatDuration(39_200), '40 s');
  assert.equal(formatDuration(12 * 60_000), '12 min');
  assert.equal(formatDuration(185 * 60_000), '3 h 5 min');
});

test('columns are as wide as their widest cell, numbers right-aligned', () => {
  const table = formatTable(
    [{ title: 'origin' }, { title: 'requests', align: 'right' }],
    [['https://both.test', '21'], ['https://a.test']],
  );
  assert.deepEqual(table.split('\n'), [
    'origin             requests',
    '─────────────────  ────────',
    'https://both.test        21',
    'https://a.test',
  ]);
});
