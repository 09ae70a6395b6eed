// The hosts of one owner share a subject. Every job of a list has exactly one place in its order, the same wherever and
// whenever it is computed, so that a load that was cut off goes on in it; and lines are those that `race -` reads.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { linesOf, MAX_LINE_CHARS, readRaceLine } from '../cli/input-lines.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { bucketOf, LineSet, loadList, MAX_PERMUTED, openLines, permutation, SeenTexts } from './load.ts';
import { errors, JetStreamApiError } from './nats.ts';
import { namesOf, TODO_BUCKETS } from './streams.ts';

test('the hosts of one registrable domain are in one bucket', () => {
  const same = ['example.co.uk', 'www.example.co.uk', 'a.b.example.co.uk'].map(bucketOf);
  assert.equal(new Set(same).size, 1);
});

test('owners below a public suffix, a private one too, and addresses have buckets of their own', () => {
  const hosts = Array.from({ length: 2000 }, (_, index) => index);
  for (const hostOf of [
    (index: number) => `owner-${index}.co.uk`,
    (index: number) => `owner-${index}.github.io`,
    (index: number) => `192.0.${index >> 8}.${index & 255}`,
    (index: number) => `2001:db8::${index.toString(16)}`,
    (index: number) => `host-${index}`,
  ]) {
    const buckets = new Set(hosts.map(hostOf).map(bucketOf));
    assert.equal(buckets.size, TODO_BUCKETS, hostOf(1));
    for (const bucket of buckets) assert.ok(bucket >= 0 && bucket < TODO_BUCKETS);
  }
});

function order(size: number, seed: string): number[] {
  const place = permutation(size, seed);
  return Array.from({ length: size }, (_, index) => place(index));
}

function assertBijection(size: number, seed: string): void {
  const seen = new Uint8Array(size);
  for (const place of order(size, seed)) {
    assert.ok(Number.isInteger(place) && place >= 0 && place < size, `${place} of ${size}`);
    assert.equal(seen[place], 0, `${place} of ${size} twice`);
    seen[place] = 1;
  }
}

test('every index has exactly one place, whatever the size', () => {
  for (const size of [0, 1, 2, 3, 4, 5, 7, 10, 16, 17, 1000, 1024, 65_536, 65_537])
    assertBijection(size, 'a');
  const sizes = fc.integer({ min: 1, max: 3000 });
  fc.assert(fc.property(sizes, fc.string(), assertBijection));
});

test('places of a very large list are whole numbers within it, and differ', () => {
  for (const size of [10_000_000, 2 ** 32 + 1, MAX_PERMUTED - 1, MAX_PERMUTED]) {
    const place = permutation(size, 'large');
    const places = new Set<number>();
    for (let index = size - 10_000; index < size; index += 1) places.add(place(index));
    assert.equal(places.size, 10_000);
    for (const each of places) assert.ok(Number.isInteger(each) && each >= 0 && each < size);
    assert.ok(Math.max(...places) > 0.9 * size && Math.min(...places) < 0.1 * size, 'spread over the list');
  }
});

test('neighbours in the list are not neighbours in the order', () => {
  const size = 10_000;
  const places = order(size, 'neighbours');
  const distances = places.slice(1).map((place, index) => Math.abs(place - (places[index] ?? 0)));
  const near = distances.filter((distance) => distance <= 10).length;
  // In a random order a distance of at most 10 has a probability of about 0.002: 20 of them.
  assert.ok(near < 60, `${near} of ${size}`);
  const mean = distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
  assert.ok(
    Math.abs(mean / size - 1 / 3) < 0.02,
    `the mean distance is ${mean}, a third of ${size} if random`,
  );
});

test('another seed, another order; the first place is taken by all alike', () => {
  const [one, two] = [order(1000, 'one'), order(1000, 'two')];
  assert.ok(one.filter((place, index) => place === two[index]).length < 20);
  const firsts = new Map<number, number>();
  for (let seed = 0; seed < 1000; seed += 1) {
    const first = permutation(10, `${seed}`)(0);
    firsts.set(first, (firsts.get(first) ?? 0) + 1);
  }
  assert.equal(firsts.size, 10);
  for (const [place, times] of firsts) assert.ok(times > 60 && times < 140, `${place}: ${times} of 1000`);
});

test('the order never changes: a load that was cut off by an earlier version goes on in it', () => {
  assert.deepEqual(order(12, 'photofinish'), [2, 10, 1, 4, 5, 9, 8, 11, 0, 6, 7, 3]);
  const large = permutation(10_000_000, 'photofinish');
  assert.deepEqual([0, 1, 2, 9_999_999].map(large), [1_473_781, 790_139, 1_443_145, 3_038_321]);
});

test('what is not an index or a size is refused', () => {
  for (const size of [-1, 1.5, Number.NaN, MAX_PERMUTED + 1])
    assert.throws(() => permutation(size, ''), RangeError);
  for (const index of [-1, 0.5, 3, Number.NaN]) assert.throws(() => permutation(3, '')(index), RangeError);
  assert.throws(() => permutation(0, '')(0), RangeError);
});

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

test('texts are recognised however many there are', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 }), { maxLength: 300 }), (texts) => {
      const seen = new SeenTexts(texts.length);
      const known = new Set<string>();
      for (const text of texts) {
        assert.equal(seen.add(text), known.has(text));
        known.add(text);
      }
    }),
  );
});

test('a server that stores nothing is not taken for another load', async () => {
  const overtaken = new JetStreamApiError({ code: 400, err_code: 10071, description: 'wrong last sequence' });
  const timeout = new errors.TimeoutError();
  let isOther = false;
  const publish = async (
    _subject: string,
    _job: string,
    { expect }: { expect?: { lastSequence: number } },
  ) => {
    if (isOther || expect?.lastSequence !== 0) throw overtaken;
    // After the refusals of all others.
    await new Promise((resolve) => setImmediate(resolve));
    throw timeout;
  };
  const load = {
    client: { publish },
    manager: { streams: { info: async () => ({ state: { last_seq: 0 } }) } },
    names: namesOf('s'),
    survey: { seed: '', mode: 'race' },
    lines: { count: 3, line: async (index: number) => `h${index}.test` },
    repeated: new LineSet(3),
    signal: new AbortController().signal,
    progress: () => {},
  } as unknown as Parameters<typeof loadList>[0];
  await assert.rejects(loadList(load), timeout);
  isOther = true;
  await assert.rejects(loadList(load), { code: 'bad-survey', message: /another load/ });
});
