import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLog } from './log.ts';
import { scratchDirectory } from './testing/scratch.ts';

test('lines are JSON, the file is private, an overlong one is rotated once, a wipe deletes both', async (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, 'logs', 'helper.log');
  const log = openLog({ path, salt: Buffer.alloc(32, 1), clock: { epochMs: () => 0 } });
  log.write('race', { host: log.digest('https://a.test') });
  const [line = ''] = readFileSync(path, 'utf8').split('\n');
  assert.deepEqual(JSON.parse(line), {
    at: '1970-01-01T00:00:00.000Z',
    event: 'race',
    host: log.digest('https://a.test'),
  });
  assert.ok(!line.includes('a.test'));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(path, 'x'.repeat(1024 * 1024 + 1));
  chmodSync(path, 0o644);
  log.write('start');
  assert.ok(statSync(path).size < 100);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.ok(existsSync(`${path}.1`));
  log.wipe();
  assert.ok(!existsSync(path) && !existsSync(`${path}.1`));
});

test('a host has one digest per salt', () => {
  const log = (salt: number) =>
    openLog({ path: null, salt: Buffer.alloc(32, salt), clock: { epochMs: () => 0 } });
  assert.equal(log(1).digest('a.test'), log(1).digest('a.test'));
  assert.notEqual(log(1).digest('a.test'), log(2).digest('a.test'));
  assert.match(log(1).digest('a.test'), /^[0-9a-f]{16}$/);
});

test('a pipe or a world-writable directory is refused as a place for the log, without blocking', async (t) => {
  const directory = scratchDirectory(t);
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const open = join(directory, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  for (const path of [pipe, join(open, 'helper.log')]) {
    const said: string[] = [];
    const complain = (words: string) => said.push(words);
    const log = openLog({ path, salt: Buffer.alloc(32), clock: { epochMs: () => 0 }, complain });
    for (let n = 0; n < 3; n += 1) log.write('start');
    assert.equal(said.length, 1, 'once');
    assert.match(said[0] ?? '', /^photofinish: log: .* cannot be written: /);
  }
  assert.deepEqual(readdirSync(open), []);
});
