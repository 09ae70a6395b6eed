import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forecast } from '@photofinish/shared/port/wire';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { observation } from '../../testing/samples.ts';
import { applyBatch, MAX_PAGE_ORIGINS, newPage, withBackfill, withForecasts } from './model.ts';

const A = 'https://a.test' as Origin;
const page = newPage({ documentId: 'd', tabId: 1, origin: A, site: 'a.test', startedMs: 0, begunMs: 0 });

function seen(atMs: number, more: Partial<Observation> = {}): Observation {
  return observation({ atMs, ...more });
}

function forecast(expected: Forecast['expected']['protocol']): Forecast {
  return {
    origin: A,
    reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
    expected: { protocol: expected, basis: 'observed' },
    hit: true,
  };
}

test('a batch is folded in once', () => {
  const once = applyBatch(page, 'x:1', [seen(10, { kind: 'navigation' })], 9).page;
  const twice = applyBatch(once, 'x:1', [seen(10)], 9).page;
  assert.equal(twice, once);
  assert.deepEqual([once.counts.h3, once.delivery, once.firstByteAtMs], [1, 'network', 9]);
});

test('the document keeps its own protocol, whatever its origin uses after it', () => {
  const own = seen(10, { kind: 'navigation', protocol: 'h2' });
  assert.equal(applyBatch(page, 'x:1', [seen(10)], null).page.documentProtocol, null);
  const { page: after } = applyBatch(page, 'x:1', [own, seen(11)], null);
  assert.deepEqual([after.documentProtocol, after.origins[A]?.protocol], ['h2', 'h3']);
  const cached = applyBatch(page, 'x:1', [{ ...own, delivery: 'http-cache' }, seen(11)], null).page;
  assert.deepEqual([cached.documentProtocol, cached.delivery], ['unknown', 'http-cache']);
});

test('a forecast is scored by the first network answer that reveals its protocol', () => {
  const foretold = withForecasts(page, [forecast('h3')], 5);
  const hidden = seen(8, { protocol: 'unknown', reason: 'no-timing-allow-origin' });
  const cached = seen(9, { delivery: 'http-cache', protocol: 'h2' });
  const { page: after, scores } = applyBatch(foretold, 'x:1', [hidden, cached, seen(10)], null);
  assert.deepEqual(scores, [{ origin: A, right: true }]);
  const later = applyBatch(after, 'x:2', [seen(11, { protocol: 'h2' })], null);
  assert.deepEqual([later.scores, later.page.origins[A]?.right], [[], true]);
});

test('a wrong forecast is wrong', () => {
  const { scores } = applyBatch(withForecasts(page, [forecast('h2')], 5), 'x:1', [seen(10)], null);
  assert.deepEqual(scores, [{ origin: A, right: false }]);
});

test('what came after the answer, or expected nothing, is not scored', () => {
  const late = applyBatch(withForecasts(page, [forecast('h3')], 20), 'x:1', [seen(10)], null);
  assert.deepEqual(late.scores, []);
  const after = withForecasts(applyBatch(page, 'x:1', [seen(10)], null).page, [forecast('h3')], 11);
  assert.deepEqual(applyBatch(after, 'x:2', [seen(12)], null).scores, []);
  const nothing = applyBatch(withForecasts(page, [forecast('unknown')], 5), 'x:1', [seen(10)], null);
  assert.deepEqual(nothing.scores, []);
});

test('the arrival of the page’s own forecast is stored separately', () => {
  assert.equal(withForecasts(page, [forecast('h3')], 5).forecastAtMs, 5);
  const other = { ...forecast('h3'), origin: 'https://b.test' as Origin };
  assert.equal(withForecasts(page, [other], 5).forecastAtMs, null);
});

test('the newest protocol is shown, an unknown one does not hide it', () => {
  const hidden = seen(30, { protocol: 'unknown', reason: 'missed' });
  const { page: after } = applyBatch(page, 'x:1', [seen(20), seen(10, { protocol: 'h2' }), hidden], null);
  assert.deepEqual([after.origins[A]?.protocol, after.origins[A]?.reason], ['h3', 'missed']);
});

test('a protocol that becomes known later is counted and shown', () => {
  const hidden = seen(10, { protocol: 'unknown', reason: 'no-timing-allow-origin' });
  const before = applyBatch(page, 'x:1', [hidden, { ...hidden, atMs: 12 }], null).page;
  const half = withBackfill(before, hidden, 'h3');
  const row = half.origins[A];
  assert.deepEqual([half.counts.h3, half.counts.unknown], [1, 1]);
  assert.deepEqual([row?.protocol, row?.reason], ['h3', 'no-timing-allow-origin']);
  const whole = withBackfill(half, { ...hidden, atMs: 9 }, 'h2');
  assert.deepEqual([whole.counts.h2, whole.origins[A]?.counts.unknown], [1, 0]);
  assert.deepEqual([whole.origins[A]?.protocol, whole.origins[A]?.reason], ['h3', null]);
  assert.equal(withBackfill(whole, hidden, 'h3'), whole, 'never more than was unknown');
  assert.equal(whole.documentProtocol, null);
  const document: Observation = { ...hidden, kind: 'navigation' };
  const navigated = applyBatch(page, 'x:1', [document], null).page;
  assert.equal(navigated.documentProtocol, 'unknown');
  assert.equal(withBackfill(navigated, document, 'h2').documentProtocol, 'h2');
});

test('the origins of a page are bounded, its counts are not', () => {
  const many = Array.from({ length: MAX_PAGE_ORIGINS + 9 }, (_, i) =>
    seen(1, { origin: `https://o${i}.test` as Origin }),
  );
  const { page: after } = applyBatch(page, 'x:1', many, null);
  assert.equal(Object.keys(after.origins).length, MAX_PAGE_ORIGINS);
  assert.equal(after.counts.h3, MAX_PAGE_ORIGINS + 9);
});
