// The server of `survey run` against one that an earlier run left behind: two would spoil each other's data.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../testing/scratch.ts';
import { startServer } from './nats-server.ts';

const POSIX = process.platform !== 'win32';

/** A server left behind, and a machine with a nats-server that ends at once, and without ps. */
async function arrange(t: TestContext) {
  const dir = join(scratchDirectory(t), '.nats');
  const bin = scratchDirectory(t);
  mkdirSync(dir);
  writeFileSync(join(bin, 'nats-server'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const code = 'console.log(); setInterval(() => {}, 1000)';
  const former = spawn(process.execPath, ['-e', code, '--', '-c', join(dir, 'server.conf')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => former.kill('SIGKILL'));
  await once(former.stdout, 'data');
  writeFileSync(join(dir, 'server.pid'), `${former.pid}\n`);
  const { PATH: path = '' } = process.env;
  process.env.PATH = bin;
  t.after(() => {
    process.env.PATH = path;
  });
  return { dir, former };
}

test('on Linux it is found and ended without ps', { skip: process.platform !== 'linux' }, async (t) => {
  const { dir, former } = await arrange(t);
  const ended = once(former, 'exit');
  await assert.rejects(startServer(dir), { code: 'no-server', message: /did not start/ });
  assert.deepEqual(await ended, [null, 'SIGTERM']);
});

test('elsewhere, without ps, nothing is started beside a process that lives', { skip: !POSIX }, async (t) => {
  const { dir, former } = await arrange(t);
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  Object.defineProperty(process, 'platform', { ...platform, value: 'freebsd' });
  t.after(() => Object.defineProperty(process, 'platform', platform));
  await assert.rejects(startServer(dir), {
    code: 'bad-directory',
    message: new RegExp(`^process ${former.pid} may be running a survey`),
  });
  assert.equal(former.exitCode, null);
  const ended = once(former, 'exit');
  former.kill('SIGKILL');
  await ended;
  await assert.rejects(startServer(dir), { code: 'no-server', message: /did not start/ });
});
