// Lines come out as they went in, however the text is cut into pieces, and one without an end is not waited for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linesOf } from './input-lines.ts';

const MOST_CHARS = 8;

async function* each(pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces;
}

test('the lines are those of the whole text; of those that are too long only that is told', async () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r', ' '), maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(pieces, async (cut) => {
      const lines = cut.join('').split('\n');
      if (lines.at(-1) === '') lines.pop();
      const given: string[] = [];
      for await (const line of linesOf(each(cut), MOST_CHARS)) given.push(line);
      assert.equal(given.length, lines.length);
      for (const [index, line] of lines.entries()) {
        if (line.length <= MOST_CHARS) assert.equal(given[index], line);
        else assert.ok((given[index]?.length ?? 0) > MOST_CHARS && line.startsWith(given[index] ?? ''));
      }
    }),
  );
});

test('a line that never ends is given once, while it is still arriving, and no more of it is held', async () => {
  let arrived = 0;
  async function* endless(): AsyncGenerator<string> {
    for (;;) {
      arrived += 1;
      yield arrived === 1000 ? '\nnext\n' : 'x'.repeat(MOST_CHARS);
    }
  }
  const lines = linesOf(endless(), MOST_CHARS);
  const { value: first } = await lines.next();
  assert.equal(first, 'x'.repeat(2 * MOST_CHARS));
  assert.equal(arrived, 2);
  const { value: second } = await lines.next();
  assert.equal(second, 'next');
});
