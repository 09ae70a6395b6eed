// Data that arrived before a pause is handled during it, even if the pause begins in the middle of a poll.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { nextPoll } from './next-poll.ts';
import { LOOPBACK } from './testing/transport.ts';

const server = createServer();
after(() => server.close());

test('data waiting in a socket is handled before the pause ends', async () => {
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, LOOPBACK);
  const [far] = (await once(server, 'connection')) as [Socket];
  const heard: string[] = [];
  near.setEncoding('utf8').on('data', (text: string) => void heard.push(text));
  // An event of a poll: its handlers run before the poll continues.
  near.write('x');
  await once(far, 'data');
  far.write('question');
  await nextPoll();
  const heardByThen = [...heard];
  near.destroy();
  far.destroy();
  assert.deepEqual(heardByThen, ['question']);
});
