// Pipes that accept little, late or nothing, in virtual time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { virtualTime } from '../testing/virtual-time.ts';
import { MAX_WAITING_BYTES, Outbox, STALLED_MS } from './outbox.ts';

/** A pipe whose free space is controlled by the test. */
function pipeTestbed(room = 0) {
  const time = virtualTime();
  const got: number[] = [];
  const stuck: number[] = [];
  const state = { room, gone: false, writes: 0 };
  const outbox = new Outbox({
    clock: time.clock,
    onStuck: (bytes) => stuck.push(bytes),
    pipe: {
      waitingBytes: () => 0,
      write(bytes, at) {
        state.writes += 1;
        if (state.gone) throw Object.assign(new Error('EPIPE'), { code: 'EPIPE' });
        const count = Math.min(state.room, bytes.length - at);
        got.push(...bytes.subarray(at, at + count));
        state.room -= count;
        return count;
      },
    },
  });
  const pass = (ms: number) => time.run(new Promise<void>((done) => time.clock.after(ms, done)));
  return { outbox, state, got, stuck, pass };
}

test('however much space there is and when, all bytes are written in order', async () => {
  const chunk = fc.uint8Array({ minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(chunk, { minLength: 1 }),
      fc.array(fc.nat({ max: 60 })),
      async (chunks, rooms) => {
        const { outbox, state, got, stuck, pass } = pipeTestbed();
        for (const [n, bytes] of chunks.entries()) {
          state.room += rooms[n] ?? 0;
          outbox.send(bytes);
          await pass(20);
        }
        state.room = 1e6;
        await pass(200);
        await outbox.empty();
        assert.deepEqual(
          got,
          chunks.flatMap((bytes) => [...bytes]),
        );
        assert.deepEqual(stuck, []);
      },
    ),
    { numRuns: 30 },
  );
});

test('a pipe that nobody reads: reported once, at the limit of bytes or time, and no further byte is buffered', async () => {
  const byBytes = pipeTestbed();
  const megabyte = new Uint8Array(1024 * 1024);
  for (let n = 0; n < 40; n += 1) byBytes.outbox.send(megabyte);
  assert.deepEqual(byBytes.stuck, [MAX_WAITING_BYTES + megabyte.length]);
  await byBytes.outbox.empty();
  const byTime = pipeTestbed();
  byTime.outbox.send(new Uint8Array(10));
  await byTime.pass(STALLED_MS - 100);
  assert.deepEqual(byTime.stuck, []);
  await byTime.pass(200);
  assert.deepEqual(byTime.stuck, [10]);
});

test('a browser that reads slowly is waited for', async () => {
  const { outbox, state, stuck, got, pass } = pipeTestbed();
  outbox.send(new Uint8Array(10));
  for (let n = 0; n < 10; n += 1) {
    await pass(STALLED_MS - 1000);
    state.room = 1;
    await pass(100);
  }
  assert.deepEqual([got.length, stuck.length], [10, 0]);
});

test('nothing more is written once the browser has gone', async () => {
  const { outbox, state, stuck, pass } = pipeTestbed();
  outbox.send(new Uint8Array(10));
  state.gone = true;
  await pass(100);
  const { writes } = state;
  outbox.send(new Uint8Array(10));
  await outbox.empty();
  await pass(STALLED_MS * 2);
  assert.deepEqual([state.writes, stuck.length], [writes, 0]);
});
