import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BAD_PORTS, portBlock, REFLECTING_PORTS } from './terms.ts';

test('a bad port is blocked for both transports, a reflecting one for QUIC only, others for none', () => {
  for (const port of BAD_PORTS)
    assert.deepEqual([portBlock(port, 'h3'), portBlock(port, 'h2')], ['browsers', 'browsers']);
  for (const port of REFLECTING_PORTS) assert.notEqual(portBlock(port, 'h3'), null);
  assert.deepEqual([portBlock(11211, 'h3'), portBlock(11211, 'h2')], ['reflection', null]);
  for (const port of [80, 443, 8443, 4433, 65_535])
    assert.deepEqual([portBlock(port, 'h3'), portBlock(port, 'h2')], [null, null]);
});
