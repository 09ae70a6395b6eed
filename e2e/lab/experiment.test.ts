// With which seed the testbed of a run is open when it begins, is resumed, or begins anew.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import * as v from 'valibot';
import { scratchDirectory } from '../scratch.ts';
import { type Experiment, record } from './experiment.ts';
import { count, type RecordSchema } from './journal.ts';

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

test('a resumed run has a seed of its own, and one that begins anew the recorded one', async (context) => {
  const dir = await scratchDirectory('experiment-test');
  context.after(() => rm(dir, { recursive: true }));
  const open = new Set<number>();
  const run = async (trials: number, fresh = false) => {
    const experiment: Experiment<Plan, Line, Line, Opened> = {
      schema: SCHEMA,
      seed: 7,
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
