import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makePrivateDirectory } from './private-directory.ts';

test('every missing level is made for the user alone, what exists keeps its mode', (t) => {
  const top = mkdtempSync(join(tmpdir(), 'photofinish-'));
  t.after(() => rmSync(top, { recursive: true }));
  makePrivateDirectory(join(top, 'a/b'));
  makePrivateDirectory(join(top, 'a/b'));
  for (const made of ['a', 'a/b']) assert.equal(statSync(join(top, made)).mode & 0o777, 0o700);
  writeFileSync(join(top, 'file'), '');
  assert.throws(() => makePrivateDirectory(join(top, 'file/below')), { code: 'ENOTDIR' });
});

test('a directory that takes no entries is an error at once', { skip: process.platform !== 'linux' }, () => {
  assert.throws(() => makePrivateDirectory('/proc/photofinish/state'), { code: 'ENOENT' });
});
