import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import type { InspectedRequest } from '../../common/inspected-request.ts';
import { INSPECTED_REQUEST } from '../../testing/samples.ts';
import { nextSorting } from '../ui/sorting.ts';
import { groupsOf, NUMBER_KEYS, passes, SORT_KEYS, sortGroups, sortRequests, sumOf } from './groups.ts';

const request: InspectedRequest = { ...INSPECTED_REQUEST, url: 'https://a.test/x?from=b.test' };
const h2 = { ...request, protocol: 'h2', tookMs: 30 } as const;
const confirmed = { ...request, status: 304, protocol: null } as const;
const cached = { ...request, delivery: 'http-cache', protocol: null, bytes: null } as const;
const elsewhere = { ...request, url: 'https://b.test:4433/y', tookMs: 1, bytes: 7 } as const;

const all = fc.array(fc.constantFrom(request, h2, confirmed, cached, elsewhere), { maxLength: 40 });

test('a group has its protocols, bytes and median over the network', () => {
  const [a, b, ...others] = groupsOf([request, h2, elsewhere, confirmed, cached, h2]);
  assert.deepEqual(a?.protocols, [
    { protocol: 'h3', count: 1 },
    { protocol: 'h2', count: 2 },
    { protocol: 'unknown', count: 1 },
  ]);
  assert.deepEqual([a?.mark, a?.bytes, a?.medianMs, a?.requests.length], ['h2', 400, 10, 5]);
  assert.deepEqual([b?.origin, b?.mark], ['https://b.test:4433', 'h3']);
  assert.deepEqual(others, []);
  const [stored] = groupsOf([cached]);
  assert.deepEqual([stored?.protocols, stored?.medianMs, stored?.mark], [[], null, 'unknown']);
});

test('every request is in one group and in one part of the totals', () => {
  fc.assert(
    fc.property(all, (requests) => {
      const groups = groupsOf(requests);
      assert.equal(new Set(groups.map(({ origin }) => origin)).size, groups.length);
      assert.equal(
        groups.reduce((n, group) => n + group.requests.length, 0),
        requests.length,
      );
      const { known, unknown, elsewhere: other, h3 } = sumOf(requests);
      assert.equal(known + unknown + other, requests.length);
      assert.ok(h3 <= known);
    }),
  );
});

test('the filter applies to host and path, the checkbox to what crossed the network', () => {
  const of = (query: string, notH3 = false) =>
    [request, h2, confirmed, cached, elsewhere].filter((each) => passes(each, { query, notH3 })).length;
  assert.deepEqual([of(''), of('b.test'), of('a.test/x'), of('nowhere')], [5, 1, 4, 0]);
  assert.deepEqual([of('', true), of('b.test', true)], [2, 0]);
});

test('by default the page’s own origin is first, then the most used', () => {
  const groups = groupsOf([request, request, elsewhere]);
  const order = (own: string | null) =>
    sortGroups(groups, null, own as Origin | null).map(({ origin }) => origin);
  assert.deepEqual(order(null), ['https://a.test', 'https://b.test:4433']);
  assert.deepEqual(order('https://b.test:4433'), ['https://b.test:4433', 'https://a.test']);
});

test('requests are in chronological order, whenever the browser reported them, and each column sorts them too', () => {
  const path = (url: string, more: Partial<InspectedRequest>) => ({
    ...request,
    url: `https://a.test/${url}`,
    ...more,
  });
  const late = path('c', { startMs: 30, tookMs: 1, bytes: 5, status: 304, protocol: null });
  const first = path('b', { startMs: 10, tookMs: 50, bytes: 9, protocol: 'h2' });
  const second = path('a', { startMs: 20, tookMs: 9, bytes: null });
  const [group] = groupsOf([late, second, first]);
  const order = (key: (typeof SORT_KEYS)[number] | null) =>
    sortRequests(group?.requests ?? [], key === null ? null : nextSorting(null, key, NUMBER_KEYS))
      .map(({ url }) => url.at(-1))
      .join('');
  assert.equal(order(null), 'bac');
  assert.equal(order('origin'), 'abc');
  assert.equal(order('protocols'), 'abc');
  assert.equal(order('requests'), 'cba');
  assert.equal(order('bytes'), 'bca');
  assert.equal(order('time'), 'bac');
});

test('every column sorts both ways', () => {
  const groups = groupsOf([request, request, elsewhere]);
  for (const key of SORT_KEYS) {
    const first = nextSorting(null, key, NUMBER_KEYS);
    const second = nextSorting(first, key, NUMBER_KEYS);
    assert.notEqual(first.direction, second.direction);
    const order = (sorting: typeof first) => sortGroups(groups, sorting, null).map(({ origin }) => origin);
    if (key !== 'protocols') assert.deepEqual(order(first), order(second).toReversed(), key);
  }
  const bytes = sortGroups(groups, nextSorting(null, 'bytes', NUMBER_KEYS), null);
  assert.deepEqual(
    bytes.map((group) => group.bytes),
    [200, 7],
  );
});
