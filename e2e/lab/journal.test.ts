// A run can be resumed in any case: killed in the middle of a line, killed between turns, or changed in the meantime.
import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { describeMachine } from '../bench/measure.ts';
import { runOrThrow } from '../child-process.ts';
import { scratchDirectory } from '../scratch.ts';
import { ADOPTION, type AdoptionPlan, collect, type Line, planRun, remaining } from './adoption/turns.ts';
import { COST } from './cost/cells.ts';
import { commitOf, differences, type Identity, openJournal, readJournal, turnKey } from './journal.ts';

const PORTIONS = [
  { name: 'race', trials: 30, batch: 10 },
  { name: 'go-race', trials: 20, batch: 10 },
];
const SCENARIO = { id: 'delay-50', delayMs: 50, loss: 0 };
const STARTED_AT_MS = 1_700_000_000_000;
const IDENTITY: Identity<AdoptionPlan> = {
  machine: describeMachine({}),
  seed: 1,
  commit: 'a'.repeat(40),
  build: 'b'.repeat(64),
  asked: {
    full: false,
    trials: { ours: 30, peer: 20, browser: 5 },
    scenarios: [SCENARIO],
    clients: PORTIONS.map((portion) => ({ ...portion, title: portion.name, kind: 'ours', versions: {} })),
  },
};
const ABSENT = [{ name: 'curl', title: 'libcurl', kind: 'peer' as const, why: 'no Python' }];
const PLAN = planRun([SCENARIO], PORTIONS, 1);
const still = { delivered: 10, lost: 0, overflowed: 0, oversized: 0, lateUs: null, shortestUs: 25_000 };

const LINES: readonly Line[] = PLAN.flatMap(({ cell, turns }) =>
  turns.map(({ client, number, trials }, index) => ({
    kind: 'turn' as const,
    scenario: cell.id,
    client: client,
    turn: number,
    endedAtMs: STARTED_AT_MS + 1000 * (index + 1),
    trials: Array.from({ length: trials }, () => ({
      adopted: 'h3' as const,
      establishedMs: 52,
      firstByteMs: 103,
    })),
    link: { up: still, down: still },
  })),
);
const CRASH: Line = {
  kind: 'crash',
  scenario: SCENARIO.id,
  client: 'race',
  endedAtMs: STARTED_AT_MS + 500,
  error: 'segmentation fault',
};

async function folder(context: TestContext): Promise<string> {
  const dir = await scratchDirectory('journal-test');
  context.after(() => rm(dir, { recursive: true }));
  return dir;
}

const open = (dir: string, identity = IDENTITY, fresh = false) =>
  openJournal(dir, ADOPTION, {
    identity,
    startedAtMs: STARTED_AT_MS,
    fresh,
    find: async () => ({ absent: ABSENT }),
  });

async function record(dir: string, lines: readonly Line[], identity = IDENTITY, fresh = false) {
  const opened = await open(dir, identity, fresh);
  for (const line of lines) await opened.journal.append(line);
  return opened;
}

const trialsOf = (dir: string) => join(dir, 'trials.jsonl');

test('what was written is read back, and nothing is there before', async (context) => {
  const dir = await folder(context);
  assert.equal(await readJournal(dir, ADOPTION), null);
  const { journal, aside } = await record(dir, LINES);
  assert.equal(aside, null);
  const recorded = await readJournal(dir, ADOPTION);
  assert.deepEqual(recorded, { meta: journal.meta, turns: LINES });
  assert.deepEqual(journal.turns, LINES);
  assert.equal(recorded.meta.schema, 'photofinish.lab/1');
  assert.deepEqual(recorded.meta.found.absent, ABSENT);
  assert.equal(recorded.meta.machine.versions.node, process.versions.node);
});

test('truncated at any byte, a run resumes with exactly what is missing', async (context) => {
  const dir = await folder(context);
  await record(dir, LINES);
  const whole = await readFile(trialsOf(dir));
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), async (bytes) => {
      await writeFile(trialsOf(dir), whole.subarray(0, bytes));
      const { journal, aside } = await open(dir);
      assert.equal(aside, null);
      const [kept, left] = [journal.turns.length, remaining(PLAN, journal)];
      assert.deepEqual(journal.turns, LINES.slice(0, kept));
      const keys = (lines: readonly Line[]) =>
        lines.map((line) => line.kind === 'turn' && turnKey(line.scenario, line.client, line.turn));
      const leftKeys = left.flatMap(({ cell, turns }) =>
        turns.map(({ client, number }) => turnKey(cell.id, client, number)),
      );
      assert.deepEqual(leftKeys, keys(LINES.slice(kept)));
      for (const line of LINES.slice(kept)) await journal.append(line);
      assert.equal(await readFile(trialsOf(dir), 'utf8'), whole.toString());
    }),
    { numRuns: 60 },
  );
});

test('a recorded measurement is not repeated, and one interrupted between its lines is completed', async (context) => {
  const dir = await folder(context);
  const [first, second] = LINES;
  assert.ok(first && second);
  await record(dir, [CRASH, first]);
  const { journal } = await open(dir);
  const key = ADOPTION.keyOf(first) ?? '';
  await journal.once(key, () => assert.fail('measured again'));
  assert.ok(!journal.has(ADOPTION.keyOf(second) ?? ''));
  await journal.once('of both lines', async () => [first, second]);
  assert.deepEqual(journal.turns, [CRASH, first, second]);
  await journal.once('broken off', async () => CRASH);
  assert.deepEqual(journal.turns.at(-1), CRASH);
  assert.equal(ADOPTION.keyOf(CRASH), null);
});

test('a complete line that no run has written is an error that names it', async (context) => {
  const dir = await folder(context);
  await record(dir, LINES.slice(0, 1));
  await appendFile(trialsOf(dir), '{"kind":"turn"}\n');
  await assert.rejects(() => readJournal(dir, ADOPTION), /trials\.jsonl, line 2: /);
});

test("another experiment's record is rejected", async (context) => {
  const dir = await folder(context);
  await record(dir, []);
  await assert.rejects(() => readJournal(dir, COST), /meta\.json: of adoption, not of cost/);
});

const CHANGES: readonly (readonly [what: string, identity: Partial<Identity<AdoptionPlan>>])[] = [
  ['machine', { machine: describeMachine({ node: 'v0' }) }],
  ['seed', { seed: 2 }],
  ['scenarios', { asked: { ...IDENTITY.asked, scenarios: [{ ...SCENARIO, loss: 0.1 }] } }],
  [
    'clients',
    {
      asked: {
        ...IDENTITY.asked,
        clients: IDENTITY.asked.clients.map((each) => ({ ...each, versions: { Go: 'go1.26' } })),
      },
    },
  ],
  ['served', { asked: { ...IDENTITY.asked, served: { caddy: 'v2', awake: false } } }],
  ['commit', { commit: null }],
  ['build', { build: 'c'.repeat(64) }],
];
for (const [what, change] of CHANGES)
  test(`with ${what} changed a new record is started, and the earlier run is kept`, async (context) => {
    const dir = await folder(context);
    await record(dir, LINES);
    const before = await readFile(trialsOf(dir), 'utf8');
    const changed = { ...IDENTITY, ...change };
    const { journal, aside } = await open(dir, changed);
    assert.deepEqual(journal.turns, []);
    assert.equal(aside?.because, `changed: ${what}`);
    assert.equal(await readFile(trialsOf(aside.dir), 'utf8'), before);
    assert.deepEqual((await readJournal(aside.dir, ADOPTION))?.meta.seed, 1);
    assert.deepEqual(differences((await readJournal(dir, ADOPTION))?.meta ?? IDENTITY, changed), []);
  });

test('a commit with changes is told from itself and from other changes', async (context) => {
  const dir = await folder(context);
  const git = (...args: string[]) => runOrThrow('git', ['-C', dir, ...args]);
  const author = ['-c', 'user.name=n', '-c', 'user.email=e', '-c', 'commit.gpgsign=false'];
  const file = join(dir, 'file');
  await git('init', '--quiet');
  await writeFile(file, 'one');
  await git('add', 'file');
  await git(...author, 'commit', '--quiet', '-m', 'm');
  const commits: (string | null)[] = [];
  for (const text of ['one', 'two', 'three', 'two']) {
    await writeFile(file, text);
    commits.push(await commitOf(dir));
  }
  const [clean, two, three, again] = commits;
  assert.match(clean ?? '', /^[0-9a-f]{40}$/);
  for (const changed of [two, three]) assert.ok(changed?.startsWith(`${clean}-dirty-`), changed ?? 'null');
  assert.notEqual(two, three);
  assert.equal(two, again);
});

test('on request a new record is started, and every earlier run is kept', async (context) => {
  const dir = await folder(context);
  await record(dir, LINES);
  const second = await open(dir, IDENTITY, true);
  assert.deepEqual(second.journal.turns, []);
  assert.equal(second.aside?.because, 'asked to');
  await open(dir, IDENTITY, true);
  const kept = (await readdir(dir)).filter((name) => name.startsWith('2023-'));
  assert.equal(kept.length, 2);
  assert.equal(basename(second.aside.dir), kept.toSorted()[0]);
});

test('on request a new record is started beside an unreadable one, which is kept', async (context) => {
  const dir = await folder(context);
  await writeFile(join(dir, 'meta.json'), 'what no run has written\n');
  const { aside } = await record(dir, LINES, IDENTITY, true);
  assert.deepEqual((await readJournal(dir, ADOPTION))?.turns, LINES);
  assert.equal(await readFile(join(aside?.dir ?? '', 'meta.json'), 'utf8'), 'what no run has written\n');
});

test('findings are determined only when a run begins', async (context) => {
  const dir = await folder(context);
  await record(dir, []);
  const { journal } = await openJournal(dir, ADOPTION, {
    identity: IDENTITY,
    startedAtMs: STARTED_AT_MS + 1,
    fresh: false,
    find: () => Promise.reject(new Error('looked for again')),
  });
  assert.equal(journal.meta.startedAtMs, STARTED_AT_MS);
});

test("all trials of all turns are collected, with each turn's link report", async (context) => {
  const { journal } = await record(await folder(context), LINES);
  const [cell] = collect(journal);
  assert.equal(cell?.trials.race?.length, 30);
  assert.equal(cell?.trials['go-race']?.length, 20);
  assert.equal(cell?.link.length, LINES.length);
  assert.deepEqual(cell?.crashed, {});
});

test('a crashed client is named with its earlier trials, until a later run has completed it', async (context) => {
  const { journal } = await open(await folder(context));
  const { meta } = journal;
  const [first] = LINES.filter(({ client }) => client === 'race');
  assert.ok(first);
  const crashed = collect({ meta, turns: [first, CRASH] })[0];
  assert.deepEqual(crashed?.crashed, { race: 'segmentation fault' });
  assert.deepEqual(crashed?.trials.race, first.kind === 'turn' && first.trials);
  const atOnce = collect({ meta, turns: [CRASH] })[0];
  assert.deepEqual(atOnce?.crashed, crashed?.crashed);
  assert.equal(atOnce?.trials.race, undefined);
  const later = collect({ meta, turns: [CRASH, ...LINES] })[0];
  assert.deepEqual(later?.crashed, {});
  assert.equal(later?.trials.race?.length, 30);
});
