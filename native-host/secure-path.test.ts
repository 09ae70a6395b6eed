// Whose files are trusted, by owner and mode alone; real files are tested where they are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insecureFile } from './secure-path.ts';

test('only files of the user and root are trusted, and only if nobody else can write them', () => {
  assert.equal(insecureFile({ uid: 1000, mode: 0o600 }, 1000), null);
  assert.equal(insecureFile({ uid: 0, mode: 0o644 }, 1000), null);
  assert.match(insecureFile({ uid: 1001, mode: 0o600 }, 1000) ?? '', /another user/);
  assert.match(insecureFile({ uid: 1000, mode: 0o620 }, 1000) ?? '', /others can write it/);
});
