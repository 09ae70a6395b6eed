import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { character } from '../testing/web-text.ts';
import { printable, printableDeep } from './printable.ts';

test('line ends, escape sequences and bidi marks are escaped, and everything else stays', () => {
  assert.equal(printable('a\u202egnp.exe'), 'a\\u202egnp.exe');
  assert.equal(printable('\u001b[31mred\u0007'), '\\u001b[31mred\\u0007');
  assert.equal(printable('one\r\ntwo\u2028three\u0085'), 'one\\u000d\\u000atwo\\u2028three\\u0085');
  assert.equal(printable('a\u200bb\u00adc\ufeff\ud800'), 'a\\u200bb\\u00adc\\ufeff\\ud800');
  assert.equal(printable('tag \u{e0041}'), 'tag \\u{e0041}');
  assert.equal(printable('h3=":443";\tma=60'), 'h3=":443"; ma=60');
  for (const plain of ['Zürich, 東京 — “quoted” 😀', 'back\\slash', ''])
    assert.equal(printable(plain), plain);
});

test('the output contains nothing invisible, and is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: character }), (text) => {
      const shown = printable(text);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      assert.equal(printable(shown), shown);
    }),
  );
});

test('texts are found at any depth, and other values stay', () => {
  const value = { a: ['\u0000', 1, null, { 'k\n': true }], b: 'x' };
  assert.deepEqual(printableDeep(value), { a: ['\\u0000', 1, null, { 'k\\u000a': true }], b: 'x' });
});
