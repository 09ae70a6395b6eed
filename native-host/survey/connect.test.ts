// Connections to a server that only greets, to which the client may or may not talk.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../testing/scratch.ts';
import { connectTo, type ServerOptions } from './connect.ts';
import type { ConnectionOptions } from './nats.ts';

const INFO = {
  server_id: 'T',
  version: '2.12.0',
  proto: 1,
  headers: true,
  max_payload: 1_000_000,
  jetstream: true,
};

/** A NATS server without TLS; `heard` is what clients sent it, `hangUp` makes them connect again. */
async function plainServer(t: TestContext) {
  const sockets = new Set<Socket>();
  let heard = '';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      heard += data;
      if (data.includes('PING')) socket.write('PONG\r\n');
    });
    socket.write(`INFO ${JSON.stringify(INFO)}\r\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  t.after(() => {
    hangUp();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, heard: () => heard, hangUp };
}

const options = (server: string, rest: Partial<ServerOptions> = {}): ServerOptions => ({
  ...{ servers: [server], credsFile: null, nkeyFile: null, token: null, caFile: null },
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
  const { host, heard } = await plainServer(t);
  // Without user and password, which belong in no message.
  const refused = (scheme: string): string =>
    `no NATS server can be used at ${scheme}://${host}: server does not support 'tls'`;
  assert.equal(await refusal(options(`tls://${host}`, { token: 'secret' })), refused('tls'));
  assert.equal(await refusal(options(`TLS://user:secret@${host}`)), refused('TLS'));
  assert.equal(await refusal(options(`tls://user:s@cret@${host}`)), refused('tls'));
  // Any file: it never comes to a certificate.
  assert.equal(await refusal(options(`nats://${host}`, { caFile: import.meta.filename })), refused('nats'));
  assert.equal(heard(), '');
});

test('a server without TLS is used where none was asked for', async (t) => {
  const { host, heard } = await plainServer(t);
  const connection = await connectTo(options(`nats://${host}`, { token: 'secret' }));
  assert.match(heard(), /"auth_token":"secret"/);
  await connection.close();
});

test('how long a server that is away is left alone is as asked for, and one second by default', async (t) => {
  const { host } = await plainServer(t);
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

test('a connection made again uses the credentials that the file has then, or the last good ones', async (t) => {
  const [first, second] = KEYS;
  const dir = scratchDirectory(t);
  const forms = [
    {
      option: 'nkeyFile',
      text: ({ seed }: Key) => `${seed}\n`,
      shown: ({ nkey }: Key) => `"nkey":"${nkey}"`,
    },
    {
      option: 'credsFile',
      text: ({ seed, nkey }: Key) => credsText(`token-of-${nkey}`, seed),
      shown: ({ nkey }: Key) => `"jwt":"token-of-${nkey}"`,
    },
  ];
  for (const { option, text, shown } of forms) {
    const { host, heard, hangUp } = await plainServer(t);
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

test('a percent sign that encodes nothing is named, without the password', async () => {
  const message = await refusal(options('nats://user:100%@127.0.0.1:1'));
  assert.match(message ?? '', /"%" in user or password is written "%25"/);
  assert.doesNotMatch(message ?? '', /100/);
});
