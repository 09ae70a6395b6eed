// An open dashboard's updates: what is written late is shown nevertheless.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { emptyRecord } from '../../common/records/fold.ts';
import type { OriginRecord } from '../../common/records/schema.ts';
import { createColumns } from './columns.ts';
import { refresh } from './load.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);

function record(host: string, lastSeenMs: number): OriginRecord {
  return { ...emptyRecord(`https://${host}` as Origin, 'a.test', lastSeenMs), lastSeenMs };
}

const ledgerOf = (records: readonly OriginRecord[]) => ({
  newestRecords: async (limit: number) =>
    records.toSorted((a, b) => b.lastSeenMs - a.lastSeenMs).slice(0, limit),
});

test('a record written 25 s after it was seen is shown, though another was seen meanwhile', async () => {
  const columns = createColumns();
  const ledger = ledgerOf([
    record('a.test', NOW_MS),
    record('late.test', NOW_MS - 25_000),
    record('old.test', NOW_MS - 3_600_000),
  ]);
  assert.equal(await refresh(ledger, columns, NOW_MS), true);
  assert.deepEqual(columns.origins, ['https://a.test', 'https://late.test']);
});

test('if too much changed, everything must be read again', async () => {
  const columns = createColumns();
  const many = Array.from({ length: 500 }, (_, i) => record(`h${i}.test`, NOW_MS));
  assert.equal(await refresh(ledgerOf(many), columns, NOW_MS), false);
  assert.equal(columns.size, 0);
});
