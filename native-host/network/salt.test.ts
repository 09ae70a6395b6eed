import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptSalt, readSalt } from './salt.ts';

test('the salt is made once, kept private, and replaced in memory where it cannot be kept', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'new', 'cache.db.salt');
  assert.equal(keptSalt(path), null);
  const salt = readSalt(path);
  assert.equal(salt.length, 32);
  assert.deepEqual(readSalt(path), salt);
  assert.deepEqual(keptSalt(path), salt);
  assert.deepEqual(readFileSync(path), Buffer.from(salt));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(join(directory, 'file'), '');
  assert.equal(readSalt(join(directory, 'file', 'salt')).length, 32);
});
