// Protocols that the developer tools name later, in the ledger.
import assert from 'node:assert/strict';
import 'fake-indexeddb/auto';
import '../testing/catalogs.ts';
import { beforeEach, test } from 'node:test';
import type { Observation, ObservationMode } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { IDBFactory } from 'fake-indexeddb';
import type { Backfill } from '../common/records/fold.ts';
import { checkInvariants, dump } from '../testing/ledger-properties.ts';
import { observation } from '../testing/samples.ts';
import { type Ledger, openLedger } from './ledger.ts';

const A = 'https://a.test' as Origin;
const NOW_MS = Date.UTC(2026, 10, 21, 12);

const seen = { atMs: NOW_MS, bytes: 100 };
const hidden = observation({ ...seen, protocol: 'unknown', reason: 'no-timing-allow-origin' });
const newer = observation({ ...seen, atMs: NOW_MS + 1, protocol: 'h2' });
const told: Backfill = {
  origin: A,
  site: 'a.test',
  atMs: NOW_MS,
  kind: 'resource',
  protocol: 'h3',
  count: 2,
};

let ledger: Ledger;

function record(
  network: string,
  observations: readonly Observation[],
  mode: ObservationMode = 'full',
): Promise<boolean> {
  return ledger.record({
    key: null,
    observations,
    scores: [],
    pageBegunMs: NOW_MS,
    nowMs: NOW_MS,
    network,
    mode,
  });
}

function backfill(key: string, ...backfills: Backfill[]): Promise<number> {
  return ledger.backfill({ key, backfills, nowMs: NOW_MS });
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  ledger = openLedger();
});

test('a protocol reported later moves a request from unknown to known, in record, day and total', async () => {
  await record('home', [hidden, hidden, hidden]);
  assert.equal(await backfill('1', told), 2);
  const all = await dump(ledger);
  checkInvariants(all);
  const [record1] = all.records;
  assert.deepEqual([record1?.counts.h3, record1?.counts.unknown], [2, 1]);
  assert.deepEqual([record1?.protocol, record1?.verdict], ['h3', 'h3-used']);
  assert.deepEqual(all.totals[0]?.origins, { h3: 1, known: 1, hidden: 0 });
});

test('a repeated batch moves nothing, and no count falls below zero', async () => {
  await record('home', [hidden, hidden, hidden]);
  await backfill('1', told);
  assert.equal(await backfill('1', told), 0);
  assert.equal(await backfill('2', told), 1);
  assert.equal(await backfill('3', told), 0);
  const all = await dump(ledger);
  checkInvariants(all);
  assert.equal(all.records[0]?.reason, null);
});

test('navigations and resources are distinguished', async () => {
  await record('home', [{ ...hidden, kind: 'navigation' }, hidden]);
  assert.equal(await backfill('1', { ...told, kind: 'navigation' }), 1);
  checkInvariants(await dump(ledger));
  const [day] = (await dump(ledger)).days;
  assert.deepEqual([day?.navigations.h3, day?.navigations.unknown, day?.counts.unknown], [1, 0, 1]);
});

test('a navigation is not backfilled as a resource', async () => {
  await record('home', [{ ...hidden, kind: 'navigation' }]);
  assert.equal(await backfill('1', told), 0);
});

test('requests of one day over two networks are backfilled on both', async () => {
  await record('home', [hidden]);
  await record('work', [hidden]);
  assert.equal(await backfill('1', { ...told, count: 9 }), 2);
  const all = await dump(ledger);
  checkInvariants(all);
  assert.deepEqual(
    all.totals.map((total) => [total.network, total.counts.h3]),
    [
      ['home', 1],
      ['work', 1],
    ],
  );
});

test('a backfill does not change how a row was counted', async () => {
  await record('home', [hidden], 'light');
  assert.equal(await backfill('1', told), 1);
  const { records, days, totals } = await dump(ledger);
  for (const [row] of [records, days, totals]) assert.deepEqual([row?.counts.h3, row?.modes], [1, ['light']]);
});

test('another day, site or origin has nothing to backfill', async () => {
  await record('home', [hidden]);
  const tomorrow = { ...told, atMs: NOW_MS + 86_400_000 };
  const elsewhere = { ...told, site: 'b.test' };
  const other = { ...told, origin: 'https://b.test' as Origin };
  const before = await dump(ledger);
  assert.equal(await backfill('1', tomorrow, elsewhere, other), 0);
  assert.deepEqual(await dump(ledger), before);
});

test('a backfill of an older answer does not replace a newer protocol', async () => {
  await record('home', [hidden, newer]);
  await backfill('1', told);
  assert.equal((await dump(ledger)).records[0]?.protocol, 'h2');
});
