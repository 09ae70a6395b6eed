// Lines read ahead: all of them, in order, no more than may wait, and what reading ended in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { readAhead } from './read-ahead.ts';

const ALL = (): boolean => true;

async function taken(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}

test('every line comes once and in order, however few may wait', async () => {
  const text = Array.from({ length: 50 }, (_, n) => `${n}`);
  for (const most of [1, 2, 7, 100]) {
    const source = (async function* () {
      yield* text;
    })();
    assert.deepEqual(await taken(readAhead(source, most, ALL).lines), text);
  }
});

test('all that are to come are counted while the first is still in hand, and whether these are all', async () => {
  const source = (async function* () {
    yield* ['a', '', 'b', '# c'];
  })();
  const ahead = readAhead(source, 10, (line) => /^\w/.test(line));
  const lines = ahead.lines[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'a');
  await turns();
  assert.deepEqual([ahead.counted(), ahead.ended()], [2, true]);
});

test('an input without end is read no further than the bound', async () => {
  let read = 0;
  const source = (async function* () {
    for (;;) yield `${read++}`;
  })();
  const ahead = readAhead(source, 5, ALL);
  const lines = ahead.lines[Symbol.asyncIterator]();
  await lines.next();
  await turns();
  assert.ok(read <= 7, `${read} were read`);
  assert.equal(ahead.ended(), false);
});

test('what reading ended in is told after the lines before it', async () => {
  const source = (async function* () {
    yield 'a';
    throw new Error('gone');
  })();
  const lines = readAhead(source, 5, ALL).lines[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'a');
  await assert.rejects(lines.next(), /gone/);
});
