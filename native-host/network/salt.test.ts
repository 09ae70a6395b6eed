import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ASIDE } from '../paths.ts';
import { keptSalt, readSalt } from './salt.ts';

function saltOf(path: string): Uint8Array {
  const kept = keptSalt(path);
  assert.ok(kept.state === 'kept');
  return kept.salt;
}

test('the salt is created once, kept private, and held in memory if it cannot be stored', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'new', 'cache.db.salt');
  assert.equal(keptSalt(path).state, 'none');
  const salt = readSalt(path);
  assert.equal(salt.length, 32);
  assert.deepEqual(readSalt(path), salt);
  assert.deepEqual(saltOf(path), salt);
  assert.deepEqual(readFileSync(path), Buffer.from(salt));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(join(directory, 'file'), '');
  assert.equal(readSalt(join(directory, 'file', 'salt')).length, 32);
});

for (const [what, spoil] of [
  ['cut short', (path: string) => truncateSync(path, 31)],
  ['too long', (path: string) => appendFileSync(path, 'x')],
  ['empty', (path: string) => truncateSync(path, 0)],
  ['writable by others', (path: string) => chmodSync(path, 0o622)],
] as const)
  test(`a salt that is ${what} is set aside and replaced, once, with a message`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
    t.after(() => rm(directory, { recursive: true }));
    const path = join(directory, 'cache.db.salt');
    const before = readSalt(path);
    spoil(path);
    const spoilt = readFileSync(path);
    const said: string[] = [];
    const salt = readSalt(path, (message) => said.push(message));
    assert.notDeepEqual(salt, before);
    assert.deepEqual(
      readSalt(path, (message) => said.push(message)),
      salt,
    );
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /was replaced/);
    const aside = readdirSync(directory).filter((name) => name !== 'cache.db.salt');
    assert.equal(aside.length, 1);
    assert.match(aside[0]?.slice('cache.db'.length) ?? '', ASIDE);
    assert.deepEqual(readFileSync(join(directory, aside[0] ?? '')), spoilt);
  });

test('a pipe or a world-writable directory is refused as a place for the salt, without waiting or replacing', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(() => rm(directory, { recursive: true }));
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  mkdirSync(join(directory, 'open'));
  chmodSync(join(directory, 'open'), 0o777);
  for (const path of [pipe, join(directory, 'open', 'salt')]) {
    const said: string[] = [];
    assert.equal(readSalt(path, (message) => said.push(message)).length, 32);
    assert.match(said.join(), /cannot be used/);
  }
  assert.ok(statSync(pipe).isFIFO());
  assert.deepEqual(readdirSync(join(directory, 'open')), []);
});
