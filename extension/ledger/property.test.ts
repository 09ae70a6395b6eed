// Invariants of a ledger under any operations, in any order and with any failures: totals are the sums of days, records
// those of their days, verdicts match the races, and a batch counts once.
import 'fake-indexeddb/auto';
import '../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDBFactory } from 'fake-indexeddb';
import fc from 'fast-check';
import { checkInvariants, dump } from '../testing/ledger-invariants.ts';
import { type Step, steps } from '../testing/random-ledger.ts';
import { failAt } from '../testing/storage.ts';
import { type Ledger, openLedger } from './ledger.ts';

const RUNS = 60;

async function filled(all: readonly Step[]) {
  globalThis.indexedDB = new IDBFactory();
  const ledger = openLedger();
  for (const step of all) await step.run(ledger);
  return ledger;
}

/** The outbox as well as what is exported. */
async function everything(ledger: Ledger) {
  const told = (await ledger.outbox(100)).map((row) => row.observations);
  return { ...(await dump(ledger)), told };
}

test('totals, records and verdicts agree with the days and races, whatever was recorded', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => checkInvariants(await dump(await filled(all)))),
    { numRuns: RUNS },
  );
});

test('a failure at any operation leaves nothing, and a retry counts once', async () => {
  const failure = fc.record({
    nth: fc.integer({ min: 1, max: 12 }),
    how: fc.constantFrom('throws', 'aborts'),
  });
  await fc.assert(
    fc.asyncProperty(steps, fc.array(failure, { minLength: 12, maxLength: 12 }), async (all, failures) => {
      const expected = await everything(await filled(all));
      globalThis.indexedDB = new IDBFactory();
      const ledger = openLedger();
      for (const [i, step] of all.entries()) {
        const { nth, how } = failures[i] ?? { nth: 1, how: 'throws' };
        const before = await everything(ledger);
        const failing = failAt(nth, how);
        const failed = await step.run(ledger).then(
          () => false,
          () => true,
        );
        failing.restore();
        assert.equal(failed, failing.reached());
        if (failed) {
          assert.deepEqual(await everything(ledger), before);
          await step.run(ledger);
        }
        // The answer may be lost after everything was stored.
        if (step.known) await step.run(ledger);
      }
      assert.deepEqual(await everything(ledger), expected);
    }),
    { numRuns: RUNS },
  );
});

test('the service worker may be terminated after each step: the next one finds everything', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const expected = await everything(await filled(all));
      globalThis.indexedDB = new IDBFactory();
      for (const step of all) {
        const ledger = openLedger();
        await step.run(ledger);
        await ledger.close();
      }
      assert.deepEqual(await everything(openLedger()), expected);
    }),
    { numRuns: RUNS / 2 },
  );
});
