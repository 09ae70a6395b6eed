import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptOut } from './survey-opt-out.ts';

async function* input(...pieces: readonly string[]) {
  yield* pieces;
}

test('entries are arguments, or lines of standard input without blank ones and comments', async () => {
  assert.deepEqual(await readOptOut(['a.test', '192.0.2.0/24'], input), ['a.test', '192.0.2.0/24']);
  assert.deepEqual(await readOptOut([], input), []);
  const lines = () => input('# who asked\n\na.te', 'st\r\n 192.0.2.0/24\n2001:db8::/32');
  assert.deepEqual(await readOptOut(['-'], lines), ['a.test', '192.0.2.0/24', '2001:db8::/32']);
});

const WRONG: readonly (readonly [words: readonly string[], text: string, message: RegExp])[] = [
  [['-', 'a.test'], '', /not both/],
  [['-'], '# nobody\n', /standard input names nothing/],
  [['-'], 'a.test\nhttps://b.test\n', /^"https:\/\/b\.test" is not a name, an address or a network/],
  [['a.test', '*.b.test'], '', /^"\*\.b\.test" is not/],
];

for (const [words, text, message] of WRONG)
  test(`opt-out ${words.join(' ')} with ${JSON.stringify(text)} is refused`, async () => {
    await assert.rejects(
      readOptOut(words, () => input(text)),
      { code: 'bad-usage', message },
    );
  });
