// How lateness is measured: on a clock controlled by the test, and once on the real event loop.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latenessMeter, watchEventLoop } from './lateness.ts';

/** A meter whose timer is fired by the test. */
function testbed() {
  let nowMs = 0;
  let due: { readonly atMs: number; readonly run: () => void } | null = null;
  const watch = latenessMeter({
    nowMs: () => nowMs,
    after(delayMs, run) {
      due = { atMs: nowMs + delayMs, run };
      return () => {
        due = null;
      };
    },
  });
  return {
    watch,
    armed: () => due !== null,
    pass(ms: number) {
      nowMs += ms;
    },
    /** Fires the timer this many milliseconds after it was due. */
    fire(lateByMs: number) {
      assert.ok(due, 'the timer is set');
      const { atMs, run } = due;
      nowMs = atMs + lateByMs;
      run();
    },
  };
}

test('timers that fire when due record no lateness', () => {
  const { watch, fire } = testbed();
  const late = watch();
  for (let i = 0; i < 1000; i += 1) fire(1);
  assert.deepEqual(late.read(), { worstMs: 0, totalMs: 0 });
});

test('the longest delay and the total are recorded, less the timer’s granularity of a millisecond each', () => {
  const { watch, fire } = testbed();
  const late = watch();
  for (const ms of [6, 0, 31, 2]) fire(ms);
  assert.deepEqual(late.read(), { worstMs: 30, totalMs: 36 });
});

test('an overdue timer counts before it has fired, and only once', () => {
  const { watch, fire, pass } = testbed();
  const late = watch();
  pass(10 + 201);
  assert.deepEqual(late.read(), { worstMs: 200, totalMs: 200 });
  fire(201);
  assert.deepEqual(late.read(), { worstMs: 200, totalMs: 200 });
});

test('a watch that begins while the loop is blocked counts only its own part', () => {
  const { watch, fire, pass } = testbed();
  const early = watch();
  pass(10 + 300);
  const late = watch();
  fire(401);
  assert.deepEqual([early.read().worstMs, late.read().worstMs], [400, 100]);
});

test('no timer runs while there is no watch', () => {
  const { watch, armed } = testbed();
  const [first, second] = [watch(), watch()];
  first.end();
  assert.ok(armed());
  second.end();
  assert.ok(!armed());
  assert.ok(watch().read().totalMs === 0 && armed());
});

test('a blocked event loop is measured as late', () => {
  const late = watchEventLoop();
  const beganMs = performance.now();
  while (performance.now() - beganMs < 60);
  const { worstMs } = late.read();
  late.end();
  assert.ok(worstMs >= 45, `${worstMs} ms`);
});
