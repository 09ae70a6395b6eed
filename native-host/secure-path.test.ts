// Whose files are trusted, by owner and mode alone; real files are tested where they are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exposedSecret, insecureFile } from './secure-path.ts';

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
