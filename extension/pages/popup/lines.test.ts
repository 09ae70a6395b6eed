import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { clearComparison, comparison } from '@photofinish/shared/testing/race-samples';
import type { OriginView } from '../../common/messages.ts';
import { originView } from '../../testing/samples.ts';
import { nextSorting, type SortOrder, sortBy } from '../ui/sorting.ts';
import { type LineOptions, linesOf, MANY_ORIGINS, NUMBER_KEYS, rankOf, type SortKey } from './lines.ts';

function view(host: string, requests = 1, protocol: 'h2' | 'h3' = 'h2'): OriginView {
  const site = host.split('.').slice(-2).join('.');
  return originView(host, { site, protocol, counts: { ...NO_REQUESTS, [protocol]: requests } });
}

const OWN = view('www.own.test', 2);
const ADS = [view('a.ads.test', 4), view('b.ads.test', 6, 'h3'), view('c.ads.test', 1)];
const PAIR = [view('a.pair.test', 8), view('b.pair.test', 1)];
const SINGLE = Array.from({ length: 6 }, (_, n) => view(`x.s${n}.test`, 3));
const ALL = [OWN, ...ADS, ...PAIR, ...SINGLE];

const options: LineOptions = {
  own: OWN.origin,
  query: '',
  sorting: null,
  opened: new Set(),
};

function names(origins: readonly OriginView[], more: Partial<LineOptions> = {}): string[] {
  return linesOf(origins, { ...options, ...more }).map((line) =>
    'summary' in line
      ? `${line.summary.site} (${line.summary.views.length})`
      : `${line.within ? '  ' : ''}${line.view.origin.slice('https://'.length)}`,
  );
}

test('on a page with many origins a site with three or more is one row, positioned by its requests', () => {
  assert.equal(ALL.length, MANY_ORIGINS);
  assert.deepEqual(names(ALL).slice(0, 5), [
    'www.own.test',
    'ads.test (3)',
    'a.pair.test',
    'x.s0.test',
    'x.s1.test',
  ]);
  assert.equal(names(ALL).length, ALL.length - 2);
});

test('an opened site has its origins beneath it, in the same order as all', () => {
  const opened = new Set(['ads.test']);
  assert.deepEqual(names(ALL, { opened }).slice(1, 5), [
    'ads.test (3)',
    '  b.ads.test',
    '  a.ads.test',
    '  c.ads.test',
  ]);
  const sorting = { key: 'origin', direction: 'descending' } as const;
  const sorted = names(ALL, { opened, sorting });
  assert.deepEqual(sorted.slice(-5, -1), ['ads.test (3)', '  c.ads.test', '  b.ads.test', '  a.ads.test']);
});

test('a few origins are all shown, and so is everything that passes a filter', () => {
  assert.ok(names(ALL.slice(0, -1)).every((name) => !name.includes('(')));
  assert.deepEqual(names(ALL, { query: 'ads' }), ['b.ads.test', 'a.ads.test', 'c.ads.test']);
  assert.deepEqual(names(ALL, { query: 'nothing' }), []);
});

test('the page’s own origin is never folded', () => {
  const own = ADS[0]?.origin ?? null;
  const folded = names([...ALL, view('d.ads.test', 9)], { own });
  assert.deepEqual(folded.slice(0, 2), ['a.ads.test', 'ads.test (3)']);
});

test('a site’s row shows the protocol that carried most, the sum of requests, and how many were raced', () => {
  const [line] = linesOf(ALL, options).filter((each) => 'summary' in each);
  assert.deepEqual(
    [line?.summary.protocol, line?.summary.counts, line?.summary.raced, line?.summary.forecast],
    ['h3', counts({ h2: 5, h3: 6 }), 0, 'none'],
  );
});

const counts = (over: Partial<ProtocolCounts>): ProtocolCounts => ({ ...NO_REQUESTS, ...over });
const compared = (gainMs: number) => clearComparison(100, 100 + gainMs, 0);

test('origins sort by every column, in both directions, and the sort is stable', () => {
  const a = originView('a.test', { counts: counts({ h2: 5 }), race: compared(3) });
  const b = originView('b.test', { protocol: 'h3', counts: counts({ h3: 9 }) });
  const c = originView('c.test', { counts: counts({ h2: 5 }), race: compared(-4) });
  const sorted = (sorting: SortOrder<SortKey>) =>
    sortBy([b, c, a], sorting, rankOf)
      .map((o) => o.origin.slice(8, 9))
      .join('');
  assert.equal(sorted({ key: 'origin', direction: 'ascending' }), 'abc');
  assert.equal(sorted({ key: 'origin', direction: 'descending' }), 'cba');
  assert.equal(sorted({ key: 'protocol', direction: 'ascending' }), 'bca');
  assert.equal(sorted({ key: 'requests', direction: 'descending' }), 'bca');
  assert.equal(sorted({ key: 'race', direction: 'ascending' }), 'cab');
  assert.equal(sorted({ key: 'race', direction: 'descending' }), 'acb', 'what was not measured comes last');
  const unclear = { ...b, race: comparison([10, 11, 12], [30, 11, 10]) };
  const ranks = [a, unclear, c].map((each) => rankOf(each, 'race'));
  assert.deepEqual(ranks, [3, 0, -4], 'what is not clear is neither more nor less');
});

test('a header sorts numbers descending, text ascending, and reverses on the second click', () => {
  const next = (current: SortOrder<SortKey> | null, key: SortKey) => nextSorting(current, key, NUMBER_KEYS);
  const first = next(null, 'requests');
  assert.equal(first.direction, 'descending');
  assert.equal(next(null, 'race').direction, 'descending');
  assert.equal(next(first, 'requests').direction, 'ascending');
  assert.equal(next(first, 'origin').direction, 'ascending');
});
