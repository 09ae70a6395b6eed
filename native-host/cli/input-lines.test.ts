// Lines are returned without their ends and otherwise unchanged, however the text is split, and an endless one is not
// waited for; read ahead they are all returned in order, within the limit, followed by the error that ended reading.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { linesOf, readAhead, readRaceLine } from './input-lines.ts';

const MAX_CHARS = 8;

async function* each(pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces;
}

test('the lines are those of the whole text; overlong ones are only reported as such', async () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r', ' '), maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(pieces, async (cut) => {
      const lines = cut.join('').split('\n');
      if (lines.at(-1) === '') lines.pop();
      const given: string[] = [];
      for await (const line of linesOf(each(cut), MAX_CHARS)) given.push(line);
      assert.equal(given.length, lines.length);
      for (const [index, whole] of lines.entries()) {
        const line = whole.replace(/\r$/, '');
        if (line.length <= MAX_CHARS) assert.equal(given[index], line);
        else assert.ok((given[index]?.length ?? 0) > MAX_CHARS && whole.startsWith(given[index] ?? ''));
      }
    }),
  );
});

test('an endless line is returned once, while it is still arriving, and no more of it is kept', async () => {
  let arrived = 0;
  async function* endless(): AsyncGenerator<string> {
    for (;;) {
      arrived += 1;
      yield arrived === 1000 ? '\nnext\n' : 'x'.repeat(MAX_CHARS);
    }
  }
  const lines = linesOf(endless(), MAX_CHARS);
  const { value: first } = await lines.next();
  assert.equal(first, 'x'.repeat(2 * MAX_CHARS));
  assert.equal(arrived, 2);
  const { value: second } = await lines.next();
  assert.equal(second, 'next');
});

const ALL = (): boolean => true;

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}

test('every line is returned once and in order, however small the limit', async () => {
  const text = Array.from({ length: 50 }, (_, n) => `${n}`);
  for (const most of [1, 2, 7, 100]) {
    assert.deepEqual(await Readable.from(readAhead(each(text), most, ALL).lines).toArray(), text);
  }
});

test('all lines are counted before the first is done, and also whether these are all', async () => {
  const ahead = readAhead(each(['a', '', 'b', '# c']), 10, (line) => /^\w/.test(line));
  const lines = ahead.lines[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'a');
  await turns();
  assert.deepEqual([ahead.counted(), ahead.ended()], [2, true]);
});

test('an endless input is read no further than the limit', async () => {
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

test('the error that ended reading is reported after the lines before it', async () => {
  const source = (async function* () {
    yield 'a';
    throw new Error('gone');
  })();
  const lines = readAhead(source, 5, ALL).lines[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'a');
  await assert.rejects(lines.next(), /gone/);
});

test('a line is an origin, or an object that may name its mode', () => {
  const read = (line: string): unknown => {
    const result = readRaceLine(line, 'race');
    return result?.ok ? [result.value.origin.origin, result.value.mode] : result;
  };
  assert.deepEqual(read('example.org'), ['https://example.org', 'race']);
  assert.deepEqual(read('  https://a.test:8443/ \r'), ['https://a.test:8443', 'race']);
  assert.deepEqual(read('1.2.3.4'), ['https://1.2.3.4', 'race']);
  assert.deepEqual(read('https://null'), ['https://null', 'race']);
  assert.deepEqual(read('{"origin": "a.test"}'), ['https://a.test', 'race']);
  assert.deepEqual(read('{"origin": "a.test", "mode": "h2"}'), ['https://a.test', 'h2']);
  assert.equal(read(''), null);
  assert.equal(read(' \t'), null);
  assert.equal(read('# a.test'), null);
  assert.equal(read(`  #${'a'.repeat(2000)}`), null);
});

test('a URL with a path is cut to its origin, and what was cut off is reported', () => {
  const read = (line: string): unknown => {
    const result = readRaceLine(line, 'race');
    return result?.ok ? [result.value.origin.origin, result.leftOut] : result?.message;
  };
  assert.deepEqual(read('https://a.test:8443/x/y?q=1#z'), ['https://a.test:8443', '/x/y?q=1#z']);
  assert.deepEqual(read('a.test/x'), ['https://a.test', '/x']);
  assert.deepEqual(read(`https://a.test/${'x'.repeat(500)}`), ['https://a.test', `/${'x'.repeat(500)}`]);
  assert.deepEqual(read('https://a.test/'), ['https://a.test', undefined]);
  assert.match(String(read('http://a.test/x')), /not https/);
  assert.match(String(read('https://u:p@a.test/x')), /user or password/);
});

for (const [line, code, words] of [
  ['http://a.test', 'bad-origin', /not https/],
  ['{"origin": "a.test/path"}', 'bad-origin', /path/],
  ['{"origin": "a.test"', 'bad-line', /not a JSON object/],
  ['{"mode": "h2"}', 'bad-line', /^the line names no origin$/],
  ['null', 'bad-line', /not a JSON object/],
  ['true', 'bad-line', /not a JSON object/],
  ['1', 'bad-line', /not a JSON object/],
  ['-1.5e3', 'bad-line', /not a JSON object/],
  ['[]', 'bad-origin', /not an origin/],
  ['["a.test"]', 'bad-origin', /not an origin/],
  ['"a.test"', 'bad-origin', /no host name/],
  ['{"origin": 7}', 'bad-line', /^origin: 7 is not one$/],
  ['{"origin": "a.test", "mode": "h4"}', 'bad-line', /^mode: "h4" is not one; there are race, .* or \w+$/],
  [
    '{"origin": "a.test", "trials": 3}',
    'bad-line',
    /^a line has no option "trials"; there are origin and mode$/,
  ],
  ['{"orgin": "a.test"}', 'bad-line', /^a line has no option "orgin"; did you mean "origin"\?$/],
  ['{"origin": "a.test", "mod": "h2"}', 'bad-line', /^a line has no option "mod"; did you mean "mode"\?$/],
  ['a'.repeat(1025), 'bad-line', /1024 characters/],
  [' '.repeat(1025), 'bad-line', /1024 characters/],
] as const)
  test(`${line.slice(0, 40)}: ${code}`, () => {
    const result = readRaceLine(line, 'race');
    assert.ok(result !== null && !result.ok);
    assert.equal(result.code, code);
    assert.match(result.message, words);
    assert.doesNotMatch(result.message, /\n/);
  });

test('no line makes it throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.string().map((text) => `{${text}`),
      ),
      (line) => {
        readRaceLine(line, 'race');
      },
    ),
  );
});
