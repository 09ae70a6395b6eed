// What is displayed of untrusted text, and which instants are accepted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { character } from '../testing/hostile.ts';
import { isTooLate, printable, printableDeep } from './untrusted.ts';

test('line ends, escape sequences and bidi marks are escaped, and everything else stays', () => {
  assert.equal(printable('a\u202egnp.exe'), 'a\\u202egnp.exe');
  assert.equal(printable('\u001b[31mred\u0007'), '\\u001b[31mred\\u0007');
  assert.equal(printable('one\r\ntwo\u2028three\u0085'), 'one\\u000d\\u000atwo\\u2028three\\u0085');
  assert.equal(printable('a\u200bb\u00adc\ufeff\ud800'), 'a\\u200bb\\u00adc\\ufeff\\ud800');
  assert.equal(printable('tag \u{e0041}'), 'tag \\u{e0041}');
  assert.equal(printable('a\u3164\ufe0f\u{e0100}'), 'a\\u3164\\ufe0f\\u{e0100}');
  assert.equal(printable('h3=":443";\tma=60'), 'h3=":443"; ma=60');
  for (const plain of ['Zürich, 東京 — “quoted” 😀 ☎\ufe0f', 'back\\slash', ''])
    assert.equal(printable(plain), plain);
});

test('the output contains nothing invisible, and is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: character }), (text) => {
      const shown = printable(text);
      assert.doesNotMatch(shown, /[[\p{DI}\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--\ufe0f]|(?<!\p{ExtPict})\ufe0f/v);
      assert.equal(printable(shown), shown);
    }),
  );
});

test('texts are found at any depth, and other values stay', () => {
  const value = { a: ['\u0000', 1, null, { 'k\n': true }], b: 'x' };
  assert.deepEqual(printableDeep(value), { a: ['\\u0000', 1, null, { 'k\\u000a': true }], b: 'x' });
});

const NOW_MS = Date.UTC(2026, 10, 22, 12);

test('tomorrow is accepted, because clocks and time zones differ; later is not', () => {
  for (const instant of [0, NOW_MS, NOW_MS + 86_400_000, '2026-11-23', '2026-11-23T11:00:00Z'])
    assert.equal(isTooLate(instant, NOW_MS), false, String(instant));
  for (const instant of [
    NOW_MS + 86_400_001,
    8.64e15,
    '2026-11-24',
    '9999-12-31',
    '2026-11-23T12:00:01+00:00',
  ])
    assert.equal(isTooLate(instant, NOW_MS), true, String(instant));
});
