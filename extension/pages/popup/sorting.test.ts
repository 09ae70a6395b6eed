import { verdictSaying } from '@photofinish/shared/testing/verdicts';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { clearComparison, comparison } from '@photofinish/shared/testing/race-samples';
import type { Origin } from '@photofinish/shared/web/origin';
import type { OriginView } from '../../common/messages.ts';
import { nextSorting, originRank, type Sorting, sortBy } from './sorting.ts';

const counts = (over: Partial<ProtocolCounts>): ProtocolCounts => ({ ...NO_REQUESTS, ...over });
const compared = (gainMs: number) => clearComparison(100, 100 + gainMs, 0);

function view(host: string, over: Partial<OriginView> = {}): OriginView {
  return {
    origin: `https://${host}` as Origin,
    site: host,
    protocol: 'h2',
    reason: null,
    hiddenReason: null,
    counts: counts({ h2: 1 }),
    delivered: { 'http-cache': 0, 'service-worker': 0, prefetch: 0 },
    forecast: null,
    forecastRight: null,
    race: null,
    verdict: verdictSaying('unknown', ''),
    ...over,
  };
}

test('origins sort by every column, in both directions, and the sort is stable', () => {
  const a = view('a.test', { counts: counts({ h2: 5 }), race: compared(3) });
  const b = view('b.test', { protocol: 'h3', counts: counts({ h3: 9 }) });
  const c = view('c.test', { counts: counts({ h2: 5 }), race: compared(-4) });
  const sorted = (sorting: Sorting) =>
    sortBy([b, c, a], sorting, originRank)
      .map((o) => o.origin.slice(8, 9))
      .join('');
  assert.equal(sorted({ key: 'origin', direction: 'ascending' }), 'abc');
  assert.equal(sorted({ key: 'origin', direction: 'descending' }), 'cba');
  assert.equal(sorted({ key: 'protocol', direction: 'ascending' }), 'bca');
  assert.equal(sorted({ key: 'requests', direction: 'descending' }), 'bca');
  assert.equal(sorted({ key: 'race', direction: 'ascending' }), 'cab');
  assert.equal(sorted({ key: 'race', direction: 'descending' }), 'acb', 'what was not measured comes last');
  const unclear = { ...b, race: comparison([10, 11, 12], [30, 11, 10]) };
  const ranks = [a, unclear, c].map((each) => originRank(each, 'race'));
  assert.deepEqual(ranks, [3, 0, -4], 'what is not clear is neither more nor less');
});

test('a header sorts numbers descending, text ascending, and reverses on the second click', () => {
  const first = nextSorting(null, 'requests');
  assert.equal(first.direction, 'descending');
  assert.equal(nextSorting(null, 'race').direction, 'descending');
  assert.equal(nextSorting(first, 'requests').direction, 'ascending');
  assert.equal(nextSorting(first, 'origin').direction, 'ascending');
});
