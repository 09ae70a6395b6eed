// What the command line of `adoption` selects, with a distinct error for every mistake; and that a run measures every
// client as often as requested, interleaved in time, and what remains of it is exactly what is missing.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { describeMachine } from '../bench/measure.ts';
import type { Shapes } from '../network/link.ts';
import { scratchDirectory } from '../scratch.ts';
import {
  ADOPTION,
  CELLS,
  collect,
  estimate,
  expectedTurnMs,
  measure,
  planRun,
  progress,
  remaining,
} from './adoption/turns.ts';
import { CLIENTS, parseOptions } from './adoption.ts';
import type { Client, LabTrial } from './client.ts';
import { BadUsage, RunInterrupted } from './experiment.ts';
import { openJournal, turnKey } from './journal.ts';

const parse = (...args: string[]) => parseOptions(args);
const namesOf = (...args: string[]) => parse(...args).choices.map(({ name }) => name);
const trialsOf = (name: string, ...args: string[]) => {
  const { choices, trialsOf: of } = parse(...args);
  const choice = choices.find((each) => each.name === name);
  return choice && of(choice);
};

test('without options: every cell, all clients except the ablations, enough trials for trends', () => {
  const { cells, choices, seed, full, fresh, trials } = parse();
  assert.deepEqual(
    cells.map(({ id }) => id),
    ['delay-0', 'delay-50', 'delay-100', 'delay-150', 'delay-200', 'loss-3', 'loss-10', 'loss-25', 'loss-50'],
  );
  assert.deepEqual(
    choices,
    CLIENTS.filter(({ ablation }) => !ablation),
  );
  assert.deepEqual(trials, { ours: 100, peer: 100, browser: 5 });
  assert.deepEqual([seed, full, fresh], [1, false, false]);
});

test('--full: as many trials as hypotheses are judged on, the Go client as many as ours, with the ablations', () => {
  assert.equal(trialsOf('race', '--full'), 1000);
  assert.equal(trialsOf('go-race', '--full'), 1000);
  assert.equal(trialsOf('chromium-first', '--full'), 30);
  assert.deepEqual(
    namesOf('--full'),
    CLIENTS.map(({ name }) => name),
  );
  assert.deepEqual(
    namesOf('--ablations'),
    CLIENTS.map(({ name }) => name),
  );
});

test('--trials applies to all clients', () => {
  for (const name of ['race', 'go-race', 'firefox-second']) assert.equal(trialsOf(name, '--trials', '7'), 7);
});

test('cells and clients can be selected, and keep the order of the tables', () => {
  const { cells } = parse('--cells', 'loss-10,delay-50');
  assert.deepEqual(
    cells,
    CELLS.filter(({ id }) => ['delay-50', 'loss-10'].includes(id)),
  );
  assert.deepEqual(namesOf('--only', 'go-race, race'), ['race', 'go-race']);
  // An ablation that is named is included.
  assert.deepEqual(namesOf('--only', 'race-classical'), ['race-classical']);
  assert.ok(parse('--no-browsers').choices.every(({ kind }) => kind !== 'browser'));
});

const MISTAKES: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['--cells', 'delay-51'], /--cells does not know "delay-51"\. There are: delay-0, /],
  [['--only', 'race,opera'], /--only does not know "opera"\. There are: race, /],
  [['--only', ''], /--only does not know ""/],
  [['--trials', '0'], /--trials takes a whole number from 1 to 100000, not "0"/],
  [['--trials', '1e3'], /--trials takes a whole number/],
  [['--seed', '-1'], /seed/],
  [['--seed', '2147483649'], /--seed takes a whole number from 1 to 2147483648/],
  [['--full', '--trials', '3'], /choose one of --full and --trials/],
  [['--only', 'chromium-first', '--no-browsers'], /no browser/],
  [['--nonsense'], /--nonsense/],
  [['extra'], /extra/],
];
for (const [args, message] of MISTAKES)
  test(`an error names the mistake: ${args.join(' ')}`, () => {
    assert.throws(
      () => parse(...args),
      (error) => error instanceof BadUsage && message.test(error.message),
    );
  });

test('names are usable on the command line and unique', () => {
  const names = CLIENTS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
});

const portions = fc
  .array(fc.record({ trials: fc.integer({ min: 1, max: 60 }), batch: fc.integer({ min: 1, max: 12 }) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((all) => all.map((portion, index) => ({ name: `c${index}`, ...portion })));
const cells = CELLS.slice(0, 2);

test('every client gets all its trials in every cell, its turns in order and none longer than its batch', () => {
  fc.assert(
    fc.property(portions, fc.nat(), (all, seed) => {
      for (const { turns } of planRun(cells, all, seed))
        for (const { name, trials, batch } of all) {
          const own = turns.filter(({ client }) => client === name);
          assert.equal(
            own.reduce((sum, turn) => sum + turn.trials, 0),
            trials,
          );
          assert.deepEqual(
            own.map(({ number }) => number),
            [...own.keys()],
          );
          assert.ok(own.every((turn) => turn.trials >= 1 && turn.trials <= batch));
        }
    }),
  );
});

test('a client with few turns is spread over the whole cell, not finished early', () => {
  const [plan] = planRun(
    cells,
    [
      { name: 'many', trials: 100, batch: 1 },
      { name: 'few', trials: 4, batch: 1 },
    ],
    1,
  );
  const places = plan?.turns.flatMap(({ client }, index) => (client === 'few' ? [index] : [])) ?? [];
  // One in the middle of each quarter of the 104 turns, plus or minus one turn of the round and those before.
  for (const [index, place] of places.entries())
    assert.ok(Math.abs(place - 26 * (index + 0.5)) <= 3, `turn ${index} is number ${place}`);
});

test('the seed determines the order, which differs between rounds and cells', () => {
  const all = ['a', 'b', 'c', 'd'].map((name) => ({ name, trials: 50, batch: 10 }));
  assert.deepEqual(planRun(cells, all, 7), planRun(cells, all, 7));
  assert.notDeepEqual(planRun(cells, all, 7), planRun(cells, all, 8));
  const [first, second] = planRun(cells, all, 7);
  assert.notDeepEqual(first?.turns, second?.turns);
  const order = first?.turns.map(({ client }) => client).join('') ?? '';
  assert.ok(new Set(order.match(/.{4}/g)).size > 1);
});

test('a plan minus any completed part of it leaves exactly the rest, in order', () => {
  fc.assert(
    fc.property(portions, fc.nat(), fc.infiniteStream(fc.boolean()), (all, seed, coins) => {
      const plan = planRun(cells, all, seed);
      const keys = plan.flatMap(({ cell, turns }) =>
        turns.map(({ client, number }) => turnKey(cell.id, client, number)),
      );
      const done = new Set(keys.filter(() => coins.next().value));
      const left = remaining(plan, done).flatMap(({ cell, turns }) =>
        turns.map(({ client, number }) => turnKey(cell.id, client, number)),
      );
      assert.equal(new Set(keys).size, keys.length);
      assert.deepEqual(
        left,
        keys.filter((key) => !done.has(key)),
      );
    }),
  );
});

const ours = { name: 'race', kind: 'ours' } as const;
const known = [ours, { name: 'chromium-first', kind: 'browser' } as const];
const plan = planRun(
  CELLS,
  [
    { name: 'race', trials: 100, batch: 10 },
    { name: 'chromium-first', trials: 4, batch: 2 },
  ],
  1,
);

test('more delay, more loss and more trials take longer', () => {
  const at = (delayMs: number, loss: number, trials = 10) =>
    expectedTurnMs('ours', { id: 'x', delayMs, loss }, trials);
  assert.ok(at(50, 0) > at(0, 0));
  assert.ok(at(0, 0.5) > at(0, 0.25));
  assert.ok(at(0, 0, 20) > at(0, 0));
});

test('initially it is the sum over all turns', () => {
  const sum = plan
    .flatMap(({ cell, turns }) => turns.map((turn) => ({ cell, ...turn })))
    .reduce(
      (ms, { cell, client, trials }) =>
        ms + expectedTurnMs(client === ours.name ? 'ours' : 'browser', cell, trials),
      0,
    );
  assert.ok(Math.abs(estimate(known).cellsMs(plan) - sum) < 1e-6 * sum);
});

test('measured durations correct only the estimate of their own kind', () => {
  const only = (name: string) =>
    plan.map(({ cell, turns }) => ({ cell, turns: turns.filter(({ client }) => client === name) }));
  const before = estimate(known);
  const after = estimate(known);
  for (const cell of CELLS.slice(0, 3)) after.measured(ours, cell, 10, 3 * expectedTurnMs('ours', cell, 10));
  const ratio = (name: string) => after.cellsMs(only(name)) / before.cellsMs(only(name));
  assert.ok(Math.abs(ratio('race') - 3) < 1e-9);
  assert.equal(ratio('chromium-first'), 1);
  assert.equal(after.cellsMs([]), 0);
});

test('a client that prepares before a cell takes longer for it, once', () => {
  const learner = { ...ours, prepare: async () => {} };
  const knowing = estimate([learner]);
  const plain = estimate(known);
  const [cell] = planRun(CELLS, [{ name: 'race', trials: 100, batch: 10 }], 1);
  assert.ok(cell);
  const extraMs = knowing.cellsMs([cell]) - plain.cellsMs([cell]);
  assert.ok(Math.abs(extraMs - expectedTurnMs('ours', cell.cell, 20)) < 1e-9);
  assert.equal(knowing.turnsMs(cell), plain.turnsMs(cell));
  knowing.measured(learner, cell.cell, 20, 2 * expectedTurnMs('ours', cell.cell, 20));
  assert.ok(Math.abs(knowing.turnsMs(cell) - 2 * plain.turnsMs(cell)) < 1e-9);
});

const TRIAL: LabTrial = { adopted: 'h3', establishedMs: 1, firstByteMs: 2 };
type Run = (trials: number) => LabTrial[] | Promise<LabTrial[]>;
const measured = CELLS.filter(({ id }) => id === 'delay-50' || id === 'loss-10');

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
    scenarios: [...measured],
    clients: portions.map((portion) => ({ ...portion, title: '', kind: 'peer' as const, versions: {} })),
  };
  const { journal } = await openJournal(dir, ADOPTION, {
    identity: { machine: describeMachine({}), seed: 1, commit: null, build: '', asked },
    startedAtMs: 0,
    fresh: false,
    find: async () => ({ absent: [] }),
  });
  const measuring = { link: linkInto(log, shapes), clients, journal, estimate: estimate(clients) };
  return { measuring, plan: planRun(measured, portions, 1), log, shapes };
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
  for (const cell of collect(measuring.journal)) {
    assert.equal(cell.trials.a?.length, 5);
    assert.equal(cell.trials.b?.length, 5);
    // Every other report is of what was sent between turns.
    assert.ok(cell.link.every((report) => report.up.delivered % 2 === 0));
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
  const [first, second] = collect(measuring.journal);
  assert.deepEqual(first?.crashed, { b: 'segmentation fault' });
  assert.equal(first?.trials.a?.length, 5);
  assert.equal(first?.trials.b?.length, 2);
  assert.equal(second?.trials.b?.length, 5);

  await measure(measuring, remaining(plan, measuring.journal));
  assert.deepEqual(progress(measuring.journal), { made: 20, asked: 20 });
  const again = collect(measuring.journal)[0];
  assert.deepEqual(again?.crashed, {});
  assert.equal(again?.trials.a?.length, 5);
  assert.equal(again?.trials.b?.length, 5);
});

test('fewer trials than requested are not accepted as complete', async (context) => {
  const { measuring, plan } = await setUp(context, { a: (trials) => wellBehaved(trials).slice(1) });
  await measure(measuring, plan);
  assert.deepEqual(collect(measuring.journal)[0]?.crashed, { a: 'a gave 1 trials when asked for 2' });
});

test('a failed trial is a trial', async (context) => {
  const failed: LabTrial = { adopted: null, establishedMs: null, firstByteMs: null, error: 'no answer' };
  const { measuring, plan } = await setUp(context, { a: (trials) => wellBehaved(trials).fill(failed) });
  await measure(measuring, plan);
  assert.deepEqual(collect(measuring.journal)[0]?.trials.a, Array(5).fill(failed));
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
