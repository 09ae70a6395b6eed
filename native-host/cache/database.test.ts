// The cache's file: what is opened, set aside and refused, processes that share it, and files of earlier versions.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { systemClock } from '../clock.ts';
import { observation, race, trial, up } from '../testing/cache-samples.ts';
import { Database } from './database.ts';
import { APPLICATION_ID, isPlainlyCurrent, SCHEMA_VERSION, whyNotOurs } from './schema.ts';
import { cacheSalt, type HostCache, openHostCache } from './store.ts';

const A = 'https://a.test' as Origin;
const WRITER = join(import.meta.dirname, '../testing/cache-writer.ts');

/** Caches opened by the current test, closed before its directory is removed: closing a cache writes its counters. */
const opened = new Set<HostCache>();

async function folder(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(async () => {
    for (const cache of opened) cache.close();
    opened.clear();
    await rm(directory, { recursive: true, force: true });
  });
  return directory;
}

function open(path: string, said: string[] = []): HostCache {
  const cache = openHostCache({ path, clock: systemClock, log: (message) => said.push(message) });
  opened.add(cache);
  return cache;
}

const observations = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    observation({ origin: `https://h${n}.test` as Origin, atMs: Date.now() }),
  );

interface Writer {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly errors: string[];
  readonly ended: Promise<unknown>;
  /** Resolves once its output so far is enough; rejects when the process ends before. */
  until(isEnough: () => boolean): Promise<void>;
}

function write(path: string, name: string, batches: number, prefix: readonly string[] = []): Writer {
  const [command = '', ...args] = [...prefix, process.execPath, WRITER, path, name, String(batches)];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const news = new EventEmitter();
  const collect = (stream: ChildProcess['stdout']): string[] => {
    const lines: string[] = [];
    let rest = '';
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
      news.emit('news');
    });
    return lines;
  };
  const [lines, errors] = [collect(child.stdout), collect(child.stderr)];
  const ended = once(child, 'close');
  child.once('close', () => news.emit('news'));
  return {
    child,
    lines,
    errors,
    ended,
    async until(isEnough) {
      while (!isEnough()) {
        assert.ok(child.exitCode === null && child.signalCode === null, `it ended: ${errors.join()}`);
        await once(news, 'news');
      }
    },
  };
}

function sitesIn(cache: HostCache): Set<string> {
  return new Set(cache.show(A).uses.map((use) => use.site));
}

test('a corrupt file of ours is set aside and replaced, with a message', async (t) => {
  const path = join(await folder(t), 'cache.db');
  open(path).close();
  const garbage = readFileSync(path).fill('this is no database', 100);
  writeFileSync(path, garbage);
  const said: string[] = [];
  const cache = open(path, said);
  assert.equal(cache.observe('home', 'chromium', observations(1)), 1);
  assert.equal(cache.stats().store, 'sqlite');
  const aside = readdirSync(join(path, '..')).filter((name) =>
    /^cache\.db\.corrupt-[^-]*-[^-]*-[^-]*$/.test(name),
  );
  assert.equal(aside.length, 1);
  assert.deepEqual(readFileSync(join(path, '..', aside[0] ?? '')), garbage);
  assert.match(said.join(), /corrupt/);
});

for (const [what, text] of [
  ['of words', 'Dear diary, '.repeat(1000)],
  ['of one word', 'x'],
  ["of SQLite's that is garbage behind its head", `SQLite format 3\0${'\0'.repeat(84)}${'x'.repeat(8192)}`],
] as const)
  test(`a file ${what} is left alone to the byte, with nothing beside it, even by a wipe`, async (t) => {
    const directory = await folder(t);
    const path = join(directory, 'diary.txt');
    writeFileSync(path, text, { mode: 0o644 });
    const cache = open(path);
    assert.equal(cache.stats().store, 'memory');
    assert.match(cache.stats().storeReason ?? '', /left alone/);
    assert.throws(() => cache.wipe(), /left alone/);
    assert.equal(cacheSalt(path).length, 32);
    assert.equal(readFileSync(path, 'latin1'), text);
    assert.equal(statSync(path).mode & 0o777, 0o644);
    assert.deepEqual(readdirSync(directory), ['diary.txt']);
  });

test('a file that turns into something else under a running helper is left alone', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const cache = open(path);
  cache.observe('home', 'chromium', observations(1));
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  rmSync(path);
  writeFileSync(path, 'Dear diary, '.repeat(1000));
  assert.equal(cache.observe('home', 'chromium', observations(1)), 1);
  assert.equal(cache.stats().store, 'memory');
  assert.match(readFileSync(path, 'utf8'), /^Dear diary/);
});

test('a file is marked as ours before its journal is checkpointed', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const writer = write(path, 'w', 100_000);
  await writer.until(() => writer.lines.length >= 1);
  writer.child.kill('SIGKILL');
  await writer.ended;
  assert.equal(whyNotOurs(path), null);
  assert.match(whyNotOurs(WRITER) ?? '', /no SQLite database/);
});

test('a file that becomes corrupt under two running helpers is replaced once, and both continue in the new one', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const writer = open(path);
  writer.observe('home', 'chromium', observations(2000));
  writer.close();
  const pages = readFileSync(path);
  pages.fill(0xff, 4096);
  writeFileSync(path, pages);
  const said: string[] = [];
  const first = open(path, said);
  const second = open(path, said);
  const origins = observations(2000)
    .map((o) => o.origin)
    .slice(0, 500);
  const query = { network: 'home', browser: 'chromium', site: 'a.test', origins } as const;
  assert.equal(first.forecast(query).length, 500);
  assert.equal(second.forecast(query).length, 500);
  first.observe('home', 'chromium', [observation({ atMs: Date.now(), protocol: 'h3' })]);
  assert.equal(second.show(A).uses[0]?.protocol, 'h3');
  assert.equal(said.filter((line) => line.includes('corrupt')).length, 1);
});

test('a file of a newer version is left alone to the byte; the helper works in memory and reports it', async (t) => {
  const path = join(await folder(t), 'cache.db');
  open(path).close();
  const newer = new DatabaseSync(path);
  newer.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}; CREATE TABLE future (x)`);
  newer.close();
  const before = readFileSync(path);
  const said: string[] = [];
  const cache = open(path, said);
  assert.equal(cache.observe('home', 'chromium', observations(3)), 3);
  assert.equal(cache.stats().origins, 3);
  assert.equal(cache.stats().store, 'memory');
  assert.match(cache.stats().storeReason ?? '', /newer version/);
  assert.match(said.join(), /memory only/);
  cache.close();
  assert.deepEqual(readFileSync(path), before);
});

test('so is one whose newer version is only in its journal yet', async (t) => {
  const path = join(await folder(t), 'cache.db');
  open(path).close();
  assert.equal(isPlainlyCurrent(path), true);
  const newer = new DatabaseSync(path);
  newer.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}; CREATE TABLE future (x)`);
  assert.equal(isPlainlyCurrent(path), false);
  const before = [path, `${path}-wal`].map((file) => readFileSync(file));
  const cache = open(path);
  assert.match(cache.stats().storeReason ?? '', /newer version/);
  cache.close();
  assert.deepEqual(
    [path, `${path}-wal`].map((file) => readFileSync(file)),
    before,
  );
  newer.close();
  assert.equal(isPlainlyCurrent(path), false);
});

test('journals are looked for beside the file that a link leads to', async (t) => {
  const directory = await folder(t);
  const [path, link] = [join(directory, 'real.db'), join(directory, 'cache.db')];
  open(path).close();
  symlinkSync(path, link);
  const newer = new DatabaseSync(path);
  newer.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}; CREATE TABLE future (x)`);
  assert.equal(isPlainlyCurrent(link), false);
  newer.close();
});

test("another program's database is left alone, with nothing beside it, whichever journal it keeps", async (t) => {
  for (const journal of ['DELETE', 'WAL']) {
    const directory = await folder(t);
    const path = join(directory, 'places.sqlite');
    const foreign = new DatabaseSync(path);
    foreign.exec(`PRAGMA journal_mode = ${journal}; CREATE TABLE bookmarks (url)`);
    foreign.close();
    const before = readFileSync(path);
    assert.match(open(path).stats().storeReason ?? '', /another program/);
    assert.equal(cacheSalt(path).length, 32);
    assert.deepEqual(readFileSync(path), before);
    assert.deepEqual(readdirSync(directory), ['places.sqlite']);
  }
});

test('a directory writable by others, a pipe, and a file of another user are not trusted', async (t) => {
  const directory = await folder(t);
  const shared = join(directory, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  symlinkSync(join(shared, 'cache.db'), join(directory, 'dangling.db'));
  symlinkSync(shared, join(directory, 'link'));
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  execFileSync('mkfifo', [join(directory, 'beside.db-wal')]);
  const table: [string, RegExp][] = [
    [join(shared, 'cache.db'), /others can write its directory/],
    [join(shared, 'deep', 'cache.db'), /others can write its directory/],
    [join(directory, 'link', 'cache.db'), /others can write its directory/],
    [join(directory, 'dangling.db'), /leads nowhere/],
    [pipe, /not a regular file/],
    [join(directory, 'beside.db'), /beside\.db-wal is not trusted: it is not a regular file/],
  ];
  for (const [path, words] of table) {
    const { store, storeReason } = open(path).stats();
    assert.equal(store, 'memory', path);
    assert.match(storeReason ?? '', words);
  }
  assert.deepEqual(readdirSync(shared), []);
  chmodSync(shared, 0o1777);
  assert.equal(open(join(shared, 'cache.db')).stats().store, 'sqlite');
});

test('where no file can be created the cache works in memory and reports why', async (t) => {
  const directory = await folder(t);
  writeFileSync(join(directory, 'file'), '');
  const cache = open(join(directory, 'file', 'cache.db'));
  assert.equal(cache.observe('home', 'chromium', observations(1)), 1);
  assert.equal(
    cache.forecast({ network: 'home', browser: 'chromium', site: 'a.test', origins: [A] }).length,
    1,
  );
  assert.equal(cache.stats().store, 'memory');
  assert.notEqual(cache.stats().storeReason, null);
});

test('a cache that began in memory uses its file once that is possible, and tells both once', async (t) => {
  const directory = await folder(t);
  const path = join(directory, 'state', 'cache.db');
  writeFileSync(join(directory, 'state'), '');
  let nowMs = 0;
  const clock = { ...systemClock, nowMs: () => nowMs };
  const said: [string, boolean][] = [];
  const cache = openHostCache({ path, clock, log: (...message) => said.push(message) });
  opened.add(cache);
  const seen = (id: string) => cache.observe('home', 'chromium', [observation({ id, atMs: Date.now() })]);
  nowMs = 60_000;
  seen('a');
  assert.equal(cache.stats().store, 'memory');
  rmSync(join(directory, 'state'));
  seen('b');
  assert.equal(cache.stats().store, 'memory', 'not with every write');
  nowMs += 10_000;
  assert.equal(seen('a'), 1, 'what was refused can be sent again');
  assert.deepEqual([cache.stats().store, cache.stats().storeReason], ['sqlite', null]);
  assert.equal(open(path).show(A).uses.length, 1);
  assert.deepEqual(
    said.map(([message, isTrouble]) => [message.split(/[:(]/)[0], isTrouble]),
    [
      ['the host cache works in memory only', true],
      ['the host cache uses its file again ', false],
    ],
  );
});

test('races that were recorded in memory are in the file once there is one, unless they were wiped', async (t) => {
  const directory = await folder(t);
  const path = join(directory, 'state', 'cache.db');
  writeFileSync(join(directory, 'state'), '');
  let nowMs = 0;
  const cache = openHostCache({ path, clock: { ...systemClock, nowMs: () => nowMs }, log: () => {} });
  opened.add(cache);
  const record = (name: string) =>
    cache.recordRace(race([trial(up('h3'))], { origin: `https://${name}.test` as Origin }));
  record('wiped');
  cache.wipe();
  for (const name of ['one', 'two']) record(name);
  cache.forecast({ network: 'home', browser: 'chromium', site: 'a.test', origins: [A] });
  assert.partialDeepStrictEqual(cache.stats(), { store: 'memory', races: 2, lookups: 1 });
  rmSync(join(directory, 'state'));
  nowMs += 10_000;
  for (const name of ['three', 'four']) record(name);
  assert.equal(cache.stats().store, 'sqlite');
  assert.deepEqual(
    open(path)
      .list()
      .map((host) => [host.origin, host.races]),
    ['four', 'one', 'three', 'two'].map((name) => [`https://${name}.test`, 1]),
  );
  const { races, lookups } = open(path).stats();
  assert.deepEqual([races, lookups], [4, 1]);
});

test('a race that was recorded in memory replaces nothing newer that another helper has written', async (t) => {
  const directory = await folder(t);
  const path = join(directory, 'state', 'cache.db');
  writeFileSync(join(directory, 'state'), '');
  let afterMs = 0;
  const startMs = Date.now();
  const clock = { ...systemClock, nowMs: () => afterMs, epochMs: () => startMs + afterMs };
  const helper = () => {
    const cache = openHostCache({ path, clock, log: () => {} });
    opened.add(cache);
    return cache;
  };
  const record = (cache: HostCache, name: string, protocol: 'h3' | 'h2') =>
    cache.recordRace(race([trial(up(protocol))], { origin: `https://${name}.test` as Origin }));
  const first = helper();
  record(first, 'both', 'h3');
  record(first, 'own', 'h3');
  assert.equal(first.stats().store, 'memory');
  rmSync(join(directory, 'state'));
  afterMs += 300_000;
  record(helper(), 'both', 'h2');
  afterMs += 1000;
  record(first, 'other', 'h3');
  assert.equal(first.stats().store, 'sqlite');
  assert.deepEqual(
    first.list().map((host) => [host.origin, host.adopted, host.updatedAtMs - startMs]),
    [
      ['https://both.test', 'h2', 300_000],
      ['https://other.test', 'h3', 301_000],
      ['https://own.test', 'h3', 0],
    ],
  );
});

test('writes that fail are told once, and so is that they succeed again', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const said: string[] = [];
  const cache = open(path, said);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  for (const _ of [1, 2]) assert.throws(() => cache.observe('home', 'chromium', observations(1)), /locked/);
  other.exec('COMMIT');
  other.close();
  for (const _ of [1, 2]) cache.observe('home', 'chromium', observations(1));
  assert.deepEqual(said, [
    'the host cache could not be written: database is locked',
    'the host cache is written again',
  ]);
});

test('a file removed under a running helper is created again, instead of writing to the unlinked one', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const cache = open(path);
  cache.observe('home', 'chromium', observations(2));
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  cache.observe('home', 'chromium', [observation({ atMs: Date.now() })]);
  assert.deepEqual(sitesIn(open(path)), new Set(['a.test']));
});

test('an empty file, left by a crash at the first start, is used', async (t) => {
  const path = join(await folder(t), 'cache.db');
  writeFileSync(path, '');
  assert.equal(open(path).stats().store, 'sqlite');
});

test('a truncated journal loses at most what was never acknowledged', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const writer = write(path, 'w', 100_000);
  await writer.until(() => writer.lines.length >= 50);
  writer.child.kill('SIGKILL');
  await writer.ended;
  // Bytes after the last commit, left by an interrupted write.
  writeFileSync(`${path}-wal`, 'half a frame', { flag: 'a' });
  const sites = sitesIn(open(path));
  for (const id of writer.lines) assert.ok(sites.has(`${id}.test`), id);
});

test('four processes that start and write concurrently lose nothing', async (t) => {
  const path = join(await folder(t), 'state', 'cache.db');
  const writers = ['a', 'b', 'c', 'd'].map((name) => write(path, name, 100));
  await Promise.all(writers.map((writer) => writer.ended));
  for (const writer of writers) assert.equal(writer.lines.at(-1), 'store sqlite', writer.errors.join());
  const sites = sitesIn(open(path));
  const acknowledged = writers.flatMap((writer) => writer.lines.slice(0, -1));
  assert.equal(acknowledged.length, 400);
  for (const id of acknowledged) assert.ok(sites.has(`${id}.test`), id);
});

test('four processes killed during writes lose nothing that was acknowledged, and leave the file intact', async (t) => {
  const path = join(await folder(t), 'cache.db');
  for (const round of [1, 2]) {
    const writers = ['a', 'b', 'c', 'd'].map((name) => write(path, `${name}${round}`, 100_000));
    await Promise.all(writers.map((writer) => writer.until(() => writer.lines.length >= 10)));
    for (const { child } of writers) child.kill('SIGKILL');
    await Promise.all(writers.map((writer) => writer.ended));
    const cache = open(path);
    const sites = sitesIn(cache);
    for (const id of writers.flatMap((writer) => writer.lines)) assert.ok(sites.has(`${id}.test`), id);
    cache.close();
  }
  const db = new DatabaseSync(path);
  assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  db.close();
});

test('with the disk full forecasts continue, and nothing is acknowledged that was not stored', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const seed = open(path);
  seed.observe('home', 'chromium', [observation({ atMs: Date.now() })]);
  seed.close();
  // 256 blocks of 512 bytes: enough to open the file, not to continue writing. The limit stands in for a full disk.
  const writer = write(path, 'w', 5000, ['sh', '-c', 'ulimit -f 256; exec "$@"', 'sh']);
  await writer.until(() => writer.errors.some((line) => line.includes('could not be written')));
  writer.child.kill('SIGKILL');
  await writer.ended;
  const cache = open(path);
  const sites = sitesIn(cache);
  assert.ok(writer.lines.length > 0);
  for (const id of writer.lines) assert.ok(sites.has(`${id}.test`), id);
  assert.ok(sites.has('a.test'));
});

test('a file truncated under a running helper does not end it', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const seed = open(path);
  seed.observe('home', 'chromium', observations(2000));
  seed.close();
  const cache = open(path);
  truncateSync(path, 10_000);
  cache.observe('home', 'chromium', [observation({ atMs: Date.now() })]);
  assert.equal(cache.show(A).uses.length, 1);
});

test('a discarded file is removed with its journals, and other helpers switch to the new one', async (t) => {
  const path = join(await folder(t), 'cache.db');
  const other = open(path);
  other.observe('home', 'chromium', observations(10));
  const database = new Database({
    path,
    clock: systemClock,
    prepare: (db) => db,
    log: () => {},
    damaged: () => {},
  });
  database.discard();
  const files = [path, `${path}-wal`].map((file) => readFileSync(file, 'latin1'));
  database.close();
  assert.ok(!files.some((text) => text.includes('h1.test')));
  assert.deepEqual(other.list(), []);
  assert.equal(other.observe('home', 'chromium', [observation({ id: 'new', atMs: Date.now() })]), 1);
});

const NOW = 1_700_000_000_000;

/** The tables as created by version 1. Copied here because such files exist, however the current schema changes. */
const VERSION_1 = `
  CREATE TABLE host (
    origin TEXT NOT NULL, network TEXT NOT NULL, adopted TEXT,
    h3AtMs REAL, h3UntilMs REAL, h3Basis TEXT, h3HandshakeMs REAL, h3RttMs REAL,
    h3FailedAtMs REAL, h3Failure TEXT, h3Failures INTEGER NOT NULL, h3BackOffUntilMs REAL,
    tcpProtocol TEXT, tcpAtMs REAL, tcpHandshakeMs REAL, tcpRttMs REAL, tcpFailedAtMs REAL, tcpFailure TEXT,
    altSvc TEXT, altSvcAtMs REAL, altSvcUntilMs REAL,
    knownRoot INTEGER, races INTEGER NOT NULL, updatedAtMs REAL NOT NULL,
    PRIMARY KEY (origin, network)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX hostAge ON host (updatedAtMs);
  CREATE TABLE browserUse (
    browser TEXT NOT NULL, origin TEXT NOT NULL, site TEXT NOT NULL, network TEXT NOT NULL,
    protocol TEXT, protocolAtMs REAL, tcpProtocol TEXT,
    advertisedAtMs REAL, advertisedUntilMs REAL, stays INTEGER NOT NULL, seenAtMs REAL NOT NULL,
    PRIMARY KEY (origin, site, browser, network)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX browserUseAge ON browserUse (seenAtMs);
  CREATE TABLE folded (id TEXT PRIMARY KEY, atMs REAL NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX foldedAge ON folded (atMs);
  CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = 1;
`;

test('a file of version 1 becomes a current one and keeps what it knew', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const path = join(directory, 'cache.db');
  const old = new DatabaseSync(path);
  old.exec(VERSION_1);
  const put = old.prepare(
    `INSERT INTO host (origin, network, h3AtMs, h3UntilMs, h3Basis, h3RttMs, h3Failures, altSvc, altSvcAtMs,
      altSvcUntilMs, races, updatedAtMs) VALUES (?, ?, ?, ?, 'raced', 12, 0, 'h3=":443"', ?, ?, 3, ?)`,
  );
  for (const [origin, network] of [
    [A, 'home'],
    [A, 'work'],
    ['https://b.test', 'home'],
  ] as const)
    put.run(origin, network, NOW - 10, NOW + 10_000, NOW - 10, NOW + 10_000, NOW);
  old
    .prepare(
      "INSERT INTO browserUse VALUES ('chromium', ?, 'a.test', 'home', 'h2', ?, 'h2', NULL, NULL, 2, ?)",
    )
    .run(A, NOW, NOW);
  old.exec("INSERT INTO counter VALUES ('lookups', 7), ('hits', 5), ('races', 3)");
  old.close();

  const clock = { nowMs: () => NOW, epochMs: () => NOW, after: () => () => {} };
  const said: string[] = [];
  const cache = openHostCache({ path, clock, log: (message) => said.push(message) });
  t.after(async () => {
    cache.close();
    await rm(directory, { recursive: true });
  });
  const { store, origins, lookups, hits, races, raceLookups } = cache.stats();
  assert.deepEqual([store, origins, lookups, hits, races, raceLookups], ['sqlite', 2, 7, 5, 3, 0]);
  const recalled = cache.recall('home', A);
  assert.deepEqual([recalled?.decision, recalled?.altSvc?.text], ['h3', 'h3=":443"']);
  // It is unknown when this was measured, so it is no hint; the mean itself stays and is updated.
  assert.equal(recalled?.hints.h3, null);
  assert.equal(cache.show(A).hosts[0]?.h3RttMs, 12);
  const [forecast] = cache.forecast({ network: 'home', browser: 'chromium', site: 'a.test', origins: [A] });
  assert.deepEqual(forecast?.expected, { protocol: 'h2', basis: 'observed' });
  assert.equal(cache.show(A).uses[0]?.stays, 2);
  const { failedHosts, reachedHosts } = cache.udpEvidence('home', A);
  assert.deepEqual([failedHosts, reachedHosts], [0, 1]);
  assert.deepEqual(said, []);
});
