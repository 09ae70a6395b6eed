// Peers that send endless data that no layer above TCP notices: each connection is closed after a bounded number of
// bytes.
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import {
  failureOf,
  type Http2FrameKind,
  h2Testbed,
  http2Frame,
  requestOn,
  serving,
} from '../testing/h2-server.ts';
import { target } from '../testing/peers.ts';

const { ca, pair, transport, get } = await h2Testbed();
after(() => ca.stop());

/** What the kernel buffers of server and client hold besides what is read, in a process that runs both. */
const MOST_SENT_BYTES = 32 * 1024 * 1024;

/** Writes the same bytes repeatedly until nobody accepts them any more; returns the number of bytes written. */
function flood(socket: Socket, bytes: Buffer): () => number {
  const more = (): void => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
  return () => socket.bytesWritten;
}

function isTooLarge(error: { readonly code: string; readonly message: string } | null): void {
  assert.equal(error?.code, 'response-too-large', JSON.stringify(error));
  assert.match(error?.message ?? '', /more than the 1 MiB/);
}

test('endless TLS messages before the handshake, which the client has to skip', async () => {
  // HelloRequest (RFC 5246 section 7.4.1.1), as many as fit a record.
  const requests = Buffer.alloc(16_384);
  const record = Buffer.concat([Buffer.from('1603034000', 'hex'), requests]);
  let sent = (): number => 0;
  const server = createServer((socket) => {
    sent = flood(socket, record);
  });
  await serving(server, async (port) => {
    const { error, traffic } = await failureOf(transport.start(target(port)));
    isTooLarge(error);
    assert.ok((traffic?.bytes ?? 0) > 1024 * 1024, 'and it is told what was read');
    assert.ok(sent() < MOST_SENT_BYTES, `${sent()} bytes`);
  });
});

/** nghttp2 reports a violation of the protocol like a header field that is too large, if enough has been read. */
const VIOLATION = ['response-too-large', 'connection-closed'] as const;
const FLOODS: readonly (readonly [string, Http2FrameKind, number, readonly AttemptErrorCode[]])[] = [
  ['frames of unknown types', 0xfa, 0, ['response-too-large']],
  ['frames of a body without a header section', 'DATA', 1, VIOLATION],
  ['priorities', 'PRIORITY', 3, VIOLATION],
];
for (const [what, kind, stream, codes] of FLOODS)
  test(`HTTP/2: ${what}`, async () => {
    let sent = (): number => 0;
    const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket: TLSSocket) => {
      socket.on('error', () => {});
      socket.write(http2Frame('SETTINGS', 0, Buffer.alloc(0)));
      await requestOn(socket);
      const payload = kind === 'PRIORITY' ? Buffer.alloc(5) : Buffer.alloc(16_000);
      sent = flood(socket, Buffer.concat(Array(64).fill(http2Frame(kind, stream, payload))));
    });
    await serving(server, async (port) => {
      const { answer } = await get(port);
      assert.ok(!answer.ok);
      if (kind === 0xfa) isTooLarge(answer.error);
      assert.ok(codes.includes(answer.error.code), JSON.stringify(answer.error));
      assert.ok(sent() > 0);
      assert.ok(sent() < MOST_SENT_BYTES, `${sent()} bytes`);
    });
  });

test('HTTP/1.1: endless interim responses', async () => {
  let sent = (): number => 0;
  const server = createTlsServer({ ...pair, ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      const early = `HTTP/1.1 103 Early Hints\r\nlink: </${'x'.repeat(1000)}>\r\n\r\n`;
      sent = flood(socket, Buffer.from(early.repeat(64)));
    });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.match(answer.error.message, /more than the 64 interim responses/);
    assert.ok(sent() < MOST_SENT_BYTES, `${sent()} bytes`);
  });
});

test('HTTP/2: interim responses of a few bytes each, 75,000 per MiB', async () => {
  let sent = (): number => 0;
  const early = http2Frame('HEADERS', 1, Buffer.from('0803313033', 'hex'));
  early.writeUInt8(4, 4);
  const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket: TLSSocket) => {
    socket.on('error', () => {});
    socket.write(http2Frame('SETTINGS', 0, Buffer.alloc(0)));
    await requestOn(socket);
    sent = flood(socket, Buffer.concat(Array(4096).fill(early)));
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.match(answer.error.message, /more than the 64 interim responses/);
    assert.ok(sent() < MOST_SENT_BYTES, `${sent()} bytes`);
  });
});
