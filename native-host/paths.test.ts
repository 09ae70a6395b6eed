// What is refused, and what is created, where the helper reads and writes.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { afterEach, test } from 'node:test';
import { exposedSecret, insecureFile, makePrivateDirectory, userHome, whyNotWritable } from './paths.ts';
import { scratchDirectory } from './testing/scratch.ts';

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

test('an account that the system does not know has a home that does not exist', (t) => {
  delete process.env['HOME'];
  const os = process.getBuiltinModule('node:os');
  const unknown = (): never => {
    throw new Error('A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)');
  };
  t.mock.method(os, 'homedir', unknown);
  t.mock.method(os, 'userInfo', unknown);
  assert.ok(isAbsolute(userHome()));
  assert.equal(existsSync(userHome()), false);
});

test('every missing level is created for the user alone, existing ones keep their mode', (t) => {
  const top = scratchDirectory(t);
  makePrivateDirectory(join(top, 'a/b'));
  makePrivateDirectory(join(top, 'a/b'));
  for (const made of ['a', 'a/b']) assert.equal(statSync(join(top, made)).mode & 0o777, 0o700);
  writeFileSync(join(top, 'file'), '');
  assert.throws(() => makePrivateDirectory(join(top, 'file/below')), { code: 'ENOTDIR' });
});

test('a directory that accepts no entries is an error at once', {
  skip: process.platform !== 'linux',
}, () => {
  assert.throws(() => makePrivateDirectory('/proc/photofinish/state'), { code: 'ENOENT' });
});

test('writability, and the reason against it, is determined without writing', (t) => {
  const top = scratchDirectory(t);
  assert.equal(whyNotWritable(join(top, 'a/b')), null);
  assert.deepEqual(readdirSync(top), []);
  writeFileSync(join(top, 'file'), '');
  assert.equal(whyNotWritable(join(top, 'file/below')), `${join(top, 'file')} is not a directory`);
  // Root may write everywhere that is not mounted read-only.
  if (process.getuid?.() === 0) return;
  mkdirSync(join(top, 'locked'));
  chmodSync(join(top, 'locked'), 0o500);
  assert.equal(whyNotWritable(join(top, 'locked/a')), `you may not write to ${join(top, 'locked')} (EACCES)`);
});

test('only files of the user and root are trusted, and only if nobody else can write them', () => {
  assert.equal(insecureFile({ uid: 1000, mode: 0o600 }, 1000), null);
  assert.equal(insecureFile({ uid: 0, mode: 0o644 }, 1000), null);
  assert.match(insecureFile({ uid: 1001, mode: 0o600 }, 1000) ?? '', /another user/);
  assert.match(insecureFile({ uid: 1000, mode: 0o620 }, 1000) ?? '', /others can write it/);
});

test('a secret is only what others cannot read, unless root gave it to a group', () => {
  assert.equal(exposedSecret({ uid: 1000, mode: 0o600 }, 1000), null);
  assert.match(exposedSecret({ uid: 1000, mode: 0o604 }, 1000) ?? '', /others can read it; run: chmod go-r/);
  assert.match(exposedSecret({ uid: 1000, mode: 0o640 }, 1000) ?? '', /others can read it/);
  assert.equal(exposedSecret({ uid: 0, mode: 0o640 }, 1000), null);
  assert.match(exposedSecret({ uid: 0, mode: 0o644 }, 1000) ?? '', /others can read it; run: chmod o-r/);
  assert.match(exposedSecret({ uid: 0, mode: 0o640 }, 0) ?? '', /others can read it/);
  assert.match(exposedSecret({ uid: 1001, mode: 0o600 }, 1000) ?? '', /another user/);
  assert.match(exposedSecret({ uid: 1000, mode: 0o620 }, 1000) ?? '', /others can write it/);
});
