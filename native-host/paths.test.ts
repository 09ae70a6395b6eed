// What is refused, and what is created, where the helper reads and writes; and the log that it writes there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { afterEach, test } from 'node:test';
import { openHostCache } from './cache/store.ts';
import { systemClock } from './clock.ts';
import { openLog } from './log.ts';
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

test("another user's link in a shared directory leads to nothing that is written", (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can give a link to another user');
  const directory = scratchDirectory(t);
  const shared = join(directory, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  const own = join(directory, 'own');
  writeFileSync(own, '');
  symlinkSync(own, join(shared, 'helper.log'));
  symlinkSync(directory, join(shared, 'logs'));
  symlinkSync(join(directory, 'none'), join(shared, 'cache.db.lock'));
  const log = (path: string) => openLog({ path, salt: Buffer.alloc(32), clock: { epochMs: () => 0 } });
  const paths = ['helper.log', 'logs/own'].map((name) => join(shared, name));
  for (const path of paths) log(path).write('start');
  assert.notEqual(readFileSync(own, 'utf8'), '');
  for (const link of ['helper.log', 'logs', 'cache.db.lock']) lchownSync(join(shared, link), 65_534, 65_534);
  writeFileSync(own, '');
  for (const path of paths) log(path).write('start');
  assert.equal(readFileSync(own, 'utf8'), '');
  const cache = openHostCache({ path: join(shared, 'cache.db'), clock: systemClock });
  assert.match(cache.stats().storeReason ?? '', /cache\.db\.lock belongs to another user/);
  cache.close();
});
