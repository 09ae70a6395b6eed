// A run goes on after anything: killed in the middle of a line, killed between turns, or changed in between.
import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { scratchDirectory } from '../../scratch.ts';
import { collect, doneTurns } from './collect.ts';
import { differences, type Entry, type Head, openJournal, readJournal } from './journal.ts';
import { planRun, remaining, turnKey } from './plan.ts';

const PORTIONS = [
  { name: 'race', trials: 30, batch: 10 },
  { name: 'go-race', trials: 20, batch: 10 },
];
const CELL = { id: 'delay-50', delayMs: 50, loss: 0 };
const HEAD: Head = {
  startedAtMs: 1_700_000_000_000,
  full: false,
  trials: { ours: 30, peer: 20, browser: 5 },
  identity: {
    seed: 1,
    cells: [CELL],
    contestants: PORTIONS.map((portion) => ({ ...portion, title: portion.name, kind: 'ours', versions: {} })),
    commit: 'a'.repeat(40),
    build: 'b'.repeat(64),
  },
  absent: [{ name: 'curl', title: 'libcurl', kind: 'peer', why: 'no Python' }],
};
const PLAN = planRun([CELL], PORTIONS, 1);
const still = { delivered: 10, lost: 0, overflowed: 0, oversized: 0, lateUs: null, shortestUs: 25_000 };

const ENTRIES: readonly Entry[] = PLAN.flatMap(({ cell, turns }) =>
  turns.map(({ contestant, number, trials }, index) => ({
    kind: 'turn' as const,
    cell: cell.id,
    contestant,
    number,
    endedAtMs: HEAD.startedAtMs + 1000 * (index + 1),
    trials: Array.from({ length: trials }, () => ({
      adopted: 'h3' as const,
      establishedMs: 52,
      firstByteMs: 103,
    })),
    link: { up: still, down: still },
  })),
);
const CRASH: Entry = {
  kind: 'crash',
  cell: CELL.id,
  contestant: 'race',
  endedAtMs: HEAD.startedAtMs + 500,
  error: 'segmentation fault',
};

async function place(context: TestContext): Promise<string> {
  const dir = await scratchDirectory('journal-test');
  context.after(() => rm(dir, { recursive: true }));
  return join(dir, 'journal.jsonl');
}

async function record(file: string, entries: readonly Entry[], head = HEAD, fresh = false) {
  const opened = await openJournal(file, head, fresh);
  for (const entry of entries) await opened.journal.append(entry);
  return opened;
}

test('what was written is what is read, and nothing is there before', async (context) => {
  const file = await place(context);
  assert.equal(await readJournal(file), null);
  const { journal, aside } = await record(file, ENTRIES);
  assert.equal(aside, null);
  assert.deepEqual(await readJournal(file), { head: HEAD, entries: ENTRIES });
  assert.deepEqual(journal.entries, ENTRIES);
});

test('cut off at any byte, a run goes on with exactly what is missing', async (context) => {
  const file = await place(context);
  await record(file, ENTRIES);
  const whole = await readFile(file);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), async (bytes) => {
      await writeFile(file, whole.subarray(0, bytes));
      const { journal, aside } = await openJournal(file, HEAD, false);
      assert.equal(aside, null);
      const [kept, left] = [journal.entries.length, remaining(PLAN, doneTurns(journal))];
      assert.deepEqual(journal.entries, ENTRIES.slice(0, kept));
      const keys = (entries: readonly Entry[]) =>
        entries.map((entry) => entry.kind === 'turn' && turnKey(entry.cell, entry.contestant, entry.number));
      const leftKeys = left.flatMap(({ cell, turns }) =>
        turns.map(({ contestant, number }) => turnKey(cell.id, contestant, number)),
      );
      assert.deepEqual(leftKeys, keys(ENTRIES.slice(kept)));
      for (const entry of ENTRIES.slice(kept)) await journal.append(entry);
      assert.equal(await readFile(file, 'utf8'), whole.toString());
    }),
    { numRuns: 60 },
  );
});

test('a whole line that no run has written is an error that names it', async (context) => {
  const file = await place(context);
  await record(file, ENTRIES.slice(0, 1));
  await appendFile(file, '{"kind":"turn"}\n');
  await assert.rejects(() => readJournal(file), /journal\.jsonl, line 3: /);
});

const CHANGES: readonly (readonly [what: string, identity: Partial<Head['identity']>])[] = [
  ['the seed', { seed: 2 }],
  ['the cells', { cells: [{ ...CELL, loss: 0.1 }] }],
  [
    'the contestants, their trials or their versions',
    { contestants: HEAD.identity.contestants.map((each) => ({ ...each, versions: { Go: 'go1.26' } })) },
  ],
  ['the commit', { commit: null }],
  ['the build of ours', { build: 'c'.repeat(64) }],
];
for (const [what, change] of CHANGES)
  test(`with ${what} changed it begins anew, and the earlier file is kept`, async (context) => {
    const file = await place(context);
    await record(file, ENTRIES);
    const before = await readFile(file, 'utf8');
    const changed = { ...HEAD, identity: { ...HEAD.identity, ...change } };
    const { journal, aside } = await openJournal(file, changed, false);
    assert.deepEqual(journal.entries, []);
    assert.equal(aside?.because, `changed: ${what}`);
    assert.equal(await readFile(aside.file, 'utf8'), before);
    assert.deepEqual((await readJournal(file))?.head, changed);
  });

test('asked to begin anew it does, and keeps every earlier file', async (context) => {
  const file = await place(context);
  await record(file, ENTRIES);
  const second = await openJournal(file, HEAD, true);
  assert.deepEqual(second.journal.entries, []);
  assert.equal(second.aside?.because, 'asked to');
  await openJournal(file, HEAD, true);
  assert.equal((await readdir(join(file, '..'))).length, 3);
  assert.ok(basename(second.aside.file).startsWith('journal-'));
});

test('asked to begin anew it does so beside a file that cannot be read, and keeps it', async (context) => {
  const file = await place(context);
  await writeFile(file, 'what no run has written\n');
  const { aside } = await record(file, ENTRIES, HEAD, true);
  assert.deepEqual(await readJournal(file), { head: HEAD, entries: ENTRIES });
  assert.equal(await readFile(aside?.file ?? '', 'utf8'), 'what no run has written\n');
});

test('only what tells runs apart is named', () => {
  assert.deepEqual(differences(HEAD.identity, structuredClone(HEAD.identity)), []);
  assert.deepEqual(differences(HEAD.identity, { ...HEAD.identity, seed: 3, commit: null }), [
    'the seed',
    'the commit',
  ]);
});

test('all trials of all turns are collected, with the link of each turn', () => {
  const run = collect({ head: HEAD, entries: ENTRIES });
  const [cell] = run.cells;
  assert.equal(cell?.trials.race?.length, 30);
  assert.equal(cell?.trials['go-race']?.length, 20);
  assert.equal(cell?.link.length, ENTRIES.length);
  assert.equal(cell?.crashed, undefined);
  assert.equal(run.endedAtMs, HEAD.startedAtMs + 1000 * ENTRIES.length);
  assert.deepEqual(run.absent, HEAD.absent);
});

test('who broke off is named beside the trials it made before, until a later run has finished it', () => {
  const [first] = ENTRIES.filter(({ contestant }) => contestant === 'race');
  assert.ok(first);
  const crashed = collect({ head: HEAD, entries: [first, CRASH] }).cells[0];
  assert.deepEqual(crashed?.crashed, { race: 'segmentation fault' });
  assert.deepEqual(crashed?.trials.race, first.kind === 'turn' && first.trials);
  const atOnce = collect({ head: HEAD, entries: [CRASH] }).cells[0];
  assert.deepEqual(atOnce?.crashed, crashed?.crashed);
  assert.equal(atOnce?.trials.race, undefined);
  const later = collect({ head: HEAD, entries: [CRASH, ...ENTRIES] }).cells[0];
  assert.equal(later?.crashed, undefined);
  assert.equal(later?.trials.race?.length, 30);
});
