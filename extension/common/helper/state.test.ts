import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateAfterDisconnect } from './state.ts';

const stateOf = (why: string | null) => stateAfterDisconnect(why).state;

test('no manifest, or a launcher that is gone: missing, in either browser’s words', () => {
  assert.equal(stateOf('Specified native messaging host not found.'), 'missing');
  assert.equal(stateOf('Failed to start native messaging host.'), 'missing');
  assert.equal(stateOf('No such native application org.photofinish.host'), 'missing');
  assert.equal(stateOf('An unexpected error occurred'), 'missing');
});

test('installed for another extension', () => {
  assert.deepEqual(stateAfterDisconnect('Access to the specified native messaging host is forbidden.'), {
    state: 'incompatible',
    message: 'The helper is installed for another extension.',
    foreign: true,
  });
});

test('a helper that exited or sent garbage crashed, and the reason is kept', () => {
  assert.equal(stateOf(null), 'crashed');
  const garbled =
    'Native application tried to send a message of 1819043176 bytes, which exceeds the limit of 1048576 bytes.';
  assert.deepEqual(stateAfterDisconnect(garbled), { state: 'crashed', message: garbled });
});
