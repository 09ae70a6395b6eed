// Every way in which an established TCP connection can fail to answer, with real peers on loopback, and its
// limits.
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { after, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import fc from 'fast-check';
import { h2Testbed, requestOn, serving } from '../testing/h2-server.ts';
import { ageSeconds } from './response-reading.ts';

const { ca, pair, http2, get } = await h2Testbed();
after(() => ca.stop());

test('421 is misdirected', async () => {
  const server = http2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 421 }, { endStream: true });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok && answer.error.code === 'misdirected');
  });
});

test('an answer that never comes, or never ends, is response-timeout', async () => {
  await serving(http2(), async (port) => {
    const { answer } = await get(port, 50);
    assert.ok(!answer.ok && answer.error.code === 'response-timeout');
    assert.deepEqual([answer.receivedAltSvc, answer.firstByteMs], [undefined, undefined]);
  });
  const endless = http2();
  endless.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'alt-svc': 'h3=":443"' });
    stream.write('first');
  });
  await serving(endless, async (port) => {
    const { answer } = await get(port, 50);
    assert.ok(!answer.ok && answer.error.code === 'response-timeout');
    assert.match(answer.error.message, /although one began/);
    assert.equal(answer.receivedAltSvc?.altSvc?.text, 'h3=":443"');
    assert.ok(answer.firstByteMs !== undefined && answer.firstByteMs <= answer.atMs);
  });
});

test('of a response that is cut off its header section counts as received, on h2 and on http/1.1', async () => {
  // SETTINGS; HEADERS with END_HEADERS, status 200 and `alt-svc` (RFC 7541 section 6.2.2); and DATA, without an end.
  const frames = Buffer.concat([
    Buffer.from('000000040000000000' + '000014010400000001' + '88' + '0007', 'hex'),
    Buffer.from('alt-svc\u0009h3=":443"'),
    Buffer.from('000005000000000001', 'hex'),
    Buffer.from('first'),
  ]);
  const old = 'HTTP/1.1 200 OK\r\nalt-svc: h3=":443"\r\ncontent-length: 100\r\n\r\nfirst';
  const servers = [
    createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket) => {
      socket.on('error', () => {});
      await requestOn(socket);
      socket.end(frames);
    }),
    createTlsServer({ ...pair }, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(old));
    }),
  ];
  for (const server of servers)
    await serving(server, async (port) => {
      const { established, answer } = await get(port);
      assert.ok(!answer.ok);
      assert.equal(answer.error.code, 'connection-closed', answer.error.message);
      assert.equal(answer.receivedAltSvc?.altSvc?.text, 'h3=":443"');
      const firstByteMs = answer.firstByteMs ?? Number.NaN;
      assert.ok(established.establishedMs <= firstByteMs && firstByteMs <= answer.atMs);
    });
});

test('GOAWAY for our stream is goaway, and no second connection is opened', async () => {
  let connections = 0;
  // SETTINGS, then GOAWAY with last stream 0: nothing was processed (RFC 9113 section 6.8). node:http2 cannot send
  // this.
  const frames = Buffer.from('000000040000000000' + '0000080700000000000000000000000000', 'hex');
  const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, (socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.once('data', () => socket.write(frames));
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.equal(answer.error.code, 'goaway');
  });
  assert.equal(connections, 1);
});

test('a stream refused without processing is goaway, as over HTTP/3', async () => {
  const server = http2();
  server.on('stream', (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok && answer.error.code === 'goaway', JSON.stringify(answer));
  });
});

test('a connection that dies before the answer is connection-closed, on h2 and on http/1.1', async () => {
  const server = http2();
  server.on('stream', (stream) => stream.session?.socket.destroy());
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok && answer.error.code === 'connection-closed');
  });
  const old = createHttpsServer({ ...pair }, (request) => request.socket.destroy());
  await serving(old, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok && answer.error.code === 'connection-closed');
  });
});

test('an interim 100 over HTTP/1.1, which undici does not read, is not blamed on the server', async () => {
  const old = createHttpsServer({ ...pair }, (_request, response) => {
    response.writeContinue();
    response.end();
  });
  await serving(old, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.equal(answer.error.code, 'internal');
    assert.match(answer.error.message, /100 \(Continue\)/);
  });
});

test('no more than 64 KiB of a body are read, and then an endless one counts as answered', async () => {
  const chunk = Buffer.alloc(16_384);
  const server = http2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200 });
    const pour = (): void => {
      while (!stream.destroyed && stream.write(chunk));
      stream.once('drain', pour);
    };
    pour();
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(answer.ok);
    assert.equal(answer.bodyBytes, 65_536);
  });
});

test('redirects are answers, not followed', async () => {
  let requests = 0;
  const server = http2();
  server.on('stream', (stream) => {
    requests += 1;
    stream.respond({ ':status': 302, location: '/elsewhere' }, { endStream: true });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(answer.ok && answer.status === 302);
  });
  assert.equal(requests, 1);
});

test('digits are seconds, the first of several members counts, and the value is capped at 2^31', () => {
  assert.deepEqual(['0', ' 7 ', '86400', '12, 99', '12,x', '9'.repeat(400), '2147483649'].map(ageSeconds), [
    0,
    7,
    86_400,
    12,
    12,
    2 ** 31,
    2 ** 31,
  ]);
});

test('any other value is ignored', () => {
  for (const value of [
    null,
    '',
    '-',
    `-${'9'.repeat(400)}`,
    '-1',
    '+1',
    '1.5',
    '1e9',
    '0x10',
    '12 s',
    ',5',
    '٣',
  ])
    assert.equal(ageSeconds(value), 0, String(value));
});

test('the age can be sent on whatever the field contains', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^-?[0-9]{0,500}$/)), (value) => {
      const seconds = ageSeconds(value);
      assert.ok(Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= 2 ** 31);
    }),
  );
});
