// Valid lines of `photofinish race -`, and how each mistake is reported.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRaceLine } from './race-line.ts';

test('a line is an origin, or an object that may name its mode', () => {
  const read = (line: string): unknown => {
    const result = readRaceLine(line, 'race');
    return result?.ok ? [result.value.origin.origin, result.value.mode] : result;
  };
  assert.deepEqual(read('example.org'), ['https://example.org', 'race']);
  assert.deepEqual(read('  https://a.test:8443/ \r'), ['https://a.test:8443', 'race']);
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
  ['{"mode": "h2"}', 'bad-line', /^origin: /],
  ['{"origin": 7}', 'bad-line', /^origin: /],
  ['{"origin": "a.test", "mode": "h4"}', 'bad-line', /^mode: /],
  ['{"origin": "a.test", "trials": 3}', 'bad-line', /^trials: /],
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
