import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import type { Origin } from '@photofinish/shared/web/origin';
import { PROTOCOLS } from '@photofinish/shared/web/protocol';
import fc from 'fast-check';
import { emptyView } from '../../background/tab/view.ts';
import { originView } from '../../testing/samples.ts';
import type { OriginView, PageView } from '../messages.ts';
import { byUse, deltaOf, same, withDelta } from './delta.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;

function origin(name: Origin, requests = 1, text = ''): OriginView {
  return originView(new URL(name).host, {
    counts: { ...NO_REQUESTS, h2: requests },
    verdict: verdictSaying('unknown', text),
  });
}

function page(origins: readonly OriginView[], more: Partial<PageView> = {}): PageView {
  const base = {
    ...emptyView(1, null, { helper: { state: 'missing' }, mode: 'full' }),
    state: 'recorded' as const,
    origin: A,
  };
  const whole = { ...base, ...more };
  return { ...whole, origins: [...origins].sort(byUse(whole.origin)) };
}

const anyOrigin = fc
  .record({ at: fc.nat(6), requests: fc.nat(3), text: fc.constantFrom('', 'x', 'y') })
  .map(({ at, requests, text }) => origin(`https://o${at}.test` as Origin, requests, text));
const anyPage = fc
  .record({
    origins: fc.uniqueArray(anyOrigin, { selector: (view) => view.origin }),
    protocol: fc.constantFrom(...PROTOCOLS),
    own: fc.constantFrom(A, 'https://o1.test' as Origin, 'https://o2.test' as Origin, null),
    trouble: fc.constantFrom(null, 'the disk is full'),
    complete: fc.boolean(),
  })
  .map(({ origins, own, ...fields }) => page(origins, { ...fields, origin: own }));

test('a view and its delta give the next view, over any chain of views and as JSON', () => {
  fc.assert(
    fc.property(fc.array(anyPage, { minLength: 2, maxLength: 6 }), ([first, ...rest]) => {
      let shown = first as PageView;
      let before = shown;
      for (const after of rest) {
        const delta = deltaOf(before, after);
        if (delta !== null) shown = withDelta(shown, JSON.parse(JSON.stringify(delta)));
        assert.deepEqual(shown, after);
        before = after;
      }
    }),
  );
});

test('between equal views there is no delta', () => {
  fc.assert(
    fc.property(anyPage, (view) => assert.equal(deltaOf(view, JSON.parse(JSON.stringify(view))), null)),
  );
});

test('a delta contains only changes, and leaves the other rows as they are', () => {
  const before = page([origin(A), origin(B)]);
  const after = page([origin(A), origin(B, 2)], { trouble: 'the disk is full' });
  const delta = deltaOf(before, after);
  assert.deepEqual(delta, { fields: { trouble: 'the disk is full' }, changed: [origin(B, 2)], removed: [] });
  assert.ok(delta);
  assert.equal(withDelta(before, delta).origins[0], before.origins[0]);
});

test('values are equal if they have the same JSON', () => {
  assert.ok(same({ a: [1, { b: null }] }, { a: [1, { b: null }] }));
  assert.ok(!same({ a: 1 }, { a: 1, b: 2 }));
  assert.ok(!same({ a: undefined }, { b: 1 }));
  assert.ok(!same([1], { 0: 1 }));
  assert.ok(!same(null, {}));
});
