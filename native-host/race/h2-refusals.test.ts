// The code with which an established TCP connection was ended, and by which side: raw frames and TLS of real peers
// on loopback.
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { after, test } from 'node:test';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { failureOf, h2Testbed, requestOn, serving } from '../testing/h2-server.ts';
import { target } from '../testing/peers.ts';
import type { AttemptAnswer, AttemptFailure } from './transport.ts';

const { ca, pair, transport, http2, get } = await h2Testbed();
after(() => ca.stop());

/** A frame of RFC 9113 section 4.1. */
function frame(type: number, stream: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function goAway(lastStream: number, code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastStream, 0);
  payload.writeUInt32BE(code, 4);
  return frame(7, 0, payload);
}

function reset(code: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  return frame(3, 1, payload);
}

const SETTINGS = frame(4, 0, Buffer.alloc(0));
const DATA = frame(0, 1, Buffer.from('hello'));
const LAST_DATA = frame(0, 1, Buffer.from('hello'), 1);
const [STATUS_200, STATUS_304] = [0x88, 0x8b];

/** A header section without END_STREAM: a status of the static table (RFC 7541 appendix A), and Content-Length. */
function headers(status: number, contentLength = ''): Buffer {
  const field = [0x0f, 0x0d, contentLength.length, ...Buffer.from(contentLength)];
  return frame(1, 1, Buffer.from([status, ...(contentLength === '' ? [] : field)]), 4);
}

const OF_ALL_STREAMS = 0x7fffffff;

/** The result of a request whose server sends these frames as soon as it has received it. */
async function resultOf(...frames: Buffer[]): Promise<AttemptAnswer | AttemptFailure> {
  const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket) => {
    socket.on('error', () => {});
    await requestOn(socket);
    socket.write(Buffer.concat(frames));
  });
  return serving(server, async (port) => (await get(port)).answer);
}

async function endedBy(...frames: Buffer[]): Promise<AttemptError> {
  const answer = await resultOf(...frames);
  assert.ok(!answer.ok);
  return answer.error;
}

const REFUSALS = [
  ['ENHANCE_YOUR_CALM', constants.NGHTTP2_ENHANCE_YOUR_CALM],
  ['INADEQUATE_SECURITY', constants.NGHTTP2_INADEQUATE_SECURITY],
] as const;

for (const [name, number] of REFUSALS)
  for (const lastStream of [0, OF_ALL_STREAMS])
    test(`GOAWAY with ${name} after stream ${lastStream} is reported with its code`, async () => {
      const error = await endedBy(SETTINGS, goAway(lastStream, number));
      assert.deepEqual([error.code, error.wireCode, error.endedBy], ['goaway', name, undefined]);
    });

for (const [name, number] of [
  ...REFUSALS,
  // Node makes no error of these two.
  ['CANCEL', constants.NGHTTP2_CANCEL],
  ['NO_ERROR', constants.NGHTTP2_NO_ERROR],
] as const)
  test(`a stream reset with ${name} is reported with its code`, async () => {
    const error = await endedBy(SETTINGS, reset(number));
    assert.deepEqual([error.code, error.wireCode], ['connection-closed', name]);
  });

test('a reset in mid-body, which has no END_STREAM, leaves the response incomplete', async () => {
  for (const [name, ...frames] of [
    ['CANCEL', headers(STATUS_200), DATA, reset(constants.NGHTTP2_CANCEL)],
    ['CANCEL', headers(STATUS_200, '5'), DATA, reset(constants.NGHTTP2_CANCEL)],
    ['NO_ERROR', headers(STATUS_200, '1000'), DATA, reset(constants.NGHTTP2_NO_ERROR)],
  ] as const) {
    const error = await endedBy(SETTINGS, ...frames);
    assert.deepEqual([error.code, error.wireCode], ['connection-closed', name]);
  }
});

test('content that is not as long as its Content-Length is a violation that this side resets', async () => {
  for (const [length, message] of [
    ['100', 'the content is not as long as its Content-Length'],
    ['3', 'the server violates HTTP/2: Protocol error'],
  ] as const) {
    const error = await endedBy(SETTINGS, headers(STATUS_200, length), LAST_DATA);
    const { wireCode, endedBy: side } = error;
    assert.deepEqual([error.message, wireCode, side], [message, 'PROTOCOL_ERROR', 'client']);
  }
});

test('a reset with PROTOCOL_ERROR of content without a Content-Length may be the server’s', async () => {
  const error = await endedBy(SETTINGS, headers(STATUS_200), DATA, reset(constants.NGHTTP2_PROTOCOL_ERROR));
  assert.deepEqual([error.wireCode, error.endedBy], ['PROTOCOL_ERROR', undefined]);
});

test('a reset after END_STREAM leaves the response as it is', async () => {
  for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL]) {
    const answer = await resultOf(SETTINGS, headers(STATUS_200, '5'), LAST_DATA, reset(code));
    assert.ok(answer.ok, JSON.stringify(answer));
    assert.equal(answer.bodyBytes, 5);
  }
});

test('a 304 is complete without the content that its Content-Length is about', async () => {
  const answer = await resultOf(SETTINGS, headers(STATUS_304, '1000'), frame(0, 1, Buffer.alloc(0), 1));
  assert.ok(answer.ok, JSON.stringify(answer));
});

test('an HTTP/2 violation that Node detects is reported as such, with the code that it sends', async () => {
  for (const frames of [[SETTINGS, DATA], [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]]) {
    const error = await endedBy(...frames);
    assert.deepEqual(
      [error.code, error.wireCode, error.endedBy],
      ['connection-closed', 'PROTOCOL_ERROR', 'client'],
    );
    assert.match(error.message, /the server violates HTTP\/2/);
  }
});

function tlsOnly(options: TlsOptions) {
  return createTlsServer({ ...pair, ALPNProtocols: ['h2'], ...options }, (socket) =>
    socket.on('error', () => {}),
  );
}

test('what is not HTTP/1.1 is a violation, and a response that is cut off is none', async () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  for (const [response, side] of [
    ['hello there\r\n\r\n', 'client'],
    [`${head}transfer-encoding: chunked\r\n\r\nzz\r\n`, 'client'],
    [`${head}content-length: 9\r\n\r\nhello`, undefined],
    ['HTTP/1.1 200 O', undefined],
  ] as const) {
    const server = createTlsServer({ ...pair, ALPNProtocols: ['http/1.1'] }, (socket) => {
      socket.on('error', () => {}).once('data', () => socket.end(response));
    });
    await serving(server, async (port) => {
      const { answer } = await get(port);
      assert.ok(!answer.ok);
      assert.deepEqual([answer.error.code, answer.error.endedBy], ['connection-closed', side], response);
    });
  }
});

test('a required client certificate is reported with the name of its alert', async () => {
  await serving(tlsOnly({ requestCert: true, rejectUnauthorized: true }), async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.deepEqual([answer.error.code, answer.error.wireCode], ['tls-alert', 'certificate_required']);
  });
});

test('no common TLS version is protocol_version, whichever side notices', async () => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
  await serving(tlsOnly(old), async (port) => {
    const { error } = await failureOf(transport.start(target(port)));
    assert.deepEqual([error.code, error.wireCode], ['tls-alert', 'protocol_version']);
  });
});

test("an Alt-Svc field in a 421 is recorded as ignored, and not used as an answer's", async () => {
  const server = http2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 421, 'alt-svc': 'h3=":443"' }, { endStream: true });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.equal(answer.error.ignoredAltSvc, 'h3=":443"');
  });
});
