// What the doctor says of the host cache and of what is copied of the fleet cache.
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { cacheFindings, copiedText } from './examination.ts';

const HOUR_MS = 3_600_000;

test('the newest outcome of the fleet cache is as old as its hour allows', (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  const cache = openHostCache({ path, clock: systemClock });
  const atMs = Math.floor(systemClock.epochMs() / HOUR_MS) * HOUR_MS;
  const key = 'a';
  cache.fileShared([{ key, outcome: { key, atMs, h3Failure: null, tcpProtocol: 'h2' } }], {});
  cache.close();
  const copied = '; 1 outcome is copied here, the newest within the last';
  assert.equal(copiedText(path, atMs + HOUR_MS), `${copied} hour`);
  assert.equal(copiedText(path, atMs + HOUR_MS + 1), `${copied} 2 hours`);
});

test('a damaged cache is noted as long as the file that was set aside is there', (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  openHostCache({ path, clock: systemClock }).close();
  assert.deepEqual(
    cacheFindings(path).map(({ state }) => state),
    ['ok'],
  );
  truncateSync(path, 5000);
  for (const look of ['that sets it aside', 'afterwards']) {
    const [cache, note, ...others] = cacheFindings(path);
    assert.equal(cache?.text, `${path}, 0 origins`, look);
    assert.equal(note?.state, 'note');
    assert.match(note?.text ?? '', /damaged; set aside as .*cache\.db\.corrupt-/);
    assert.deepEqual(others, []);
  }
  const [, note] = cacheFindings(path);
  const [, aside = ''] = /set aside as (\S+),/.exec(note?.text ?? '') ?? [];
  renameSync(aside, join(dirname(path), 'cache.db.corrupt-by-hand'));
  assert.equal(cacheFindings(path).length, 1);
});

test('a cache that cannot be looked at is a problem, not the end of the examination', {
  skip: process.platform === 'win32',
}, (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  symlinkSync('cache.db', path);
  const [finding, ...others] = cacheFindings(path);
  assert.equal(finding?.state, 'problem');
  assert.match(finding?.remedy ?? '', /^Make the file and its directory writable/);
  assert.deepEqual(others, []);
});

test('a directory in place of the cache is to be moved, or another file named', (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  mkdirSync(path);
  const [finding, ...others] = cacheFindings(path);
  assert.equal(finding?.state, 'problem');
  assert.match(finding?.text ?? '', /it is not a regular file/);
  assert.match(finding?.remedy ?? '', /^Move it elsewhere, or name another file with "cache"/);
  assert.deepEqual(others, []);
});
