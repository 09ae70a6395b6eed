import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import type { HelperState } from '../messages.ts';
import { stateAfterDisconnect, stateAfterRefusal, stateOfOtherVersion } from './state.ts';

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

test('of two versions the numbers tell the older', () => {
  const older = (state: HelperState) => (state.state === 'incompatible' ? state.older : 'another state');
  assert.equal(older(stateOfOtherVersion(WIRE_PROTOCOL + 1, '')), 'extension');
  assert.equal(older(stateOfOtherVersion(WIRE_PROTOCOL - 1, '')), 'helper');
  const refused = (theirs: string) =>
    older(
      stateAfterRefusal('bad-protocol', `this helper speaks ${theirs} and the extension ${WIRE_PROTOCOL}`),
    );
  assert.equal(refused(`protocol ${WIRE_PROTOCOL + 1}`), 'extension');
  assert.equal(refused(`protocol ${WIRE_PROTOCOL - 1}`), 'helper');
  assert.equal(refused('no protocol of ours'), undefined);
});
