import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_BATCH_ENTRIES, MAX_PAGE_ENTRIES } from '../common/timing.ts';
import { TIMING as timing } from '../testing/samples.ts';
import { ANSWER_MS, COALESCE_MS, createQueue, LOADING_COALESCE_MS, type NumberedBatch } from './queue.ts';

/** A queue on virtual time whose sends are answered by `answer`. */
function testbed(answer: (batch: NumberedBatch) => Promise<boolean>, loading = () => false) {
  const sent: NumberedBatch[] = [];
  let timers: { dueMs: number; run: () => void }[] = [];
  let nowMs = 0;
  const queue = createQueue({
    send: (batch) => {
      sent.push(batch);
      return answer(batch);
    },
    later: (delayMs, run) => timers.push({ dueMs: nowMs + delayMs, run }),
    loading,
  });
  const settle = async () => {
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
  };
  const pass = async (ms: number) => {
    nowMs += ms;
    const due = timers.filter((t) => t.dueMs <= nowMs);
    timers = timers.filter((t) => t.dueMs > nowMs);
    for (const { run } of due) run();
    await settle();
  };
  return { queue, sent, pass, settle };
}

const seqs = (sent: readonly NumberedBatch[]) => sent.map((batch) => batch.seq);

test('a burst is sent as one batch', async () => {
  const { queue, sent, pass } = testbed(async () => true);
  queue.add([timing]);
  queue.add([timing, timing]);
  await pass(COALESCE_MS - 1);
  assert.equal(sent.length, 0);
  await pass(1);
  assert.deepEqual(
    sent.map((b) => b.entries.length),
    [3],
  );
});

test('while the page loads the first batch is sent soon and the others rarely', async () => {
  const { queue, sent, pass } = testbed(
    async () => true,
    () => true,
  );
  queue.add([timing]);
  await pass(COALESCE_MS);
  assert.deepEqual(seqs(sent), [1]);
  queue.add([timing]);
  await pass(LOADING_COALESCE_MS - 1);
  assert.deepEqual(seqs(sent), [1]);
  await pass(1);
  assert.deepEqual(seqs(sent), [1, 2]);
});

test('an unacknowledged batch is sent again under its number until it is durable', async () => {
  let durable = false;
  const { queue, sent, pass } = testbed(async () => durable);
  queue.add([timing]);
  await pass(COALESCE_MS);
  await pass(1000);
  durable = true;
  await pass(2000);
  await pass(100_000);
  assert.deepEqual(seqs(sent), [1, 1, 1]);
});

test('a send that throws counts as unacknowledged', async () => {
  let calls = 0;
  const { queue, sent, pass } = testbed(async () => {
    calls += 1;
    if (calls === 1) throw new Error('the message port closed');
    return true;
  });
  queue.add([timing]);
  await pass(COALESCE_MS);
  await pass(1000);
  assert.deepEqual(seqs(sent), [1, 1]);
});

test('leaving sends at once, returning resends what is unacknowledged', async () => {
  const answers: ((durable: boolean) => void)[] = [];
  const { queue, sent, settle } = testbed(() => new Promise((resolve) => answers.push(resolve)));
  queue.add([timing]);
  queue.flush();
  assert.deepEqual(seqs(sent), [1]);
  queue.resume();
  assert.deepEqual(seqs(sent), [1], 'one under way is not sent twice');
  answers[0]?.(false);
  await settle();
  queue.resume();
  assert.deepEqual(seqs(sent), [1, 1]);
});

test('batches and pages are bounded', async () => {
  const { queue, sent } = testbed(async () => true);
  queue.add(Array.from({ length: MAX_PAGE_ENTRIES + 5 }, () => timing));
  queue.flush();
  assert.equal(
    sent.reduce((sum, b) => sum + b.entries.length, 0),
    MAX_PAGE_ENTRIES,
  );
  assert.ok(sent.every((b) => b.entries.length <= MAX_BATCH_ENTRIES));
});

test('a page that stays open for long reports as much in its next hour', async () => {
  const { queue, sent, pass } = testbed(async () => true);
  const entries = () => sent.reduce((sum, b) => sum + b.entries.length, 0);
  queue.add(Array.from({ length: MAX_PAGE_ENTRIES }, () => timing));
  queue.flush();
  await pass(3_599_999);
  queue.add([timing]);
  await pass(COALESCE_MS);
  queue.add([timing]);
  queue.flush();
  assert.equal(entries(), MAX_PAGE_ENTRIES + 1);
});

test('after a stop nothing is sent', async () => {
  const { queue, sent, pass } = testbed(async () => false);
  queue.add([timing]);
  queue.stop();
  queue.add([timing]);
  queue.flush();
  queue.resume();
  await pass(100_000);
  assert.equal(sent.length, 0);
});

test('a batch without any answer is sent again, and its late answer still counts', async () => {
  const answers: ((durable: boolean) => void)[] = [];
  const { queue, sent, pass, settle } = testbed(() => new Promise((resolve) => answers.push(resolve)));
  queue.add([timing]);
  await pass(COALESCE_MS);
  await pass(ANSWER_MS);
  await pass(60_000);
  assert.deepEqual(seqs(sent), [1, 1]);
  answers[0]?.(true);
  await settle();
  assert.deepEqual(queue.unanswered(), []);
});
