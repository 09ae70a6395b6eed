// The command line of `adoption`: what it selects, with a distinct error for every mistake.
import assert from 'node:assert/strict';
import test from 'node:test';
import { CLIENTS } from './adoption/clients.ts';
import { CELLS } from './adoption/turns.ts';
import { parseOptions } from './adoption.ts';
import { BadUsage } from './experiment.ts';

const parse = (...args: string[]) => parseOptions(args, CLIENTS);
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
