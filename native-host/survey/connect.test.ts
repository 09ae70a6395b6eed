// Connections to a server that only greets, to which the client may or may not talk. And the server of `survey run`
// against one that an earlier run left behind: two would spoil each other's data.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSecureContext, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { heldInBucket } from '../fleet/fleet.ts';
import { type Leaf, throwawayCa } from '../testing/certificates.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { connectTo, type ServerOptions } from './connect.ts';
import type { ConnectionOptions } from './nats.ts';
import { startServer } from './nats-server.ts';

const INFO = {
  server_id: 'T',
  version: '2.12.0',
  proto: 1,
  headers: true,
  max_payload: 1_000_000,
  jetstream: true,
};

interface GreetingOptions {
  readonly address?: string;
  /** The certificate of the next connection; absent: there is no TLS. */
  readonly leaf?: () => Leaf;
  /** Of other servers of its cluster, `ADDRESS:PORT`. */
  readonly gossip?: readonly string[];
}

/** A NATS server; `heard` is what clients sent it, `hangUp` makes them connect again. */
async function greetingServer(t: TestContext, { address = '127.0.0.1', leaf, gossip }: GreetingOptions = {}) {
  const sockets = new Set<Socket>();
  let heard = '';
  const converse = (socket: Socket): void => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      heard += data;
      if (data.includes('PING')) socket.write('PONG\r\n');
    });
  };
  const info = { ...INFO, ...(leaf && { tls_required: true }), ...(gossip && { connect_urls: gossip }) };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    if (leaf === undefined) converse(socket);
    else converse(new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(leaf()) }));
  });
  server.listen(0, address);
  await once(server, 'listening');
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const close = (): void => {
    hangUp();
    server.close();
  };
  t.after(close);
  const { port } = server.address() as AddressInfo;
  const say = (text: string): void => {
    for (const socket of sockets) socket.write(text);
  };
  return { host: `${address}:${port}`, port, heard: () => heard, say, hangUp, close };
}

const options = (server: string, rest: Partial<ServerOptions> = {}): ServerOptions => ({
  ...{ servers: [server], credsFile: null, nkeyFile: null, caFile: null },
  ...rest,
});

/** Why a server is not used; null: it is. */
async function refusal(asked: ServerOptions): Promise<string | null> {
  try {
    const connection = await connectTo(asked);
    await connection.close();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

test('a server without TLS is refused where TLS was asked for, and is told nothing', async (t) => {
  const { host, heard } = await greetingServer(t);
  // Without user and password, which belong in no message.
  const refused = (scheme: string): string =>
    `no NATS server can be used at ${scheme}://${host}: server does not support 'tls'`;
  assert.equal(await refusal(options(`tls://${host}`, { token: 'secret' })), refused('tls'));
  assert.equal(await refusal(options(`TLS://user:secret@${host}`)), refused('TLS'));
  assert.equal(await refusal(options(`tls://user:s@cret@${host}`)), refused('tls'));
  const { caFile } = ownCa(t);
  assert.equal(await refusal(options(`nats://${host}`, { caFile })), refused('nats'));
  assert.equal(heard(), '');
});

test('a server without TLS is used where none was asked for', async (t) => {
  const { host, heard } = await greetingServer(t);
  const connection = await connectTo(options(`nats://${host}`, { token: 'secret' }));
  assert.match(heard(), /"auth_token":"secret"/);
  await connection.close();
});

test('a server whose messages cannot be read is left, and nothing more of it is buffered', async (t) => {
  const { host, say } = await greetingServer(t);
  const connection = await connectTo(options(`nats://${host}`));
  const status = connection.status()[Symbol.asyncIterator]();
  say('MSG a 1 999999999999\r\n');
  assert.equal((await status.next()).value?.type, 'disconnect');
  await connection.close();
});

test('how long a server that is away is left alone is as asked for, and one second by default', async (t) => {
  const { host } = await greetingServer(t);
  for (const [asked, leastMs, mostMs] of [
    [{}, 1000, 2000],
    [{ reconnectMs: 30_000 }, 30_000, 60_000],
  ] as const) {
    const connection = await connectTo(options(`nats://${host}`, asked));
    const { reconnectDelayHandler } = (connection as unknown as { options: ConnectionOptions }).options;
    const delays = Array.from({ length: 100 }, () => reconnectDelayHandler?.() ?? 0);
    assert.ok(
      delays.every((ms) => ms >= leastMs && ms <= mostMs),
      `${delays}`,
    );
    await connection.close();
  }
});

/** Seeds of nobody's, with their public keys. */
const KEYS = [
  {
    seed: 'SUAHTSJZF3QTWGTFTN4FBJYKZSBRHUHGKIZYFCVW2HH4GYKLH74L5HAAYU',
    nkey: 'UB5WPFBJFZMTLEUKOQ4Y42VAU5TEZ2UC5IGU4RWBZYJWM6JGVG2VLS2H',
  },
  {
    seed: 'SUADCDEGEO4X7YEJIUM6AZYH75VMXOVUSLRR7KXIQXQH7UFFRN6BYCW4SU',
    nkey: 'UDMNDZWHIMJCV6QDU4PLNA7JHGQ5PEPLKLO3CRDIPDCLRSOUAKT4R5PC',
  },
] as const;
type Key = (typeof KEYS)[number];

function credsText(jwt: string, seed: string): string {
  const part = (name: string, text: string): string =>
    `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
  return `${part('NATS USER JWT', jwt)}\n${part('USER NKEY SEED', seed)}`;
}

test('a restored connection uses the credentials that the file has then, or the last good ones', async (t) => {
  const [first, second] = KEYS;
  const dir = scratchDirectory(t);
  const forms = [
    {
      option: 'nkeyFile',
      text: ({ seed }: Key) => `${seed}\n`,
      shown: ({ nkey }: Key) => `"nkey":"${nkey}"`,
    },
    {
      option: 'nkeyFile',
      // As nk prints them.
      text: ({ seed, nkey }: Key) => `${seed}\n${nkey}\n`,
      shown: ({ nkey }: Key) => `"nkey":"${nkey}"`,
    },
    {
      option: 'credsFile',
      text: ({ seed, nkey }: Key) => credsText(`token-of-${nkey}`, seed),
      shown: ({ nkey }: Key) => `"jwt":"token-of-${nkey}"`,
    },
  ];
  for (const { option, text, shown } of forms) {
    const { host, heard, hangUp } = await greetingServer(t);
    const file = join(dir, option);
    writeFileSync(file, text(first));
    const connection = await connectTo(options(`nats://${host}`, { [option]: file, reconnectMs: 1 }));
    t.after(() => connection.close());
    const again = async (): Promise<string> => {
      const before = heard().length;
      const changes = connection.status();
      hangUp();
      for await (const { type } of changes) if (type === 'reconnect') break;
      return heard().slice(before);
    };
    assert.ok(heard().includes(shown(first)));
    writeFileSync(file, text(second));
    assert.ok((await again()).includes(shown(second)), option);
    writeFileSync(file, text(first).slice(0, 20));
    assert.ok((await again()).includes(shown(second)), `${option}, half written`);
    rmSync(file);
    assert.ok((await again()).includes(shown(second)), `${option}, removed`);
    await connection.close();
    assert.match((await refusal(options(`nats://${host}`, { [option]: file }))) ?? '', /cannot be read/);
  }
});

test('a public key in place of a seed is named as the fault, with its file', async (t) => {
  const nkeyFile = join(scratchDirectory(t), 'user.nk');
  writeFileSync(nkeyFile, `${KEYS[0].nkey}\n`);
  const refused = await refusal(options('nats://127.0.0.1:1', { nkeyFile }));
  assert.equal(refused, `${nkeyFile} holds no seed of an nkey`);
});

test('a percent sign that encodes nothing is named, without the password', async () => {
  const message = await refusal(options('nats://user:100%@127.0.0.1:1'));
  assert.match(message ?? '', /"%" in user or password is written "%25"/);
  assert.doesNotMatch(message ?? '', /100/);
});

/** A CA as `--tls-ca` takes it. */
function ownCa(t: TestContext) {
  const ca = throwawayCa();
  const caFile = join(scratchDirectory(t), 'ca.pem');
  writeFileSync(caFile, ca.cert);
  return { ca, caFile };
}

/** Makes a CA one of those that everybody trusts. */
function publish(t: TestContext, { cert }: { readonly cert: string }): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([cert]);
  t.after(() => setDefaultCACertificates(before));
}

const WRONG_ADDRESS = /IP: 127\.0\.0\.1 is not in the cert's list/;

test('a server given by its address is used with a certificate for that address, and with no other', async (t) => {
  const { ca, caFile } = ownCa(t);
  const right = await greetingServer(t, { leaf: () => ca.issue('127.0.0.1') });
  const wrong = await greetingServer(t, { leaf: () => ca.issue('localhost') });
  for (const scheme of ['nats', 'tls']) {
    const asked = ({ host }: { readonly host: string }) => options(`${scheme}://${host}`, { caFile });
    assert.equal(await refusal(asked(right)), null, scheme);
    assert.match((await refusal(asked(wrong))) ?? '', WRONG_ADDRESS, scheme);
    const byName = { host: `localhost:${wrong.port}` };
    assert.equal(await refusal(asked(byName)), null, scheme);
  }
  assert.equal(wrong.heard().match(/CONNECT/g)?.length, 2, 'heard by its name only');
  const both = options('', { caFile, servers: [`nats://${wrong.host}`, `nats://${right.host}`] });
  const connection = await connectTo(both);
  assert.equal(connection.getServer(), right.host);
  await connection.close();
});

test('so is one that asks for TLS itself', async (t) => {
  const ca = throwawayCa();
  publish(t, ca);
  const right = await greetingServer(t, { leaf: () => ca.issue('127.0.0.1') });
  const wrong = await greetingServer(t, { leaf: () => ca.issue('localhost') });
  assert.equal(await refusal(options(`nats://${right.host}`)), null);
  assert.match((await refusal(options(`nats://${wrong.host}`))) ?? '', WRONG_ADDRESS);
  assert.equal(wrong.heard(), '');
});

test('so is one that is connected to again', async (t) => {
  const { ca, caFile } = ownCa(t);
  const leaves = [ca.issue('127.0.0.1'), ca.issue('localhost'), ca.issue('localhost'), ca.issue('127.0.0.1')];
  let greeted = 0;
  const leaf = (): Leaf => leaves[greeted++] ?? assert.fail();
  const { host, heard, hangUp } = await greetingServer(t, { leaf });
  const connection = await connectTo(options(`nats://${host}`, { caFile, reconnectMs: 1 }));
  t.after(() => connection.close());
  const changes = connection.status();
  hangUp();
  for await (const { type } of changes) if (type === 'reconnect') break;
  assert.equal(greeted, leaves.length);
  assert.equal(heard().match(/CONNECT/g)?.length, 2);
});

/** Which server a connection uses after the one that it was made to is gone. */
async function next(t: TestContext, asked: ServerOptions, first: { close(): void }): Promise<string> {
  const connection = await connectTo({ ...asked, reconnectMs: 1 });
  t.after(() => connection.close());
  const changes = connection.status();
  first.close();
  for await (const { type } of changes) if (type === 'reconnect') break;
  return connection.getServer();
}

test('a server that another one names must have a certificate for its address too', async (t) => {
  const { ca, caFile } = ownCa(t);
  const leaves = [ca.issue('localhost'), ca.issue('127.0.0.1')];
  let greeted = 0;
  const other = await greetingServer(t, { leaf: () => leaves[greeted++] ?? assert.fail() });
  const first = await greetingServer(t, { leaf: () => ca.issue('127.0.0.1'), gossip: [other.host] });
  assert.equal(await next(t, options(`nats://${first.host}`, { caFile }), first), other.host);
  assert.equal(greeted, leaves.length);
  assert.equal(other.heard().match(/CONNECT/g)?.length, 1);
});

test('a name that anyone may have named is no proof of its own', async (t) => {
  const ca = throwawayCa();
  publish(t, ca);
  const other = await greetingServer(t, { leaf: () => ca.issue('localhost') });
  const same = await greetingServer(t, { leaf: () => ca.issue('127.0.0.1') });
  const gossip = [`localhost:${other.port}`, `localhost:${same.port}`];
  const first = await greetingServer(t, { leaf: () => ca.issue('127.0.0.1'), gossip });
  await next(t, options(`tls://${first.host}`), first);
  assert.equal(other.heard(), '');
  assert.match(same.heard(), /CONNECT/);
});

// Only Linux has all of 127.0.0.0/8 on its loopback interface.
test('and, where anyone may have named it, be one that the user named', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const { ca, caFile } = ownCa(t);
  publish(t, ca);
  const address = '127.0.0.2';
  let otherGreeted = false;
  const other = await greetingServer(t, {
    address,
    leaf: () => {
      otherGreeted = true;
      return ca.issue(address);
    },
  });
  // Whichever the client tries first, the other one is tried.
  const same = await greetingServer(t, {
    address,
    leaf: () => ca.issue(otherGreeted ? '127.0.0.1' : 'localhost'),
  });
  const first = (gossip: readonly string[]) =>
    greetingServer(t, { leaf: () => ca.issue('127.0.0.1'), gossip });
  const ofEverybody = await first([other.host, same.host]);
  assert.equal(await next(t, options(`tls://${ofEverybody.host}`), ofEverybody), same.host);
  assert.equal(other.heard(), '');
  const ofOurs = await first([other.host]);
  assert.equal(await next(t, options(`tls://${ofOurs.host}`, { caFile }), ofOurs), other.host);
});

test('a certificate that is not trusted is called so, with where to give the CA', async (t) => {
  const { host, heard } = await greetingServer(t, { leaf: () => throwawayCa().issue('127.0.0.1') });
  const { caFile } = ownCa(t);
  const untrusted = (server: string, where: string): string =>
    `no NATS server can be used at ${server}: its certificate is not trusted (${where})`;
  const [plain, tls] = [`nats://${host}`, `tls://${host}`];
  assert.equal(await refusal(options(plain)), untrusted(plain, '--tls-ca FILE'));
  assert.equal(await refusal(options(tls, { caFile })), untrusted(tls, '--tls-ca FILE'));
  const saltFile = join(scratchDirectory(t), 'salt');
  writeFileSync(saltFile, 'sixteen bytes or more', { mode: 0o600 });
  const fleet = {
    bucket: 'fleet',
    credsFile: null,
    nkeyFile: null,
    caFile,
    saltFile,
    network: '',
    publish: false,
  };
  await assert.rejects(heldInBucket({ server: tls, ...fleet }), {
    message: untrusted(tls, '"tlsCa" of "fleet"'),
  });
  assert.equal(heard(), '');
});

test('a CA file without a certificate is named', async (t) => {
  const { host } = await greetingServer(t, { leaf: () => throwawayCa().issue('127.0.0.1') });
  const caFile = join(scratchDirectory(t), 'ca.der');
  writeFileSync(caFile, 'no PEM');
  await assert.rejects(connectTo(options(`nats://${host}`, { caFile })), {
    code: 'bad-file',
    message: `the CA file ${caFile} holds no PEM certificate`,
  });
});

test('the socket of a server that says nothing is destroyed when it is given up', async (t) => {
  const greeting = `INFO ${JSON.stringify({ ...INFO, tls_required: true })}\r\n`;
  for (const says of ['', greeting]) {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { port } = server.address() as AddressInfo;
    const refused = refusal(options(`nats://127.0.0.1:${port}`));
    const [socket] = (await once(server, 'connection')) as [Socket];
    t.after(() => socket.destroy());
    // A socket reports its end only where it is read.
    socket.on('error', () => {}).resume();
    if (says !== '') {
      socket.write(says);
      await once(socket, 'data');
    }
    const ended = once(socket, 'close');
    t.mock.timers.tick(5000);
    assert.match((await refused) ?? '', /timeout/i);
    await ended;
    t.mock.timers.reset();
  }
});

const POSIX = process.platform !== 'win32';

/** A server left behind, and a machine with a nats-server that ends at once, and without ps. */
async function arrange(t: TestContext) {
  const dir = join(scratchDirectory(t), '.nats');
  const bin = scratchDirectory(t);
  mkdirSync(dir);
  writeFileSync(join(bin, 'nats-server'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const code = 'console.log(); setInterval(() => {}, 1000)';
  const former = spawn(process.execPath, ['-e', code, '--', '-c', join(dir, 'server.conf')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => former.kill('SIGKILL'));
  await once(former.stdout, 'data');
  writeFileSync(join(dir, 'server.pid'), `${former.pid}\n`);
  const { PATH: path = '' } = process.env;
  process.env.PATH = bin;
  t.after(() => {
    process.env.PATH = path;
  });
  return { dir, former };
}

test('on Linux it is found and ended without ps', { skip: process.platform !== 'linux' }, async (t) => {
  const { dir, former } = await arrange(t);
  const ended = once(former, 'exit');
  await assert.rejects(startServer(dir), { code: 'no-server', message: /did not start: ./ });
  assert.deepEqual(await ended, [null, 'SIGTERM']);
});

test('elsewhere, without ps, nothing is started beside a process that lives', { skip: !POSIX }, async (t) => {
  const { dir, former } = await arrange(t);
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  Object.defineProperty(process, 'platform', { ...platform, value: 'freebsd' });
  t.after(() => Object.defineProperty(process, 'platform', platform));
  await assert.rejects(startServer(dir), {
    code: 'bad-directory',
    message: new RegExp(`^process ${former.pid} may be running a survey`),
  });
  assert.equal(former.exitCode, null);
  const ended = once(former, 'exit');
  former.kill('SIGKILL');
  await ended;
  await assert.rejects(startServer(dir), { code: 'no-server', message: /did not start: ./ });
});
