// The laboratory's DNS answers are read by Node's resolver, which is not ours, and compared byte by byte with RFC 9460.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import test from 'node:test';
import { answerQuery, type Zone } from './dns-message.ts';

const ZONE: Zone = {
  'both.test': {
    a: ['10.77.1.2', '10.77.1.3'],
    aaaa: ['2001:db8:77:1::2', '::1', '1:2:3:4:5:6:7:8'],
    https: [{ priority: 1, alpn: ['h3', 'h2'] }],
  },
  'v4.test': { a: ['10.77.1.2'] },
};

test('addresses as a resolver reads them; a name without them is no name that does not exist', async () => {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => socket.send(answerQuery(query, ZONE), port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  try {
    assert.deepEqual(await resolver.resolve4('Both.test'), ZONE['both.test']?.a);
    assert.deepEqual(await resolver.resolve6('both.test'), ZONE['both.test']?.aaaa);
    await assert.rejects(resolver.resolve6('v4.test'), { code: 'ENODATA' });
    await assert.rejects(resolver.resolve4('other.test'), { code: 'ENOTFOUND' });
  } finally {
    socket.close();
  }
});

test('an HTTPS record as RFC 9460 writes it: priority, own name, alpn', () => {
  const name = Buffer.from('\x04both\x04test\x00', 'latin1');
  const query = Buffer.concat([
    Buffer.from('000101000001000000000000', 'hex'),
    name,
    Buffer.from('00410001', 'hex'),
  ]);
  const answer = answerQuery(query, ZONE).toString('hex');
  assert.ok(answer.startsWith('000185000001000100000000'), answer);
  assert.ok(
    answer.endsWith('c00c004100010000003c000d' + '0001' + '00' + '00010006' + '026833026832'),
    answer,
  );
});

test('what is no query is refused', () => {
  assert.throws(() => answerQuery(Buffer.alloc(3), ZONE), RangeError);
});
