import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyNamed, networkLabel, plain, table } from './text.ts';

test('the number of table rows is unlimited: rows from a file or a server are not put on the stack', () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => [{ text: String(i) }]);
  const lines = table([{ title: 'N', align: 'right' }], rows, plain);
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [300_001, '     N', '299999']);
});

const NAMES = new Map([
  ['net-1', 'Home'],
  ['net-2', 'Cafe'],
  ['net-3', 'Cafe'],
]);

test('a network is shown by its name, or by its key if the name is ambiguous', () => {
  assert.equal(networkLabel('net-1', NAMES), 'Home');
  assert.equal(networkLabel('net-2', NAMES), 'Cafe (net-2)');
  assert.equal(networkLabel('net-9', NAMES), 'net-9');
});

test('a name refers to its network, and one that several have is refused', () => {
  assert.equal(keyNamed(' Home ', NAMES), 'net-1');
  assert.equal(keyNamed('net-2', NAMES), null);
  assert.throws(() => keyNamed('Cafe', NAMES), { code: 'bad-network', message: /"Cafe": use its key/ });
});
