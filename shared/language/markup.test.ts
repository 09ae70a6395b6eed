import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { character } from '../testing/hostile.ts';
import { useCatalog } from './catalog.ts';
import { escapeMarkup, formatBytes, formatMs } from './markup.ts';

test('for any input, no character that could open or close markup is output', () => {
  fc.assert(
    fc.property(fc.string({ unit: character }), (text) => {
      const escaped = escapeMarkup(text);
      assert.doesNotMatch(escaped, /[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
      assert.doesNotMatch(escaped, /[^\P{Cc}\t\n\r]/u);
    }),
  );
  assert.equal(escapeMarkup(`<a b="c" d='e'>&\u0000`), '&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;');
});

test('times have three significant figures at most, and a unit', () => {
  assert.deepEqual([0, 0.0414, 51.84, 102.3, 999.4, 999.6, 1234, 61_234, -60.52].map(formatMs), [
    '0 ms',
    '0.0414 ms',
    '51.8 ms',
    '102 ms',
    '999 ms',
    '1 s',
    '1.23 s',
    '61.2 s',
    '−60.5 ms',
  ]);
});

test('bytes have decimal units', () => {
  assert.deepEqual([0, 999, 12_345, 1_234_567, 9.87e9].map(formatBytes), [
    '0 B',
    '999 B',
    '12.3 kB',
    '1.23 MB',
    '9.87 GB',
  ]);
});

test('numbers are formatted in the language', async () => {
  const catalog: Record<string, { message: string }> = JSON.parse(
    await readFile(new URL('../_locales/de/shared.json', import.meta.url), 'utf8'),
  );
  useCatalog((key) => catalog[key]?.message ?? '', 'de');
  assert.deepEqual([formatMs(51.84), formatMs(1234), formatBytes(12_345)], ['51,8 ms', '1,23 s', '12,3 kB']);
});
