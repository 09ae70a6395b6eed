// The machine's clock: nothing runs before its time, or after it was cancelled. How late it may run depends on the
// machine. And the pause: data that arrived before it is handled during it, even if it begins in the middle of a poll.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { nextPoll, systemClock, within } from './clock.ts';
import { LOOPBACK } from './testing/peers.ts';

const waited = (delayMs: number): Promise<number> => {
  const beganMs = systemClock.nowMs();
  return new Promise((resolve) => {
    systemClock.after(delayMs, () => resolve(systemClock.nowMs() - beganMs));
  });
};

test('nothing runs before its time', async () => {
  for (const delayMs of [0, 0.2, 1, 1.5, 2.5, 10, 101.5]) assert.ok((await waited(delayMs)) >= delayMs);
});

test('a delay of 0 still lets pending work go first', () => {
  let ran = false;
  const forget = systemClock.after(0, () => {
    ran = true;
  });
  assert.equal(ran, false);
  forget();
});

test('a cancelled callback does not run, however near its time is', async () => {
  const ran: number[] = [];
  for (const delayMs of [0, 0.5, 1.5, 5]) systemClock.after(delayMs, () => ran.push(delayMs))();
  await waited(20);
  assert.deepEqual(ran, []);
});

test('work that fails is not waited for until its time is over', async () => {
  let waits = false;
  const clock = {
    after() {
      waits = true;
      return () => {
        waits = false;
      };
    },
  };
  await assert.rejects(within(clock, 1, Promise.reject(new Error('gone'))), /gone/);
  assert.equal(waits, false);
});

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
