// The measuring loop: the link is set before clients prepare, all trials reach the journal, and a client that crashes
// is named and gets no more turns in that cell only.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import test, { type TestContext } from 'node:test';
import type { Shapes } from '../../network/link.ts';
import { scratchDirectory } from '../../scratch.ts';
import type { Client, LabTrial } from '../client.ts';
import { RunInterrupted } from '../experiment.ts';
import { openJournal } from '../journal.ts';
import { ADOPTION, collect, progress } from './adoption-record.ts';
import { measure } from './measure-cells.ts';
import { CELLS, estimate, planRun, remaining } from './turn-plan.ts';

const TRIAL: LabTrial = { adopted: 'h3', establishedMs: 1, firstByteMs: 2 };
type Run = (trials: number) => LabTrial[] | Promise<LabTrial[]>;
const cells = CELLS.filter(({ id }) => id === 'delay-50' || id === 'loss-10');

/** A client that behaves as `run` says, and logs its calls. */
function client(name: string, log: string[], run: Run): Client {
  return {
    name,
    title: name,
    kind: 'peer',
    versions: {},
    async prepare() {
      log.push(`${name} prepares`);
    },
    async run(trials) {
      log.push(`${name} runs ${trials}`);
      return run(trials);
    },
    async close() {},
  };
}

/** A link that logs the shapes it gets, and returns reports numbered by their packets. */
function linkInto(log: string[], shapes: Shapes[]) {
  let reports = 0;
  return {
    async shape(wanted: Shapes) {
      log.push('link');
      shapes.push(wanted);
    },
    async report() {
      reports += 1;
      const direction = {
        delivered: reports,
        lost: 0,
        overflowed: 0,
        oversized: 0,
        lateUs: null,
        shortestUs: null,
      };
      return { up: direction, down: direction };
    },
  };
}

async function setUp(context: TestContext, runs: Record<string, Run>) {
  const dir = await scratchDirectory('measure-test');
  context.after(() => rm(dir, { recursive: true }));
  const log: string[] = [];
  const shapes: Shapes[] = [];
  const clients = Object.entries(runs).map(([name, run]) => client(name, log, run));
  const portions = clients.map(({ name }) => ({ name, trials: 5, batch: 2 }));
  const asked = {
    full: false,
    trials: { ours: 5, peer: 5, browser: 5 },
    scenarios: [...cells],
    clients: portions.map((portion) => ({ ...portion, title: '', kind: 'peer' as const, versions: {} })),
  };
  const { journal } = await openJournal(dir, ADOPTION, {
    identity: { seed: 1, commit: null, build: '', asked },
    startedAtMs: 0,
    fresh: false,
    find: async () => ({ absent: [] }),
  });
  const duration = estimate(new Map(clients.map(({ name, kind }) => [name, { kind, prepares: true }])));
  const measuring = { link: linkInto(log, shapes), clients, journal, estimate: duration };
  return { measuring, plan: planRun(cells, portions, 1), log, shapes };
}

const wellBehaved = (trials: number) => Array.from({ length: trials }, () => TRIAL);

test('in every cell: first the link, then preparations, then the turns', async (context) => {
  const { measuring, plan, log, shapes } = await setUp(context, { a: wellBehaved, b: wellBehaved });
  await measure(measuring, plan);
  assert.deepEqual(shapes, [
    { up: { delayMs: 25 }, down: { delayMs: 25, loss: { kind: 'independent', share: 0 } } },
    { up: { delayMs: 0 }, down: { delayMs: 0, loss: { kind: 'independent', share: 0.1 } } },
  ]);
  assert.deepEqual(log.slice(0, 3), ['link', 'a prepares', 'b prepares']);
  assert.equal(log.length, 2 * (1 + 2 + 2 * 3));
  for (const cell of collect(measuring.journal).cells) {
    assert.equal(cell.trials.a?.length, 5);
    assert.equal(cell.trials.b?.length, 5);
    // Every other report is of what was sent between turns.
    assert.ok(cell.link.every(({ report }) => report.up.delivered % 2 === 0));
  }
});

test('a client that crashes is named, keeps its trials in that cell, and is continued by a later run', async (context) => {
  let calls = 0;
  const breaksOnce = (trials: number) => {
    calls += 1;
    if (calls === 2) throw new Error('segmentation fault');
    return wellBehaved(trials);
  };
  const { measuring, plan } = await setUp(context, { a: wellBehaved, b: breaksOnce });
  await measure(measuring, plan);
  assert.deepEqual(progress(measuring.journal), { made: 17, asked: 20 });
  const [first, second] = collect(measuring.journal).cells;
  assert.deepEqual(first?.crashed, { b: 'segmentation fault' });
  assert.equal(first?.trials.a?.length, 5);
  assert.equal(first?.trials.b?.length, 2);
  assert.equal(second?.trials.b?.length, 5);

  await measure(measuring, remaining(plan, measuring.journal));
  assert.deepEqual(progress(measuring.journal), { made: 20, asked: 20 });
  const again = collect(measuring.journal).cells[0];
  assert.equal(again?.crashed, undefined);
  assert.equal(again?.trials.a?.length, 5);
  assert.equal(again?.trials.b?.length, 5);
});

test('fewer trials than requested are not accepted as complete', async (context) => {
  const { measuring, plan } = await setUp(context, { a: (trials) => wellBehaved(trials).slice(1) });
  await measure(measuring, plan);
  assert.deepEqual(collect(measuring.journal).cells[0]?.crashed, { a: 'a gave 1 trials when asked for 2' });
});

test('a failed trial is a trial', async (context) => {
  const failed: LabTrial = { adopted: null, establishedMs: null, firstByteMs: null, error: 'no answer' };
  const { measuring, plan } = await setUp(context, { a: (trials) => wellBehaved(trials).fill(failed) });
  await measure(measuring, plan);
  assert.deepEqual(collect(measuring.journal).cells[0]?.trials.a, Array(5).fill(failed));
});

test('a client that hangs ends the run, and earlier measurements are kept', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const hangs = () => {
    // After the limit has been set.
    setImmediate(() => context.mock.timers.tick(10 * 60_000));
    return new Promise<LabTrial[]>(() => {});
  };
  const { measuring, plan } = await setUp(context, { a: hangs });
  await assert.rejects(
    measure(measuring, plan),
    (error) => error instanceof RunInterrupted && /^a has hung/.test(error.message),
  );
  assert.deepEqual(measuring.journal.turns, []);
});
