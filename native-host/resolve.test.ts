import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { type OriginParts, parseOrigin } from '@photofinish/shared/origin';
import { addressPolicy } from './guard.ts';
import { pinName, type ResolveOptions, resolveOrigin } from './resolve.ts';

function origin(text: string): OriginParts {
  const parsed = parseOrigin(text);
  assert.ok(parsed.ok);
  return parsed.value;
}

const options = (facts: Partial<ResolveOptions> = {}): ResolveOptions => ({
  pins: new Map(),
  resolver: null,
  policy: addressPolicy(['127.0.0.0/8', '::1']),
  ...facts,
});

/** Answers by query type, 1 for A and 28 for AAAA; a number is a response code, null no answer at all. */
type Answers = Readonly<Record<1 | 28, readonly number[][] | number | null>>;

/** A DNS server (RFC 1035 section 4) on loopback that answers every name alike. */
async function dnsServer(t: TestContext, answers: Answers): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
    const end = query.indexOf(0, 12) + 5;
    const answer = answers[query.readUInt16BE(end - 4) as 1 | 28];
    if (answer === null) return;
    const addresses = typeof answer === 'number' ? [] : answer;
    const code = typeof answer === 'number' ? answer : 0;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((bytes) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(query.readUInt16BE(end - 4), 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([record, Buffer.from(bytes)]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

const LOOPBACK6 = [...new Array<number>(15).fill(0), 1];

test('a pin is taken without asking anybody, for its port only', async () => {
  const pins = new Map([[pinName('h3.test', 4433), '127.0.0.2']]);
  assert.deepEqual(await resolveOrigin(origin('https://H3.test:4433'), options({ pins })), {
    ok: true,
    addresses: ['127.0.0.2'],
  });
  assert.equal(pinName('::1', 443), '[::1]:443');
});

test('an address is itself, and the guard sees pins and addresses too', async () => {
  assert.deepEqual(await resolveOrigin(origin('https://[::1]'), options()), { ok: true, addresses: ['::1'] });
  const strict = options({ policy: addressPolicy([]), pins: new Map([['h3.test:443', '10.0.0.1']]) });
  for (const text of ['https://127.0.0.1', 'https://h3.test']) {
    const resolved = await resolveOrigin(origin(text), strict);
    assert.equal(resolved.ok ? null : resolved.error.code, 'blocked', text);
  }
});

test("the system's resolver knows localhost", async () => {
  const resolved = await resolveOrigin(origin('https://localhost'), options());
  assert.ok(resolved.ok && resolved.addresses.length > 0);
});

test('a server of our own is asked for both families', async (t) => {
  const resolver = await dnsServer(t, {
    1: [
      [127, 0, 0, 1],
      [127, 0, 0, 3],
    ],
    28: [LOOPBACK6],
  });
  assert.deepEqual(await resolveOrigin(origin('https://a.test'), options({ resolver })), {
    ok: true,
    addresses: ['::1', '127.0.0.1', '127.0.0.3'],
  });
});

test('one family that fails does not spoil the other', async (t) => {
  const resolver = await dnsServer(t, { 1: [[127, 0, 0, 1]], 28: 2 });
  const resolved = await resolveOrigin(origin('https://a.test'), options({ resolver }));
  assert.deepEqual(resolved, { ok: true, addresses: ['127.0.0.1'] });
});

test('one private address among the answers blocks the name', async (t) => {
  const resolver = await dnsServer(t, {
    1: [
      [127, 0, 0, 1],
      [10, 0, 0, 1],
    ],
    28: [],
  });
  const resolved = await resolveOrigin(origin('https://a.test'), options({ resolver }));
  assert.equal(resolved.ok ? null : resolved.error.code, 'blocked');
});

test('no such name, no address, and a server that fails are told apart', async (t) => {
  const code = async (answers: Answers) => {
    const resolver = await dnsServer(t, answers);
    const resolved = await resolveOrigin(origin('https://a.test'), options({ resolver }));
    return resolved.ok ? null : resolved.error.code;
  };
  assert.equal(await code({ 1: 3, 28: 3 }), 'no-address');
  assert.equal(await code({ 1: [], 28: [] }), 'no-address');
  assert.equal(await code({ 1: 2, 28: [] }), 'dns-failed');
});

test('a look-up that is given up ends at once', async (t) => {
  const resolver = await dnsServer(t, { 1: null, 28: null });
  const abort = new AbortController();
  const resolving = resolveOrigin(origin('https://a.test'), options({ resolver, signal: abort.signal }));
  abort.abort();
  const resolved = await resolving;
  assert.equal(resolved.ok ? null : resolved.error.code, 'cancelled');
  const already = await resolveOrigin(origin('https://a.test'), options({ signal: abort.signal }));
  assert.equal(already.ok ? null : already.error.code, 'cancelled');
});
