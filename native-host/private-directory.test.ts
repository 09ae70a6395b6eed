import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makePrivateDirectory, whyNotWritable } from './private-directory.ts';

test('every missing level is created for the user alone, existing ones keep their mode', (t) => {
  const top = mkdtempSync(join(tmpdir(), 'photofinish-'));
  t.after(() => rmSync(top, { recursive: true }));
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
  const top = mkdtempSync(join(tmpdir(), 'photofinish-'));
  t.after(() => rmSync(top, { recursive: true, force: true }));
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
