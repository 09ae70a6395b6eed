// Whose files are trusted, by owner and mode alone; what the disk says of real ones is tested where they are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insecureFile } from './secure-path.ts';

test("only the user's and root's own files are trusted, and only those that nobody else writes", () => {
  assert.equal(insecureFile({ uid: 1000, mode: 0o600 }, 1000), null);
  assert.equal(insecureFile({ uid: 0, mode: 0o644 }, 1000), null);
  assert.match(insecureFile({ uid: 1001, mode: 0o600 }, 1000) ?? '', /another user/);
  assert.match(insecureFile({ uid: 1000, mode: 0o620 }, 1000) ?? '', /others can write it/);
});
