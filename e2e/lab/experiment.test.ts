// With which seed the testbed of a run is open when it begins, is resumed, or begins anew; what is printed if it cannot
// be resumed; that two runs never record in one folder.
import assert from 'node:assert/strict';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { scratchDirectory } from '../scratch.ts';
import { type Experiment, RunInterrupted, record, runProgram } from './experiment.ts';
import type { RecordSchema } from './journal.ts';

interface Plan {
  readonly trials: number;
}

interface Line {
  readonly seed: number;
}

const SCHEMA: RecordSchema<Plan, Line, Line> = {
  experiment: 'stub',
  asked: v.object({ trials: count }),
  found: v.object({ seed: count }),
  turn: v.object({ seed: count }),
  keyOf: () => null,
};

interface Opened extends Line {
  close(): Promise<void>;
}

const SETUP: Opened = { seed: 7, close: async () => {} };
const EXPERIMENT: Experiment<Plan, Line, Line, Opened> = {
  schema: SCHEMA,
  seed: 7,
  fresh: false,
  open: async () => SETUP,
  plan: () => ({ trials: 1 }),
  find: async () => ({ seed: 7 }),
  async measure(_setup, journal) {
    await journal.append({ seed: 7 });
    return true;
  },
};

test('a damaged record is told in two lines, and --fresh begins anew', async (context) => {
  const dir = await scratchDirectory('experiment-test');
  context.after(() => rm(dir, { recursive: true }));
  context.after(() => {
    process.exitCode = 0;
  });
  const trials = join(dir, 'trials.jsonl');
  await record(EXPERIMENT, dir);
  await appendFile(trials, '{"seed":\n{"seed":7}\n');
  const { mock } = context.mock.method(process.stderr, 'write', () => true);
  await runProgram('usage', String, async () => {
    await record(EXPERIMENT, dir);
    return 0;
  });
  mock.restore();
  const [message = '', advice, ...others] = String(mock.calls[0]?.arguments[0]).split('\n');
  assert.ok(message.startsWith(`${trials}, line 2: `), message);
  assert.deepEqual(
    [advice, others, process.exitCode],
    ['Repair that file, or start again with --fresh', [''], 2],
  );
  const { journal } = await record({ ...EXPERIMENT, fresh: true }, dir);
  assert.deepEqual(journal.turns, [{ seed: 7 }]);
});

test('a resumed run has a seed of its own, and one that begins anew the recorded one', async (context) => {
  const dir = await scratchDirectory('experiment-test');
  context.after(() => rm(dir, { recursive: true }));
  const open = new Set<number>();
  const run = async (trials: number, fresh = false) => {
    const experiment: Experiment<Plan, Line, Line, Opened> = {
      ...EXPERIMENT,
      fresh,
      open: async (seed) => {
        assert.equal(open.size, 0, 'two testbeds at once');
        open.add(seed);
        return { seed, close: async () => void open.delete(seed) };
      },
      plan: () => ({ trials }),
      find: async ({ seed }) => ({ seed }),
      measure: async ({ seed }, journal) => {
        assert.deepEqual([...open], [seed]);
        for (let made = 0; made < trials; made += 1) await journal.append({ seed });
        return true;
      },
    };
    const { journal } = await record(experiment, dir);
    assert.equal(open.size, 0, 'the testbed is left open');
    return [journal.meta.seed, journal.meta.found.seed, ...journal.turns.map(({ seed }) => seed)];
  };
  assert.deepEqual(await run(2), [7, 7, 7, 7]);
  assert.deepEqual(await run(2), [7, 7, 7, 7, 9, 9]);
  assert.deepEqual(await run(1), [7, 7, 7], 'changed: trials');
  assert.deepEqual(await run(1, true), [7, 7, 7]);
});

test('a second run in the same folder is refused while the first records, and records after it', async (context) => {
  const dir = await scratchDirectory('experiment-test');
  context.after(() => rm(dir, { recursive: true }));
  const during: Experiment<Plan, Line, Line, Opened> = {
    ...EXPERIMENT,
    measure: async () => {
      const again = { ...EXPERIMENT, fresh: true };
      await assert.rejects(record(again, dir), new RunInterrupted(`Another run is recording in ${dir}`));
      return true;
    },
  };
  const { journal: first } = await record(during, dir);
  assert.deepEqual(first.turns, []);
  const { journal } = await record(EXPERIMENT, dir);
  assert.deepEqual(journal.turns, [{ seed: 7 }]);
});
