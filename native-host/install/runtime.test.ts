// That an update of Node by Homebrew does not take the launcher's runtime away, and other paths stay as they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastingRuntime } from './runtime.ts';

for (const [runtime, there, lasting] of [
  [
    '/opt/homebrew/Cellar/node/24.15.0/bin/node',
    '/opt/homebrew/opt/node/bin/node',
    '/opt/homebrew/opt/node/bin/node',
  ],
  [
    '/home/linuxbrew/.linuxbrew/Cellar/node@24/24.15.0_1/bin/node',
    '/home/linuxbrew/.linuxbrew/opt/node@24/bin/node',
    '/home/linuxbrew/.linuxbrew/opt/node@24/bin/node',
  ],
  ['/opt/homebrew/Cellar/node/24.15.0/bin/node', null, '/opt/homebrew/Cellar/node/24.15.0/bin/node'],
  ['/usr/bin/node', '/usr/opt/node', '/usr/bin/node'],
  ['C:\\Program Files\\nodejs\\node.exe', null, 'C:\\Program Files\\nodejs\\node.exe'],
] as const)
  test(`${runtime}${there === null ? '' : ` with ${there}`}`, () => {
    assert.equal(
      lastingRuntime(runtime, (path) => path === there),
      lasting,
    );
  });
