// Tables are read by people and copied into notes: their columns must line up.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatTable } from './table.ts';

test('columns are as wide as their widest cell, numbers to the right', () => {
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
