// When the note of `race - --resume` is written: often enough, one at a time, never ahead of the results, and whether
// that failed is reported.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { scratchDirectory } from '../testing/scratch.ts';
import { openResume } from './resume.ts';
import { type Note, readNote, writeNote } from './resume-note.ts';

const OPTIONS = { mode: 'race', shard: null } as const;

/** A run whose output, disk and clock are the test's. */
async function scene(t: TestContext, earlier: Note | null = null) {
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
      assert.ok(resume.isLeft(line, `https://host-${line}.test`));
      resume.begin(line, `https://host-${line}.test`);
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
  const { resume, events, timers, print, fire } = await scene(t);
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
  const { resume, notes, timers, state, print, fire } = await scene(t);
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
  const { resume, notes, timers, state, print, fire } = await scene(t);
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
  const { resume, notes, state, print, fire } = await scene(t);
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
  assert.deepEqual([through, above, ended], [3, [5], true]);
  await fire();
  assert.equal(notes.at(-1)?.ended, true, 'nothing is written afterwards');
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
  const killed = await scene(t, note);
  assert.equal(killed.resume.isLeft(1, 'https://host-1.test'), false);
  killed.print(2, 3);
  assert.deepEqual(killed.events, ['\n2', '3']);
  await killed.resume.close();
  const ended = await scene(t, { ...note, ended: true });
  assert.equal(ended.resume.isLeft(1, 'https://host-1.test'), false);
  ended.print(2, 2);
  assert.deepEqual(ended.events, ['2']);
  await ended.resume.close();
});

test('a note that cannot be written is reported once, stops nothing, and is made up for', async (t) => {
  const { resume, events, notes, state, print, fire } = await scene(t);
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
  const { path } = await scene(t);
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
