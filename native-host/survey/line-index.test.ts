// The lines of a survey's list by index are those that `race -` reads, whatever the file contains.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { linesOf, MAX_LINE_CHARS, readRaceLine } from '../cli/input-lines.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { openLines } from './line-index.ts';

function fileIn(t: TestContext): string {
  return join(scratchDirectory(t), 'list.txt');
}

async function linesIn(path: string): Promise<string[]> {
  const lines = await openLines(path);
  try {
    return await Promise.all(Array.from({ length: lines.count }, (_, index) => lines.line(index)));
  } finally {
    await lines.close();
  }
}

async function written(t: TestContext, content: string | Uint8Array): Promise<string[]> {
  const path = fileIn(t);
  writeFileSync(path, content);
  return linesIn(path);
}

test('line feeds, CRLF, blank lines and a missing last line feed', async (t) => {
  assert.deepEqual(await written(t, ''), []);
  assert.deepEqual(await written(t, '\n'), ['']);
  assert.deepEqual(await written(t, 'a'), ['a']);
  assert.deepEqual(await written(t, 'a\n'), ['a']);
  assert.deepEqual(await written(t, 'a.test\r\n\r\nb.test\r\n# c\rd'), ['a.test', '', 'b.test', '# c\rd']);
});

test('invalid UTF-8 is read as replacement characters, and affects no other line', async (t) => {
  const bytes = Buffer.from([0x61, 0xff, 0x0a, 0xe2, 0x82, 0x0a, 0x62, 0xc3]);
  assert.deepEqual(await written(t, bytes), ['a\ufffd', '\ufffd', 'b\ufffd']);
});

test('many lines, by any index, with the checksum of the file', async (t) => {
  const path = fileIn(t);
  const content = Array.from({ length: 100_003 }, (_, index) => `host-${index}.example\n`).join('');
  writeFileSync(path, content);
  const lines = await openLines(path);
  t.after(() => lines.close());
  assert.equal(lines.count, 100_003);
  assert.equal(lines.sha256, createHash('sha256').update(content).digest('hex'));
  for (const index of [0, 1, 255, 256, 257, 511, 512, 50_000, 99_839, 100_001, 100_002])
    assert.equal(await lines.line(index), `host-${index}.example`);
  for (const index of [-1, 0.5, 100_003]) await assert.rejects(lines.line(index), RangeError);
});

test('an overlong line is cut to a prefix that is recognised as too long', async (t) => {
  for (const character of ['x', 'é', '€', '😀', ' ']) {
    const most = character.repeat(MAX_LINE_CHARS / character.length);
    const [whole, cut, next] = await written(t, `${most}\n${most.repeat(100)}\nnext.test\n`);
    assert.equal(whole, most);
    assert.ok(cut !== undefined && cut.length > MAX_LINE_CHARS && cut.length < 4 * MAX_LINE_CHARS);
    const read = readRaceLine(cut, 'race');
    assert.ok(read?.ok === false && read.code === 'bad-line', character);
    assert.equal(next, 'next.test');
  }
});

test('the lines are those that are read from standard input, however they are cut into blocks', async (t) => {
  const path = fileIn(t);
  const piece = fc.oneof(
    fc.constantFrom(
      '\n',
      '\r\n',
      '\n\n',
      '\r',
      'a',
      '€',
      'x'.repeat(1000),
      'y'.repeat(16 * 1024),
      '\u{1f600}',
    ),
    fc.integer({ min: 1, max: 600 }).map((count) => 'z.test\n'.repeat(count)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      const content = pieces.join('');
      writeFileSync(path, content);
      const expected: string[] = [];
      async function* whole(): AsyncGenerator<string> {
        yield content;
      }
      for await (const line of linesOf(whole(), MAX_LINE_CHARS)) expected.push(line);
      const given = await linesIn(path);
      assert.equal(given.length, expected.length);
      for (const [index, line] of given.entries())
        if (line.length > MAX_LINE_CHARS)
          assert.ok(expected[index]?.startsWith(line.slice(0, MAX_LINE_CHARS)));
        else assert.equal(line, expected[index]);
    }),
    { numRuns: 20 },
  );
});

test('a file that changes is an error, not another list', async (t) => {
  const path = fileIn(t);
  for (const change of [
    () => appendFileSync(path, 'c.test\n'),
    () => truncateSync(path, 3),
    () => utimesSync(path, 1, 3),
    () => {
      appendFileSync(path, 'c.test\n');
      utimesSync(path, 1, 2);
    },
  ]) {
    writeFileSync(path, 'a.test\nb.test\n');
    utimesSync(path, 1, 2);
    const lines = await openLines(path);
    assert.equal(await lines.line(1), 'b.test');
    change();
    await assert.rejects(lines.line(0), /list\.txt changed while it was being read/);
    await lines.close();
  }
});

test('what is no readable file is named', async (t) => {
  const path = fileIn(t);
  await assert.rejects(openLines(path), /no such file.*list\.txt/);
  await assert.rejects(openLines(join(path, '..')), /is not a regular file/);
});
