// The real helper with hostile files, disks and pipes: it continues, or ends in an orderly way, and reports why.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type Reply, replySchema } from '@photofinish/shared/port/reply';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import * as v from 'valibot';
import { observation } from './testing/cache-samples.ts';
import { closedPort } from './testing/peers.ts';
import { CALLER, forecast, home, MAIN } from './testing/spawned-helper.ts';
import { createDeframer, frame } from './wire/framing.ts';

test('pipes in place of cache, salt and log are refused and reported, without blocking', async (t) => {
  const at = await home(t);
  mkdirSync(join(at.directory, 'state'));
  for (const name of ['cache.db', 'cache.db.salt', 'helper.log'])
    execFileSync('mkfifo', [join(at.directory, 'state', name)]);
  const helper = await at.greet();
  helper.send(forecast(2));
  assert.equal((await helper.next('forecast')).forecasts.length, 1);
  helper.send({ type: 'stats', id: 3 });
  assert.match((await helper.next('stats')).storeReason ?? '', /not a regular file/);
  assert.equal(await helper.leave(), 0);
  assert.match(helper.stderr(), /^photofinish: log: .*not a regular file\n$/);
});

const ORIGINS = Array.from({ length: 500 }, (_, n) => `https://h${n}.test`);

/** The real helper with a pipe whose reader never reads; `ask` sends this many large questions. */
async function unread(t: TestContext) {
  const at = await home(t);
  const pipe = join(at.directory, 'stdout');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(fd));
  const child = spawn(process.execPath, [MAIN, '--config', at.config, '--', CALLER], {
    stdio: ['pipe', fd, 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const { stdin } = child as { stdin: Writable };
  // It stops reading once it has ended.
  stdin.on('error', () => {});
  const { stderr } = child as { stderr: Readable };
  let said = '';
  stderr.setEncoding('utf8').on('data', (words: string) => {
    said += words;
  });
  stdin.write(frame({ type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'test/1' }));
  return {
    leave: () => stdin.end(),
    said: () => said,
    ended: once(child, 'close').then(([code]) => code as number | null),
    ask(count: number) {
      for (let n = 0; n < count; n += 1) stdin.write(frame(forecast(n + 2, ORIGINS)));
    },
  };
}

test('if nobody reads its replies it buffers a limited number of them, and then ends', async (t) => {
  const { ended, said, ask } = await unread(t);
  ask(400);
  assert.equal(await ended, 3);
  assert.match(
    said(),
    /^photofinish: stuck: the browser has stopped reading; \d+ bytes of replies were waiting\n$/,
  );
});

test('if nobody reads its replies it still notices that the browser has gone', async (t) => {
  const { leave, ended, said, ask } = await unread(t);
  ask(10);
  leave();
  assert.equal(await ended, 0);
  assert.equal(said(), '');
});

test('with the disk full under cache, log and standard error it continues, and acknowledges nothing', {
  skip: process.platform === 'linux' ? false : 'needs /dev/full',
}, async (t) => {
  const at = await home(t);
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  // No file may grow at all, which stands in for a full disk.
  const child = spawn(
    'sh',
    ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, MAIN, '--config', at.config, '--', CALLER],
    { stdio: ['pipe', 'pipe', full], env: { ...process.env, NODE_COMPILE_CACHE: '' } },
  );
  t.after(() => child.kill('SIGKILL'));
  const { stdin } = child as { stdin: Writable };
  const { stdout } = child as { stdout: Readable };
  const deframer = createDeframer(2 ** 31);
  const replies: Reply[] = [];
  stdout.on('data', (bytes: Buffer) => {
    for (const inbound of deframer.push(bytes))
      if (inbound.kind === 'message') replies.push(v.parse(replySchema, inbound.value));
  });
  const ended = once(child, 'close');
  const seen = { ...observation({ atMs: Date.now() }), id: 'a' };
  const origin = `https://127.0.0.1:${await closedPort()}`;
  stdin.write(frame({ type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'test/1' }));
  stdin.write(frame({ type: 'observed', id: 2, browser: 'chromium', observations: [seen] }));
  stdin.write(frame({ type: 'race', id: 3, origin, mode: 'race', reason: 'click' }));
  stdin.write(frame(forecast(4)));
  stdin.write(frame({ type: 'stats', id: 5 }));
  while (replies.filter(({ type }) => type !== 'progress').length < 5) await once(stdout, 'data');
  stdin.end();
  assert.equal((await ended)[0], 0);
  const of = (id: number) => replies.findLast((reply) => reply.id === id);
  const observed = of(2);
  assert.equal(observed?.type === 'error' && observed.code, 'cache-unavailable');
  assert.deepEqual([of(3)?.type, of(4)?.type], ['race', 'forecast']);
  const stats = of(5);
  assert.ok(stats?.type === 'stats');
  assert.notEqual(stats.storeReason, null, 'and it says why nothing is kept');
});

test('if the disk takes no more while the cache can still be opened, the doctor reports it', async (t) => {
  const at = await home(t);
  const cacheFinding = async (by: readonly string[]) => {
    const helper = await at.greet({ by, env: { NODE_COMPILE_CACHE: '' } });
    helper.send({ type: 'doctor', id: 2 });
    const { findings } = await helper.next('doctor');
    assert.equal(await helper.leave(), 0);
    return findings.find(({ check }) => check === 'cache');
  };
  assert.equal((await cacheFinding([]))?.state, 'ok');
  // 64 blocks of 512 bytes, as many as the journal's index has: it stands in for a full disk.
  const cache = await cacheFinding(['sh', '-c', 'ulimit -f 64; exec "$@"', 'sh']);
  assert.equal(cache?.state, 'problem');
  assert.match(cache?.text ?? '', /cannot be used, so nothing will be remembered: EFBIG/);
  assert.match(cache?.remedy ?? '', /^Free disk space/);
  assert.deepEqual(
    readdirSync(join(at.directory, 'state')).filter(
      (name) => !/^(?:cache\.db(?:\.salt|-wal|-shm)?|helper\.log)$/.test(name),
    ),
    [],
  );
});

/** Root ignores file modes unless it drops that capability. */
const BY_MODES =
  process.getuid?.() === 0
    ? ['setpriv', '--bounding-set', '-dac_override', '--inh-caps', '-dac_override']
    : [];

test('on a file system that became read-only races and forecasts continue, the doctor reports it, and nothing is lost', {
  skip: process.platform === 'linux' ? false : 'needs modes that bind, and setpriv where root runs it',
}, async (t) => {
  const at = await home(t);
  const state = join(at.directory, 'state');
  const observed = (id: number, key: string) => ({
    ...{ type: 'observed', id, browser: 'chromium' },
    observations: [{ ...observation({ atMs: Date.now() }), id: key }],
  });
  const before = await at.greet();
  before.send(observed(2, 'a'));
  assert.equal((await before.next('observed')).stored, 1);
  assert.equal(await before.leave(), 0);
  const files = readdirSync(state).map((name) => join(state, name));
  const contents = files.map((file) => readFileSync(file));

  for (const file of files) chmodSync(file, 0o400);
  chmodSync(state, 0o500);
  try {
    const helper = await at.greet({ by: BY_MODES });
    helper.send(forecast(3));
    assert.equal((await helper.next('forecast')).forecasts.length, 1);
    helper.send({
      ...{ type: 'race', id: 4, mode: 'race', reason: 'click' },
      origin: `https://127.0.0.1:${await closedPort()}`,
    });
    assert.equal((await helper.next('race')).trials.length, 1);
    helper.send({ type: 'stats', id: 5 });
    assert.notEqual((await helper.next('stats')).storeReason, null);
    helper.send({ type: 'doctor', id: 6 });
    const { findings } = await helper.next('doctor');
    const [cache, ...others] = findings.filter(({ check }) => check === 'cache');
    assert.deepEqual([cache?.state, others], ['problem', []]);
    assert.match(cache?.text ?? '', /cannot be used, so nothing will be remembered: .*(readonly|permission)/);
    assert.equal(cache?.remedy, 'Make the file and its directory writable for you alone.');
    assert.equal(await helper.leave(), 0);
    assert.deepEqual(
      files.map((file) => readFileSync(file)),
      contents,
    );
  } finally {
    chmodSync(state, 0o700);
    for (const file of files) chmodSync(file, 0o600);
  }
  const after = await at.greet();
  after.send({ type: 'stats', id: 7 });
  const stats = await after.next('stats');
  assert.deepEqual([stats.store, stats.storeReason, stats.origins], ['sqlite', null, 1]);
  after.send(observed(8, 'b'));
  assert.equal((await after.next('observed')).stored, 1);
  assert.equal(await after.leave(), 0);
});
