// The code with which an established old-HTTP connection was ended, and by which side: raw frames and TLS of real peers
// on loopback.
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { after, test } from 'node:test';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { failureOf, h2Testbed, requestOn, serving } from '../testing/h2-server.ts';
import { target } from '../testing/peers.ts';

const { ca, pair, transport, http2, get } = await h2Testbed();
after(() => ca.stop());

/** A frame of RFC 9113 section 4.1. */
function frame(type: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
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
const DATA_UNASKED = frame(0, 1, Buffer.from('hello'));
const OF_ALL_STREAMS = 0x7fffffff;

/** The error of a request whose server sends these frames as soon as it has received it. */
async function endedBy(...frames: Buffer[]): Promise<AttemptError> {
  const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket) => {
    socket.on('error', () => {});
    await requestOn(socket);
    socket.write(Buffer.concat(frames));
  });
  return serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    return answer.error;
  });
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

test('an HTTP/2 violation that Node detects is reported as such, with the code that it sends', async () => {
  for (const frames of [[SETTINGS, DATA_UNASKED], [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]]) {
    const error = await endedBy(...frames);
    assert.deepEqual(
      [error.code, error.wireCode, error.endedBy],
      ['connection-closed', 'PROTOCOL_ERROR', 'client'],
    );
    assert.match(error.message, /the server breaks HTTP\/2/);
  }
});

function tlsOnly(options: TlsOptions) {
  return createTlsServer({ ...pair, ALPNProtocols: ['h2'], ...options }, (socket) =>
    socket.on('error', () => {}),
  );
}

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
