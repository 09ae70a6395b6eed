import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain, table } from './text.ts';

test('the number of table rows is unlimited: rows from a file or a server are not put on the stack', () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => [{ text: String(i) }]);
  const lines = table([{ title: 'N', align: 'right' }], rows, plain);
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [300_001, '     N', '299999']);
});
