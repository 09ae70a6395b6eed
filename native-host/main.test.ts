import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type ListenOptions, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { MAX_INBOUND_BYTES, WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import { observation } from './testing/cache-samples.ts';
import { closedPort, silentPort } from './testing/peers.ts';
import { CALLER, forecast, home, MAIN } from './testing/spawned-helper.ts';
import { PROGRAM } from './version.ts';
import { createDeframer, frame } from './wire/framing.ts';

const A = 'https://a.test';
const observed = (id: number, ...observations: object[]) => ({
  type: 'observed',
  id,
  browser: 'chromium',
  observations,
});

/** A loopback origin that accepts every connection and never sends anything, over TCP and UDP. */
async function silentOrigin(t: TestContext): Promise<{ origin: string; sockets: readonly Socket[] }> {
  const { port, sockets, close } = await silentPort();
  t.after(close);
  return { origin: `https://127.0.0.1:${port}`, sockets };
}

test('hello returns protocol and program; the id is echoed', async (t) => {
  const helper = (await home(t)).start();
  helper.send({ type: 'hello', id: 7, protocol: WIRE_PROTOCOL, program: 'test/1' });
  assert.deepEqual(await helper.next('hello'), {
    id: 7,
    type: 'hello',
    protocol: WIRE_PROTOCOL,
    program: PROGRAM,
  });
  assert.equal(await helper.leave(), 0);
});

test('an unknown major version is refused, saying which side to update; nothing works before hello', async (t) => {
  const helper = (await home(t)).start();
  helper.send(forecast(1));
  assert.equal((await helper.next('error')).code, 'hello-first');
  for (const [protocol, side] of [
    [WIRE_PROTOCOL + 1, 'helper'],
    [WIRE_PROTOCOL - 1, 'extension'],
  ] as const) {
    helper.send({ type: 'hello', id: 2, protocol, program: 'test/1' });
    const error = await helper.next('error');
    assert.equal(error.code, 'bad-protocol');
    assert.match(error.message, new RegExp(`update the ${side}`));
  }
  helper.send(forecast(3));
  assert.equal((await helper.next('error', 3)).code, 'hello-first');
});

test('observations are forecast, counted, and wiped', async (t) => {
  const helper = await (await home(t)).greet();
  helper.send(forecast(2));
  assert.equal((await helper.next('forecast')).forecasts[0]?.hit, false);
  helper.send(observed(3, observation({ atMs: Date.now(), protocol: 'h2', altSvc: 'h3=":443"' })));
  assert.equal((await helper.next('observed')).stored, 1);
  helper.send(forecast(4));
  const [known] = (await helper.next('forecast')).forecasts;
  assert.deepEqual(known?.expected, { protocol: 'h3', basis: 'advertised' });
  assert.equal(known?.reachable.basis, 'advertised');
  helper.send({ type: 'stats', id: 5 });
  const stats = await helper.next('stats');
  assert.deepEqual(
    [stats.store, stats.origins, stats.lookups, stats.hits, stats.races],
    ['sqlite', 1, 2, 1, 0],
  );
  helper.send({ type: 'wipe', id: 6 });
  assert.equal((await helper.next('wipe')).wiped, 1);
  helper.send(forecast(7));
  assert.equal((await helper.next('forecast')).forecasts[0]?.hit, false);
});

test('500 origins in one message are answered in order', async (t) => {
  const helper = await (await home(t)).greet();
  const origins = Array.from({ length: 500 }, (_, n) => `https://h${n}.test`);
  helper.send(forecast(2, origins));
  assert.deepEqual(
    (await helper.next('forecast')).forecasts.map((f) => f.origin),
    origins,
  );
});

test('invalid messages are reported, and do no damage', async (t) => {
  const helper = await (await home(t)).greet();
  const bad: [object | string | number | null, string, RegExp][] = [
    [{ type: 'frobnicate', id: 2 }, 'unknown-type', /frobnicate/],
    [{ type: 'forecast', id: 2 }, 'bad-message', /browser/],
    [{ ...forecast(2), origins: [] }, 'bad-message', /origins/],
    [{ ...forecast(2), origins: Array.from({ length: 501 }, () => A) }, 'bad-message', /origins/],
    [{ ...forecast(2), origins: ['https://a.test/path'] }, 'bad-message', /origins\.0/],
    [{ ...forecast(2), origins: ['http://a.test'] }, 'bad-message', /origins\.0/],
    [{ type: 'race', id: 2, origin: A, mode: 'guess', reason: 'click' }, 'bad-message', /mode/],
    [{ type: 'race', id: 2, origin: A, mode: 'race', reason: 'fun' }, 'bad-message', /reason/],
    [observed(2, { ...observation({}), protocol: 'unknown' }), 'bad-message', /observations\.0/],
    [observed(2), 'bad-message', /observations/],
    [{ id: 2 }, 'bad-message', /type/],
    [[], 'bad-message', /./],
    ['text', 'bad-message', /./],
    [null, 'bad-message', /./],
    [5, 'bad-message', /./],
  ];
  for (const [message, code, text] of bad) {
    helper.raw(frame(message));
    const error = await helper.next('error');
    assert.equal(error.code, code, JSON.stringify(message));
    assert.match(error.message, text);
    const hasId = typeof message === 'object' && message !== null && 'id' in message;
    assert.equal(error.id, hasId ? 2 : 0);
  }
  helper.send(forecast(3));
  await helper.next('forecast', 3);
});

test('frames without JSON in UTF-8 are reported, and the next frame is answered', async (t) => {
  const helper = await (await home(t)).greet();
  for (const body of [Buffer.alloc(0), Buffer.from('{"type":'), Buffer.from([0x22, 0xff, 0x22])]) {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length);
    helper.raw(Buffer.concat([length, body]));
    const error = await helper.next('error');
    assert.deepEqual([error.id, error.code], [0, 'bad-json']);
  }
  helper.send(forecast(2));
  await helper.next('forecast');
});

test('an oversize frame is an error, and then the helper ends', async (t) => {
  const helper = await (await home(t)).greet();
  const length = Buffer.alloc(4);
  length.writeUInt32LE(MAX_INBOUND_BYTES + 1);
  helper.raw(length);
  helper.send(forecast(2));
  assert.equal((await helper.next('error')).code, 'message-too-large');
  assert.equal(await helper.exited, 0);
  assert.ok(!helper.replies.some((reply) => reply.type === 'forecast'));
});

test('a frame truncated at the end is not an error, and not answered', async (t) => {
  const helper = await (await home(t)).greet();
  helper.raw(frame(forecast(2)).subarray(0, -1));
  assert.equal(await helper.leave(), 0);
  assert.equal(helper.replies.length, 1);
});

test('only an extension may talk to it; Firefox passes manifest and add-on', async (t) => {
  const place = await home(t);
  const stranger = place.start({ caller: ['https://a.test/'] });
  assert.equal((await stranger.next('error')).code, 'unknown-caller');
  assert.equal(await stranger.exited, 2);
  assert.match(stranger.stderr(), /unknown-caller/);
  await place.greet({ caller: ['/home/a/org.photofinish.host.json', FIREFOX_EXTENSION_ID] });
});

test('settings that others could have written are refused, and the extension is told so', async (t) => {
  const place = await home(t);
  chmodSync(join(place.directory, 'config.json'), 0o666);
  const helper = place.start();
  assert.match((await helper.next('error')).message, /others can write it/);
  assert.equal(await helper.exited, 2);
});

/** Whether a process listens on a socket of TCP or, in the file system or the abstract namespace, of Unix. */
function listens(pid: number): boolean {
  const open = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        // Closed in the meantime.
        return [];
      }
    }),
  );
  const rows = (table: string) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/));
  // TCP_LISTEN and __SO_ACCEPTCON of the kernel.
  const tables = ['tcp', 'tcp6'].filter((table) => existsSync(`/proc/${pid}/net/${table}`));
  const tcp = tables.flatMap(rows).filter((row) => row[3] === '0A');
  const unix = rows('unix').filter((row) => row[3] === '00010000');
  return [...tcp.map((row) => row[9]), ...unix.map((row) => row[6])].some((inode) => open.has(inode ?? ''));
}

/** Whether `listens` finds a server of this process. */
async function findsServer(options: ListenOptions): Promise<boolean> {
  const server = createServer().listen(options);
  await once(server, 'listening');
  const found = listens(process.pid);
  server.close();
  await once(server, 'close');
  return found;
}

test('it listens nowhere, neither at rest nor after a race', {
  skip: process.platform === 'linux' ? false : 'needs /proc',
}, async (t) => {
  const place = await home(t);
  const helper = await place.greet();
  const pid = helper.child.pid ?? 0;
  assert.equal(listens(pid), false);
  const origin = `https://127.0.0.1:${await closedPort()}`;
  helper.send({ type: 'race', id: 2, origin, mode: 'race', reason: 'click' });
  await helper.next('race');
  assert.equal(listens(pid), false);

  // Otherwise the test proves nothing.
  const paths = [join(place.directory, 'socket'), '\0photofinish-test'].map((path) => ({ path }));
  for (const server of [{ host: '127.0.0.1', port: 0 }, { port: 0 }, ...paths])
    assert.ok(await findsServer(server), JSON.stringify(server));
  assert.equal(listens(process.pid), false);
});

test('whatever prints, the wire stays clean', async (t) => {
  const place = await home(t);
  const print = `setInterval(() => { console.log('stray'); process.stdout.write('stray'); }, 1).unref()`;
  const native = `import { writeSync } from 'node:fs'; setInterval(() => writeSync(1, 'native'), 1).unref();`;
  const preload = (code: string) => `--import data:text/javascript,${encodeURIComponent(code)}`;
  // Each timer runs in the first turn, when the helper has already taken over stdout.
  for (const options of [
    { nodeOptions: preload(print) },
    { nodeOptions: preload(`${native}${print}`), pipes: true },
  ]) {
    const helper = await place.greet(options);
    for (let id = 2; id < 40; id += 1) {
      helper.send(forecast(id));
      await helper.next('forecast', id);
    }
    await helper.leave();
    assert.match(helper.stderr(), /stray/);
    if (options.pipes) assert.match(helper.stderr(), /native/);
  }
});

test('over real pipes it ends in an orderly way when the browser goes', async (t) => {
  const helper = await (await home(t)).greet({ pipes: true });
  await helper.leave();
  assert.match(helper.stderr(), /^exit 0$/m);
});

test('a non-blocking descriptor is read and written correctly, however late the browser reads', async (t) => {
  const { config, directory } = await home(t);
  const server = createServer({ pauseOnConnect: true }).listen(join(directory, 'socket'));
  t.after(() => server.close());
  await once(server, 'listening');
  const browser = connect(join(directory, 'socket'));
  const [theirs] = (await once(server, 'connection')) as [Socket];
  const child = spawn(process.execPath, [MAIN, '--config', config, '--', CALLER], {
    stdio: [theirs, theirs, 'inherit'],
  });
  t.after(() => {
    child.kill('SIGKILL');
    for (const socket of [browser, theirs]) socket.destroy();
  });
  // Starting a child makes its descriptors blocking; both processes share the setting.
  (theirs as unknown as { _handle: { setBlocking(on: boolean): number } })._handle.setBlocking(false);

  const deframer = createDeframer();
  const answered: number[] = [];
  const read = async (count: number): Promise<void> => {
    for await (const bytes of browser.iterator({ destroyOnReturn: false })) {
      for (const inbound of deframer.push(bytes as Buffer))
        answered.push(inbound.kind === 'message' ? (inbound.value as { id: number }).id : -1);
      if (answered.length >= count) return;
    }
  };
  browser.write(frame({ type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'test/1' }));
  await read(1);
  // More than the pipes hold in either direction: it can only be written completely if the helper, whose own pipe is
  // full by then, continues to read.
  const origins = Array.from({ length: 500 }, (_, n) => `https://h${n}.test`);
  const ids = Array.from({ length: 80 }, (_, n) => n + 2);
  const questions = Buffer.concat(ids.map((id) => frame(forecast(id, origins))));
  await new Promise((resolve) => browser.write(questions, resolve));
  await read(1 + ids.length);
  assert.deepEqual(answered, [1, ...ids]);
});

test('two helpers on one cache: what one learns, the other forecasts', async (t) => {
  const place = await home(t);
  const [one, two] = [await place.greet(), await place.greet()];
  one.send(observed(2, observation({ atMs: Date.now(), protocol: 'h3' })));
  await one.next('observed');
  two.send(forecast(2));
  assert.deepEqual((await two.next('forecast')).forecasts[0]?.expected, {
    protocol: 'h3',
    basis: 'observed',
  });
  assert.deepEqual([await one.leave(), await two.leave()], [0, 0]);
});

test('killed right after it acknowledged, it has lost nothing', async (t) => {
  const place = await home(t);
  for (const n of [1, 2, 3, 4]) {
    const helper = await place.greet();
    const origin = `https://k${n}.test` as never;
    helper.send(observed(2, observation({ id: `k${n}`, origin, atMs: Date.now(), protocol: 'h3' })));
    await helper.next('observed');
    helper.child.kill('SIGKILL');
    await helper.exited;
  }
  const helper = await place.greet();
  helper.send(forecast(2, ['https://k1.test', 'https://k2.test', 'https://k3.test', 'https://k4.test']));
  assert.deepEqual(
    (await helper.next('forecast')).forecasts.map((f) => f.expected.protocol),
    ['h3', 'h3', 'h3', 'h3'],
  );
});

test('a batch resent to another helper after a lost answer counts once', async (t) => {
  const place = await home(t);
  const batch = observed(2, observation({ id: 'again', atMs: Date.now() }));
  const [one, two] = [await place.greet(), await place.greet()];
  one.send(batch);
  assert.equal((await one.next('observed')).stored, 1);
  two.send(batch);
  assert.equal((await two.next('observed')).stored, 0);
});

test('with an unusable cache nothing is acknowledged, but forecasts use it; stats give the reason', async (t) => {
  const place = await home(t, { cache: 'config.json/cache.db', logs: 'helper.log' });
  const helper = await place.greet();
  const batch = observed(2, observation({ id: 'again', atMs: Date.now(), protocol: 'h3' }));
  for (const id of [2, 3]) {
    helper.send({ ...batch, id });
    const { code, message } = await helper.next('error', id);
    assert.equal(code, 'cache-unavailable');
    assert.match(message, /not a directory/);
  }
  helper.send(forecast(4));
  assert.equal((await helper.next('forecast')).forecasts[0]?.expected.protocol, 'h3');
  helper.send({ type: 'stats', id: 5 });
  const stats = await helper.next('stats');
  assert.equal(stats.store, 'memory');
  assert.ok(stats.storeReason);
  assert.match(readFileSync(join(place.directory, 'helper.log'), 'utf8'), /memory only/);
});

test('a race on closed ports reports each refusal as it happens, and is counted', async (t) => {
  const helper = await (await home(t)).greet();
  const origin = `https://127.0.0.1:${await closedPort()}`;
  helper.send({ type: 'race', id: 2, origin, mode: 'compare', reason: 'click' });
  const race = await helper.next('race');
  assert.equal(race.trials.length, 6);
  const errors = race.trials.flatMap((trial) => trial.attempts.map((a) => `${a.protocol} ${a.error?.code}`));
  assert.deepEqual(errors.toSorted(), [
    ...Array(3).fill('h2 tcp-refused'),
    ...Array(3).fill('h3 udp-refused'),
  ]);
  assert.deepEqual([race.memory, race.summary.failed, race.summary.gainMs], ['full', 6, null]);
  const progress = helper.replies.filter((reply) => reply.type === 'progress');
  assert.equal(progress.filter((p) => p.event === 'started').length, 6);
  assert.equal(progress.filter((p) => p.event === 'failed').length, 6);
  helper.send({ type: 'stats', id: 3 });
  assert.equal((await helper.next('stats')).races, 1);
});

test('an address not allowed by the settings is blocked, by number and by name', async (t) => {
  const helper = await (await home(t, {})).greet();
  for (const [n, origin] of [
    'https://127.0.0.1',
    'https://[::1]',
    'https://10.0.0.1',
    'https://localhost',
  ].entries()) {
    helper.send({ type: 'race', id: 2 + n, origin, mode: 'race', reason: 'click' });
    assert.equal((await helper.next('error', 2 + n)).code, 'blocked', origin);
  }
});

test('an unreadable CA file fails the race with its name, not the helper', async (t) => {
  const helper = await (await home(t, { ca: ['none.pem'] })).greet();
  helper.send({ type: 'race', id: 2, origin: A, mode: 'race', reason: 'click' });
  const error = await helper.next('error');
  assert.equal(error.code, 'race-failed');
  assert.match(error.message, /none\.pem/);
  helper.send(forecast(3));
  await helper.next('forecast');
});

test('forecasts are answered while races run; a race is cancelled; an id in use is refused', async (t) => {
  const { origin } = await silentOrigin(t);
  const helper = await (await home(t)).greet();
  helper.send({ type: 'race', id: 2, origin, mode: 'race', reason: 'click' });
  await helper.next('progress', 2);
  helper.send(forecast(2));
  assert.equal((await helper.next('error', 2)).code, 'duplicate-id');
  helper.send(forecast(3));
  await helper.next('forecast', 3);
  assert.ok(!helper.replies.some((reply) => reply.type === 'race'));
  helper.send({ type: 'cancel', id: 4, target: 2 });
  assert.equal((await helper.next('cancel')).cancelled, true);
  assert.equal((await helper.next('error', 2)).code, 'cancelled');
  helper.send({ type: 'cancel', id: 5, target: 2 });
  assert.equal((await helper.next('cancel')).cancelled, false);
});

test('the fifth concurrent race is refused, and a released slot is reused', async (t) => {
  const { origin } = await silentOrigin(t);
  const helper = await (await home(t)).greet();
  const start = (id: number) => helper.send({ type: 'race', id, origin, mode: 'race', reason: 'click' });
  for (const id of [2, 3, 4, 5]) start(id);
  start(6);
  assert.equal((await helper.next('error', 6)).code, 'too-many-races');
  helper.send({ type: 'cancel', id: 7, target: 2 });
  assert.equal((await helper.next('error', 2)).code, 'cancelled');
  start(8);
  await helper.next('progress', 8);
});

test('when the browser goes, races end at once with it', async (t) => {
  const { origin, sockets } = await silentOrigin(t);
  const helper = await (await home(t)).greet();
  helper.send({ type: 'race', id: 2, origin, mode: 'h2', reason: 'click' });
  await helper.next('progress', 2);
  assert.equal(await helper.leave(), 0);
  for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
  assert.ok(!helper.replies.some((reply) => reply.type === 'race' || reply.type === 'error'));
});

test('a wipe also ends races that would write history again', async (t) => {
  const { origin } = await silentOrigin(t);
  const place = await home(t);
  const helper = await place.greet();
  helper.send({ type: 'race', id: 2, origin, mode: 'race', reason: 'click' });
  await helper.next('progress', 2);
  helper.send({ type: 'wipe', id: 3 });
  assert.equal((await helper.next('error', 2)).code, 'cancelled');
  await helper.next('wipe');
  helper.send({ type: 'stats', id: 4 });
  assert.equal((await helper.next('stats')).origins, 0);
});

test('the log contains hosts only as digests', async (t) => {
  const place = await home(t, { allowPrivate: ['127.0.0.0/8'], resolve: {} });
  const port = await closedPort();
  writeFileSync(
    join(place.directory, 'config.json'),
    JSON.stringify({
      allowPrivate: ['127.0.0.0/8'],
      resolve: { [`secret.test:${port}`]: '127.0.0.1' },
      cache: 'cache.db',
      logs: 'helper.log',
    }),
  );
  const helper = await place.greet();
  helper.send({ type: 'race', id: 2, origin: `https://secret.test:${port}`, mode: 'race', reason: 'click' });
  await helper.next('race');
  await helper.leave();
  const log = readFileSync(join(place.directory, 'helper.log'), 'utf8');
  assert.match(log, /"event":"race"/);
  assert.ok(!log.includes('secret'));
});

test('without a log file a race writes nothing to stderr, which browsers store', async (t) => {
  const helper = await (await home(t, { allowPrivate: ['127.0.0.0/8'], logs: undefined })).greet();
  const origin = `https://127.0.0.1:${await closedPort()}`;
  helper.send({ type: 'race', id: 2, origin, mode: 'race', reason: 'click' });
  await helper.next('race');
  assert.equal(await helper.leave(), 0);
  assert.equal(helper.stderr(), '');
});

test('the doctor over the wire checks the settings and cache used by this helper', async (t) => {
  const place = await home(t);
  const helper = await place.greet();
  helper.send({ type: 'doctor', id: 2 });
  const { findings } = await helper.next('doctor', 2);
  const found = (check: string) => findings.find((finding) => finding.check === check);
  assert.deepEqual([found('config')?.state, found('config')?.text], ['ok', place.config]);
  assert.ok(found('cache')?.text.startsWith(join(place.directory, 'state/cache.db')));
  assert.equal(found('addon')?.state, 'ok');
  assert.ok(findings.every(({ state, remedy }) => state !== 'problem' || remedy !== null));
});

test('the browser that asks the doctor proves that it can reach the helper', async (t) => {
  const place = await home(t);
  // A profile at the usual location, possibly unrelated to the asking browser, without a manifest.
  mkdirSync(join(place.directory, '.config/chromium'), { recursive: true });
  const helper = await place.greet({ env: { HOME: place.directory } });
  helper.send({ type: 'doctor', id: 2 });
  const { findings } = await helper.next('doctor', 2);
  assert.deepEqual(
    findings
      .filter(({ subject }) => subject === 'This browser')
      .map(({ check, state }) => `${check} ${state}`),
    ['extension ok', 'hello ok'],
  );
  const elsewhere = findings.find(({ subject, check }) => subject === 'Chromium' && check === 'manifest');
  assert.equal(elsewhere?.state, 'note');
  assert.match(elsewhere?.text ?? '', /no manifest at/);
  assert.deepEqual(
    findings.filter(({ state, check }) => state === 'problem' && check !== 'network'),
    [],
  );
});

test('the doctor finds what would make a race fail or warn', async (t) => {
  const place = await home(t, {
    ca: ['no-such.pem'],
    cache: 'config.json/cache.db',
    logs: 'config.json/log',
  });
  const helper = await place.greet();
  helper.send({ type: 'doctor', id: 2 });
  const { findings } = await helper.next('doctor', 2);
  const problems = findings.filter(({ state, check }) => state === 'problem' && check !== 'network');
  assert.deepEqual(
    problems.map(({ check }) => check),
    ['config', 'config', 'cache'],
  );
  assert.match(problems[0]?.text ?? '', /cannot read the CA file .*no-such\.pem/);
  for (const problem of problems.slice(1)) assert.match(problem.text, /config\.json is not a directory/);
});
