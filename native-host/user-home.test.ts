// An invalid home directory is never taken from the environment.
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { afterEach, test } from 'node:test';
import { userHome } from './user-home.ts';

const { HOME } = process.env;
afterEach(() => {
  if (HOME === undefined) delete process.env['HOME'];
  else process.env['HOME'] = HOME;
});

test('the home directory is the environment’s, unless that is empty or relative', () => {
  process.env['HOME'] = '/home/somebody';
  assert.equal(userHome(), '/home/somebody');
  for (const none of ['', 'relative', './there']) {
    process.env['HOME'] = none;
    assert.equal(userHome(), userInfo().homedir);
    assert.ok(isAbsolute(userHome()));
  }
});
