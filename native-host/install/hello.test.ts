// How a launcher is started on each system: with an environment as minimal as a browser's, on Windows through cmd.exe.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchOf } from './hello.ts';

test('a launcher is a separate program, and gets no path to our runtime', () => {
  const environment = { HOME: '/home/a', PATH: '/opt/node/bin', SECRET: 'x' };
  assert.deepEqual(launchOf('/a b/host', ['chrome-extension://x/'], 'darwin', environment), {
    file: '/a b/host',
    args: ['chrome-extension://x/'],
    environment: { HOME: '/home/a', PATH: '/usr/local/bin:/usr/bin:/bin' },
    verbatim: false,
  });
});

test('on Windows cmd.exe runs it as browsers do, every word in quotes', () => {
  const environment = { SystemRoot: 'C:\\Windows', COMSPEC: 'C:\\Windows\\system32\\cmd.exe', Path: 'D:\\' };
  const launch = launchOf('C:\\a b\\host.cmd', ['C:\\a b\\m.json', 'x@y'], 'win32', environment);
  assert.equal(launch.file, 'C:\\Windows\\system32\\cmd.exe');
  assert.deepEqual(launch.args, ['/d', '/s', '/c', '""C:\\a b\\host.cmd" "C:\\a b\\m.json" "x@y""']);
  assert.equal(launch.verbatim, true);
  assert.deepEqual(Object.keys(launch.environment).sort(), ['COMSPEC', 'PATH', 'SystemRoot']);
});
