// What interrupts a command that ends with what it has, and what ends it at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stoppedByInterrupt } from './terminal.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const listening = (): readonly number[] => SIGNALS.map((name) => process.listenerCount(name));

for (const name of SIGNALS)
  test(`the first ${name} interrupts, and every further signal has its default effect`, () => {
    const before = listening();
    const { stop, forget } = stoppedByInterrupt();
    process.emit(name);
    assert.ok(stop.signal.aborted);
    assert.deepEqual(listening(), before);
    forget();
  });

test('without a signal the default is restored at the end', () => {
  const before = listening();
  const { stop, forget } = stoppedByInterrupt();
  forget();
  assert.deepEqual(listening(), before);
  assert.ok(!stop.signal.aborted);
});
