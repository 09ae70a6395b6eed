// Where a run goes on: whatever was done in whatever order when it was killed, afterwards every line was raced, none of
// those noted as done was raced again, and another list or other options are refused. When the note is written: often
// enough, one at a time, never ahead of the results, and whether that failed is reported.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { scratchDirectory } from '../testing/scratch.ts';
import { LineLedger, type Note, openResume, type RunOptions, readNote, writeNote } from './resume.ts';
import { Complaint } from './usage.ts';

const OPTIONS: RunOptions = { mode: 'race', shard: null };

function fileIn(t: TestContext): string {
  const directory = scratchDirectory(t);
  return join(directory, 'notes.json');
}

function originOf(line: number): string {
  return `https://host-${line}.test`;
}

test('the note is how far all is done, what is done beyond, and the last line of the first part', () => {
  const lines = new LineLedger(OPTIONS, null);
  const start: Note = {
    schema: 'photofinish.resume/1',
    ...OPTIONS,
    through: 0,
    above: [],
    last: null,
    ended: false,
  };
  assert.deepEqual(lines.note(false), start);
  // Lines 2 and 5 are blank, or of another shard.
  for (const line of [1, 3, 4, 6]) {
    assert.ok(lines.isLeft(line, originOf(line)));
    lines.begin(line, originOf(line));
  }
  lines.done(4);
  assert.deepEqual(lines.note(false), { ...start, above: [4] });
  lines.done(1);
  assert.deepEqual(lines.note(false), {
    ...start,
    through: 2,
    above: [4],
    last: { line: 1, origin: originOf(1) },
  });
  lines.done(6);
  lines.done(3);
  assert.deepEqual(lines.note(true), {
    ...start,
    through: 6,
    last: { line: 6, origin: originOf(6) },
    ended: true,
  });
});

/** How a run of a list goes: which lines it does, in which order, before it is killed. */
const run = fc.record({
  atATime: fc.integer({ min: 1, max: 6 }),
  /** Which of the races under way ends next. */
  ends: fc.array(fc.nat(), { maxLength: 40 }),
  /** After how many of these the last note was written. */
  noted: fc.nat(40),
});

test('whenever runs are killed, every line is done, and none again that a note said was done', () => {
  const wanted = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(wanted, fc.array(run, { maxLength: 6 }), (numbers, kills) => {
      const list = numbers.toSorted((a, b) => a - b);
      let note: Note | null = null;
      const done = new Set<number>();
      const inNote = new Set<number>();
      for (const { atATime, ends, noted } of [...kills, { atATime: 3, ends: Array(99).fill(0), noted: 99 }]) {
        const lines: LineLedger = new LineLedger(OPTIONS, note);
        note = lines.note(false);
        const waiting = [...list];
        const underWay: number[] = [];
        const fill = (): void => {
          while (underWay.length < atATime && waiting.length > 0) {
            const line = waiting.shift() ?? 0;
            if (!lines.isLeft(line, originOf(line))) continue;
            assert.ok(!inNote.has(line), `line ${line} again`);
            lines.begin(line, originOf(line));
            underWay.push(line);
          }
        };
        fill();
        for (const [index, end] of ends.entries()) {
          const [line] = underWay.splice(end % Math.max(1, underWay.length), 1);
          if (line === undefined) break;
          lines.done(line);
          done.add(line);
          if (index < noted) {
            note = lines.note(false);
            for (const each of done) if (each <= note.through || note.above.includes(each)) inNote.add(each);
            assert.ok(inNote.has(line));
          }
          fill();
        }
      }
      assert.deepEqual(
        [...done].toSorted((a, b) => a - b),
        list,
      );
    }),
  );
});

const EARLIER: Note = {
  schema: 'photofinish.resume/1',
  ...OPTIONS,
  through: 3,
  above: [5],
  last: { line: 2, origin: originOf(2) },
  ended: false,
};

test('another list is refused before anything is raced', () => {
  const refuses = (use: (lines: LineLedger) => void): void =>
    assert.throws(
      () => use(new LineLedger(OPTIONS, EARLIER)),
      (error) =>
        error instanceof Complaint && error.code === 'bad-resume' && /line 2 .*host-2/.test(error.message),
    );
  refuses((lines) => lines.isLeft(2, originOf(1)));
  refuses((lines) => {
    assert.equal(lines.isLeft(1, originOf(1)), false);
    lines.isLeft(3, originOf(3));
  });
  refuses((lines) => lines.end());
  const lines = new LineLedger(OPTIONS, EARLIER);
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((line) => lines.isLeft(line, originOf(line))),
    [false, false, false, true, false, true],
  );
  lines.end();
});

test('a note is read as it was written, replaced as a whole, and private', async (t) => {
  const path = fileIn(t);
  assert.equal(readNote(path, OPTIONS), null);
  await writeNote(path, { ...EARLIER, through: 1 });
  await writeNote(path, EARLIER);
  assert.deepEqual(readNote(path, OPTIONS), EARLIER);
  assert.deepEqual(readdirSync(join(path, '..')), ['notes.json']);
  if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a note that cannot be written leaves nothing behind', async (t) => {
  const path = fileIn(t);
  mkdirSync(path);
  await assert.rejects(writeNote(path, EARLIER));
  assert.deepEqual(readdirSync(join(path, '..')), ['notes.json']);
});

test('other options are refused, with both', async (t) => {
  const path = fileIn(t);
  const shard = { index: 1, of: 4, seed: 'mine' };
  await writeNote(path, { ...EARLIER, shard });
  assert.ok(readNote(path, { ...OPTIONS, shard }));
  for (const other of [
    OPTIONS,
    { mode: 'h3', shard } as const,
    { ...OPTIONS, shard: { ...shard, index: 2 } },
    { ...OPTIONS, shard: { ...shard, of: 5 } },
    { ...OPTIONS, shard: { ...shard, seed: 'yours' } },
  ])
    assert.throws(
      () => readNote(path, other),
      (error) =>
        error instanceof Complaint &&
        error.code === 'bad-resume' &&
        /notes\.json belongs to a run with --mode race, --shard 1\/4 --seed mine; this one has /.test(
          error.message,
        ),
    );
});

test('what is not a note is refused and stays as it is', (t) => {
  const path = fileIn(t);
  for (const text of ['', 'Dear Anna', '{}', JSON.stringify({ ...EARLIER, through: -1 })]) {
    writeFileSync(path, text);
    assert.throws(() => readNote(path, OPTIONS), /notes\.json is not a file that --resume has written/);
    assert.equal(readFileSync(path, 'utf8'), text);
  }
  assert.throws(
    () => readNote(join(path, '..'), OPTIONS),
    (error) => error instanceof Complaint && error.code === 'bad-file',
  );
});

/** A run whose output, disk and clock are the test's. */
async function testbed(t: TestContext, earlier: Note | null = null) {
  const directory = scratchDirectory(t);
  const path = join(directory, 'notes.json');
  if (earlier !== null) await writeNote(path, earlier);
  const notes: Note[] = [];
  const events: string[] = [];
  const timers = new Set<() => void>();
  let writing = false;
  const state = {
    disk: Promise.resolve() as Promise<void>,
    output: (written: (ok: boolean) => void): void => written(true),
  };
  const resume = await openResume(path, OPTIONS, {
    clock: {
      after(_delayMs, run) {
        timers.add(run);
        return () => void timers.delete(run);
      },
    },
    result(text, written) {
      events.push(text);
      state.output(written);
    },
    flush: async () => void events.push('flush'),
    async write(_path, note) {
      assert.equal(writing, false, 'one at a time');
      writing = true;
      await state.disk.finally(() => {
        writing = false;
      });
      notes.push(note);
      events.push(`note ${note.through}`);
    },
    failed: (message) => void events.push(`failed ${message}`),
  });
  assert.deepEqual(notes.splice(0).length, 1, 'one before anything is raced');
  events.splice(0);
  const print = (from: number, to: number): void => {
    for (let line = from; line <= to; line += 1) {
      assert.ok(resume.lines.isLeft(line, `https://host-${line}.test`));
      resume.lines.begin(line, `https://host-${line}.test`);
      resume.print(`${line}`, line);
    }
  };
  const fire = async (): Promise<void> => {
    for (const run of [...timers]) {
      timers.delete(run);
      run();
    }
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  };
  return { path, resume, notes, events, timers, state, print, fire };
}

test('a note a second while there are results, and none while there are not', async (t) => {
  const { resume, events, timers, print, fire } = await testbed(t);
  assert.equal(timers.size, 0);
  print(1, 3);
  assert.equal(timers.size, 1);
  await fire();
  assert.deepEqual(events, ['1', '2', '3', 'flush', 'note 3']);
  assert.equal(timers.size, 0);
  print(4, 4);
  await fire();
  assert.equal(events.at(-1), 'note 4');
  assert.ok(await resume.close());
});

test('a note after 200 results, one at a time', async (t) => {
  const { resume, notes, timers, state, print, fire } = await testbed(t);
  const disk = Promise.withResolvers<void>();
  state.disk = disk.promise;
  print(1, 700);
  await fire();
  assert.deepEqual(notes, []);
  assert.equal(timers.size, 0);
  disk.resolve();
  await fire();
  assert.deepEqual(
    notes.map(({ through }) => through),
    [200, 700],
  );
  assert.ok(await resume.close());
});

test('the last note is written after one under way, and none after it', async (t) => {
  const { resume, notes, timers, state, print, fire } = await testbed(t);
  const disk = Promise.withResolvers<void>();
  state.disk = disk.promise;
  print(1, 201);
  const closed = resume.close();
  await fire();
  assert.deepEqual(notes, []);
  disk.resolve();
  assert.ok(await closed);
  await fire();
  assert.deepEqual(
    notes.map(({ through, ended }) => [through, ended]),
    [
      [200, false],
      [201, true],
    ],
  );
  assert.equal(timers.size, 0);
});

test('only results that were written are noted; the last note waits for them', async (t) => {
  const { resume, notes, state, print, fire } = await testbed(t);
  print(1, 2);
  const written: ((ok: boolean) => void)[] = [];
  state.output = (done) => void written.push(done);
  print(3, 5);
  await fire();
  assert.equal(notes.at(-1)?.through, 2);
  const closed = resume.close();
  await setImmediate();
  assert.equal(notes.at(-1)?.ended, false);
  for (const [index, done] of written.entries()) done(index !== 1);
  assert.ok(await closed);
  const { through, above, ended } = notes.at(-1) ?? {};
  assert.deepEqual([through, above, ended], [3, [5], false], 'the one that failed may be cut short');
  const count = notes.length;
  await fire();
  assert.equal(notes.length, count, 'nothing is written afterwards');
});

test('a document that a kill has cut short does not spoil the next', async (t) => {
  const note: Note = {
    schema: 'photofinish.resume/1',
    ...OPTIONS,
    through: 1,
    above: [],
    last: { line: 1, origin: 'https://host-1.test' },
    ended: false,
  };
  const killed = await testbed(t, note);
  assert.equal(killed.resume.lines.isLeft(1, 'https://host-1.test'), false);
  killed.print(2, 3);
  assert.deepEqual(killed.events, ['\n2', '3']);
  await killed.resume.close();
  const ended = await testbed(t, { ...note, ended: true });
  assert.equal(ended.resume.lines.isLeft(1, 'https://host-1.test'), false);
  ended.print(2, 2);
  assert.deepEqual(ended.events, ['2']);
  await ended.resume.close();
});

test('a run that prints nothing leaves the next one to begin a new line', async (t) => {
  const note: Note = {
    ...{ schema: 'photofinish.resume/1', ...OPTIONS, through: 1, above: [], ended: false },
    last: { line: 1, origin: 'https://host-1.test' },
  };
  const killed = await testbed(t, note);
  assert.throws(() => killed.resume.lines.isLeft(1, 'https://other.test'), { code: 'bad-resume' });
  await killed.resume.close();
  assert.equal(killed.notes.at(-1)?.ended, false);
});

test('a note that cannot be written is reported once, stops nothing, and is made up for', async (t) => {
  const { resume, events, notes, state, print, fire } = await testbed(t);
  const full = Promise.reject(new Error('no space left'));
  full.catch(() => {});
  state.disk = full;
  for (const line of [1, 2]) {
    print(line, line);
    await fire();
  }
  assert.deepEqual(
    events.filter((event) => event.startsWith('failed')),
    ['failed no space left'],
  );
  state.disk = Promise.resolve();
  print(3, 3);
  await fire();
  assert.equal(notes.at(-1)?.through, 3);
  state.disk = full;
  assert.equal(await resume.close(), false);
  assert.equal(events.filter((event) => event.startsWith('failed')).length, 2);
});

test('without a place for the note nothing is raced', async (t) => {
  const { path } = await testbed(t);
  const parts = {
    clock: { after: () => () => {} },
    result: () => {},
    flush: async () => {},
    failed: () => {},
  };
  await assert.rejects(openResume(join(path, 'below', 'notes.json'), OPTIONS, parts), /ENO(TDIR|ENT)/);
  await assert.rejects(openResume('', OPTIONS, parts), /--resume takes a file/);
  const own = join(path, '..', 'own.json');
  await openResume(own, OPTIONS, parts);
  assert.equal(readNote(own, OPTIONS)?.ended, false);
});
