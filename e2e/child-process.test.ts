// The programs that tests run. A server that dies while it starts must fail its test at once, with its own words, instead
// of being waited for; what a command that fails says comes before its long command line; and which paths the flags of
// the Rust build remap.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { openLineChannel, runOrThrow, whenReady } from './child-process.ts';
import { startProgram } from './origins/stack.ts';
import { pathRemapFlags } from './test-programs.ts';

const shell = (script: string) => spawn('sh', ['-c', script]);

test('a program is ready with its first line, and ends when its input is closed', async () => {
  const child = shell('echo listening; echo more; cat');
  const { line, stop } = await whenReady('it', child);
  assert.equal(line, 'listening');
  await stop();
  assert.equal(child.exitCode, 0);
});

test('a program that ends before it is ready is rejected with its standard error', async () => {
  await assert.rejects(whenReady('it', shell('echo the port is taken >&2; exit 1')), {
    message: 'it did not start: the port is taken',
  });
});

test('a program that cannot be started is rejected', async () => {
  await assert.rejects(whenReady('it', spawn('/nonexistent')), { code: 'ENOENT' });
});

test('a program that prints unasked is not held up, and loses no line', { timeout: 30_000 }, async (t) => {
  const child = spawn('seq', ['50000']);
  t.after(() => child.kill());
  const { next, stop } = openLineChannel('it', child);
  assert.equal(await next(), '1');
  await stop();
  for (let line = 2; line <= 50_000; line += 1) assert.equal(await next(), String(line));
  await assert.rejects(next(), { message: 'it has ended: ' });
});

test('a server that a signal ends before it is ready is rejected at once', { timeout: 30_000 }, async () => {
  const dying = { name: 'it', file: 'sh', args: ['-c', 'echo out of memory >&2; kill -KILL $$'] };
  await assert.rejects(startProgram({ ...dying, ready: () => false }), {
    message: 'it did not start:\nout of memory\n',
  });
});

test('a command that fails is rejected with its reason before its command line', async () => {
  await assert.rejects(runOrThrow('sh', ['-c', 'echo there is no file >&2; exit 1']), {
    message: 'there is no file\nCommand: sh -c echo there is no file >&2; exit 1',
  });
});

const FLAGS = '--remap-path-prefix=/a/top=/photofinish --remap-path-prefix=/home/a/.cargo=/cargo';

test('checkout and downloads get the same names everywhere', () => {
  assert.equal(pathRemapFlags('/a/top', '/home/a/.cargo'), FLAGS);
});

test('flags set by the user stay, and ours are added once', () => {
  assert.equal(pathRemapFlags('/a/top', '/home/a/.cargo', '-C debuginfo=1'), `-C debuginfo=1 ${FLAGS}`);
  assert.equal(pathRemapFlags('/a/top', '/home/a/.cargo', FLAGS), FLAGS);
});

test('a path with a space would split the flags, and is left out', () => {
  assert.equal(pathRemapFlags('/a top', '/home/a/.cargo'), '--remap-path-prefix=/home/a/.cargo=/cargo');
});
