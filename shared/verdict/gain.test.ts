import '../language/english.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { messageParts, textOf } from '../language/message.ts';
import { comparePairs } from '../race/statistics.ts';
import {
  type Gain,
  gainCellText,
  gainMessage,
  gainMsOf,
  rangeText,
  resultText,
  shownGainMs,
  unclearText,
} from './gain.ts';

const gain = (h3Ms: number, h2Ms: number, quicker: Gain['quicker'], lowMs: number, highMs: number): Gain => ({
  ...{ pairs: 15, h3Ms, h2Ms, quicker, lowMs, highMs },
});
const said = (of: Gain): string => textOf(gainMessage(of));

test('a clear difference is shown with both times, with as many figures as its range supports', () => {
  assert.equal(
    said(gain(4.961, 2.402, 'h2', -3.2, -1.1)),
    'HTTP/3 connects in 5.0 ms, HTTP/2 in 2.4 ms (2.6 ms slower).',
  );
  assert.equal(
    said(gain(5.93, 77.72, 'h3', 12, 130)),
    'HTTP/3 connects in 6 ms, HTTP/2 in 78 ms (72 ms faster).',
  );
  assert.equal(
    said(gain(51.8, 112.3, 'h3', 58, 63)),
    'HTTP/3 connects in 52 ms, HTTP/2 in 112 ms (60 ms faster).',
  );
  assert.equal(
    said(gain(812, 1234, 'h3', 400, 440)),
    'HTTP/3 connects in 810 ms, HTTP/2 in 1.23 s (420 ms faster).',
  );
});

test('neither a time nor the difference is rounded away, however wide the range', () => {
  assert.equal(said(gain(50, 55, 'h3', 1, 131)), 'HTTP/3 connects in 50 ms, HTTP/2 in 55 ms (5 ms faster).');
  assert.match(said(gain(51.8, 112.3, null, -40, 130)), /^HTTP\/3 connects in 50 ms, HTTP\/2 in 110 ms: /);
});

test('an unclear result says so, with the range and the number of pairs', () => {
  const unclear = gain(14.3, 14.37, null, -1.23, 3.41);
  assert.equal(
    said(unclear),
    'HTTP/3 connects in 14.3 ms, HTTP/2 in 14.4 ms: no clear difference in 15 pairs (from HTTP/2 1.2 ms faster to HTTP/3 3.4 ms faster).',
  );
  assert.equal(gainMessage(unclear).params['differenceMs'], undefined);
  assert.deepEqual([gainMsOf(unclear), resultText(unclear)], [null, 'no clear difference']);
  assert.equal(gainCellText(unclear), 'no clear difference');
});

test('a range on one side of 0 names that side, and ends that read the same are shown once', () => {
  assert.equal(rangeText(gain(10, 15, null, 3.1, 6.2)), 'HTTP/3 3.1 ms to 6.2 ms faster');
  assert.equal(rangeText(gain(15, 10, null, -6.2, -3.1)), 'HTTP/2 3.1 ms to 6.2 ms faster');
  assert.equal(rangeText(gain(10, 15, null, 5.01, 5.03)), 'HTTP/3 5.0 ms faster');
  assert.equal(rangeText(gain(10, 10, null, 0, 0)), 'HTTP/3 0 ms faster');
  assert.equal(rangeText(gain(10, 11, null, 0, 2)), 'HTTP/3 0.0 ms to 2.0 ms faster');
  assert.equal(rangeText(gain(11, 10, null, -2, 0)), 'HTTP/2 0.0 ms to 2.0 ms faster');
});

test('both ends of a range have the same digits', () => {
  assert.equal(rangeText(gain(10, 12, null, 0.22, 1)), 'HTTP/3 0.2 ms to 1.0 ms faster');
  assert.equal(rangeText(gain(10, 10, null, -0.04, 12.3)), 'from HTTP/2 0 ms faster to HTTP/3 12 ms faster');
});

test('a range on one side of 0 says why no side is named if the medians differ by too little', () => {
  assert.equal(
    rangeText(gain(10, 10.5, null, 0.24, 0.72)),
    'HTTP/3 0.24 ms to 0.72 ms faster; the medians are less than 1 ms apart',
  );
  assert.equal(
    rangeText(gain(201, 199, null, -2.9, -1.1)),
    'HTTP/2 1.1 ms to 2.9 ms faster; the medians are less than 2 % apart',
  );
});

test('that all of few pairs agree is called too few pairs, not no difference', () => {
  const few = { ...gain(120, 420, null, 300.7, 313.4), pairs: 5 };
  assert.equal(
    said(few),
    'HTTP/3 connects in 120 ms, HTTP/2 in 420 ms: too few pairs to tell (HTTP/3 300 ms to 310 ms faster in all 5 pairs).',
  );
  assert.deepEqual(
    [resultText(few), gainCellText(few), unclearText(few)],
    [
      'too few pairs to tell',
      'too few pairs to tell',
      'Too few pairs to tell: HTTP/3 300 ms to 310 ms faster in all 5 pairs',
    ],
  );
  assert.equal(resultText({ ...gain(10, 11, null, 0.5, 1.5), pairs: 5 }), 'too few pairs to tell');
  assert.match(said({ ...few, pairs: 6 }), /: too few pairs to tell \(.* in all 6 pairs\)\.$/);
  assert.match(said({ ...few, lowMs: -313.4, highMs: -300.7, h2Ms: 120, h3Ms: 420 }), /HTTP\/2 300 ms to/);
});

test('the number of pairs is no reason where they disagree, or differ by too little', () => {
  const few = { ...gain(120, 420, null, -3, 313.4), pairs: 5 };
  assert.equal(unclearText(few), 'No clear difference: from HTTP/2 0 ms faster to HTTP/3 310 ms faster');
  assert.equal(resultText(few), 'no clear difference');
  assert.equal(rangeText(gain(10, 11, null, 0.5, 1.5)), 'HTTP/3 0.5 ms to 1.5 ms faster');
  const close = { ...gain(10, 10.5, null, 0.24, 0.72), pairs: 5 };
  assert.match(said(close), /no clear difference in 5 pairs \(.*; the medians are less than 1 ms apart\)\.$/);
  assert.match(said({ ...few, lowMs: 300, pairs: 9 }), /no clear difference in 9 pairs \([^;]*faster\)\.$/);
});

test('a cell has both times, never a difference alone', () => {
  assert.equal(gainCellText(gain(4.961, 2.402, 'h2', -3.2, -1.1)), '2.4 → 5.0 ms');
  assert.equal(gainCellText(gain(2.402, 4.961, 'h3', 1.1, 3.2)), '5.0 → 2.4 ms');
  assert.equal(gainCellText(gain(600, 1300, 'h3', 690, 720)), '1.30 s → 600 ms');
  assert.equal(gainCellText(gain(600, 1000, 'h3', 390, 420)), '1.00 s → 600 ms');
});

test('a difference alone says which way it goes', () => {
  const slower = gain(4.961, 2.402, 'h2', -3.2, -1.1);
  assert.deepEqual([gainMsOf(slower), resultText(slower)], [-2.559, '2.6 ms slower']);
  assert.equal(resultText(gain(2.402, 4.961, 'h3', 1.1, 3.2)), '2.6 ms faster');
});

test('gains are ordered as they are displayed, although the times before rounding differ the other way', () => {
  const [more, less] = [gain(2.04, 3.36, 'h3', 0.2, 2.4), gain(2.06, 3.42, 'h3', 0.2, 2.4)];
  assert.deepEqual([resultText(more), resultText(less)], ['1.4 ms faster', '1.3 ms faster']);
  assert.ok(shownGainMs(more) > shownGainMs(less));
  assert.ok(shownGainMs(gain(3.36, 2.04, 'h2', -2.4, -0.2)) < shownGainMs(gain(2, 2.1, null, -1, 1)));
});

test('for any measurement: a clear difference is shown, and equals that of the times beside it', () => {
  const time = fc.double({ min: 0.001, max: 900, noNaN: true });
  const pairs = fc.array(fc.tuple(time, time), { minLength: 7, maxLength: 15 });
  const number = (text: string): number => Number(/[\d.]+/.exec(text)?.[0]);
  fc.assert(
    fc.property(pairs, time, (times, leadMs) => {
      const compared = comparePairs(times.map(([h3, more]) => ({ h3, h2: h3 + leadMs + more })));
      assert.ok(compared);
      const parts = new Map(messageParts(gainMessage(compared))?.map(({ text, param }) => [param, text]));
      if (compared.quicker === null || compared.h2Ms >= 999) return;
      const [h3 = 0, h2 = 0, difference = 0] = ['h3Ms', 'h2Ms', 'differenceMs'].map((name) =>
        number(parts.get(name) ?? ''),
      );
      assert.ok(difference > 0);
      assert.ok(Math.abs(h2 - h3 - difference) < 1e-6, `${h2} - ${h3} is not ${difference}`);
    }),
    { examples: [[Array.from({ length: 7 }, () => [44.6, 1]), 5]] },
  );
});

test('the protocol of the comparison is named', () => {
  const old: Gain = { ...gain(10, 20, 'h3', 9, 11), old: 'http/1.1' };
  assert.match(said(old), /HTTP\/3 connects in .*, HTTP\/1\.1 in/);
  assert.equal(gainCellText(old), '20.0 → 10.0 ms (HTTP/1.1)');
  assert.equal(rangeText({ ...old, lowMs: -2, highMs: -1 }), 'HTTP/1.1 1.0 ms to 2.0 ms faster');
});
