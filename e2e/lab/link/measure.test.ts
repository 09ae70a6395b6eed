// How the accuracy of a link is counted: shares in the long run, and bursts among the numbers that arrived.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanBurst, shareOf } from './measure.ts';

const arrived = (...sequences: number[]) => sequences.map((sequence) => ({ sequence }));

test('a burst is a run of numbers that did not arrive, at the ends too', () => {
  assert.equal(meanBurst(arrived(0, 1, 2), 3), 0);
  assert.equal(meanBurst(arrived(2, 3, 6), 8), (2 + 2 + 1) / 3);
  assert.equal(meanBurst([], 5), 5);
});

test('the order of arrival does not matter', () => {
  assert.equal(meanBurst(arrived(4, 0, 1), 5), 2);
});

test('bursts have the stationary share of their two states', () => {
  assert.equal(shareOf({ kind: 'independent', share: 0.1 }), 0.1);
  assert.equal(shareOf({ kind: 'bursts', enter: 0.1, leave: 0.4 }), 0.2);
  const mixed = { kind: 'bursts', enter: 0.1, leave: 0.4, shareInside: 0.5, shareOutside: 0.25 } as const;
  assert.equal(shareOf(mixed), 0.2 * 0.5 + 0.8 * 0.25);
  assert.equal(shareOf({ kind: 'bursts', enter: 0, leave: 0 }), 0);
});
