// Displayed numbers: no share is rounded to nothing or everything if it is not.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { verdictMeans, verdictName } from '@photofinish/shared/verdict/codes';
import { adoptionText, agoText, percentText } from './labels.ts';

test('shares are integer percents, finer if they are small or nearly all', () => {
  assert.equal(percentText(1, 3), '33 %');
  assert.equal(percentText(1, 60), '1.7 %');
  assert.equal(percentText(0, 60), '0 %');
  assert.equal(percentText(60, 60), '100 %');
  assert.equal(percentText(1, 100_000), '< 0.1 %');
  assert.equal(percentText(99_999, 100_000), '> 99.9 %');
  assert.equal(percentText(995, 1000), '99.5 %');
  assert.equal(percentText(0, 0), 'none known');
});

test('adoption is shown with its denominator, and without a share if nothing is known', () => {
  assert.equal(
    adoptionText({ h3: 3, known: 4, hidden: 2 }, ['full']),
    'HTTP/3 75 % (3 of 4 known), 2 hidden',
  );
  assert.equal(adoptionText({ h3: 0, known: 0, hidden: 2 }, ['full']), 'none known, 2 hidden');
});

test('what light mode counted as hidden is an upper bound', () => {
  assert.equal(
    adoptionText({ h3: 3, known: 4, hidden: 2 }, ['full', 'light']),
    'HTTP/3 75 % (3 of 4 known), at most 2 hidden',
  );
  assert.equal(adoptionText({ h3: 0, known: 0, hidden: 2 }, ['light']), 'none known, at most 2 hidden');
});

test('ages are shown in their largest whole unit', () => {
  const nowMs = 1e12;
  assert.equal(agoText(nowMs - 30_000, nowMs), 'just now');
  assert.equal(agoText(nowMs - 5 * 60_000, nowMs), '5 min. ago');
  assert.equal(agoText(nowMs - 3 * 86_400_000, nowMs), '3 days ago');
  assert.equal(agoText(nowMs + 5000, nowMs), 'just now', 'clocks differ');
});

test('every verdict has a name of its own and a meaning', () => {
  assert.equal(new Set(VERDICT_CODES.map(verdictName)).size, VERDICT_CODES.length);
  for (const code of VERDICT_CODES) assert.match(verdictMeans(code), /\.$/);
});
