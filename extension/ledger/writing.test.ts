import assert from 'node:assert/strict';
import 'fake-indexeddb/auto';
import '../testing/catalogs.ts';
import { beforeEach, test } from 'node:test';
import type { Observation } from '@photofinish/shared/web/observation';
import { type Origin, OTHER_ORIGINS, SITE_DAY_ORIGINS, SITE_ORIGINS } from '@photofinish/shared/web/origin';
import { IDBFactory } from 'fake-indexeddb';
import { DAY_MS } from '../common/records/schema.ts';
import { checkInvariants, dump } from '../testing/ledger-properties.ts';
import { openLedger } from './ledger.ts';
import { isWorthReporting } from './writing.ts';

const base: Observation = {
  id: '1',
  origin: 'https://a.test' as Origin,
  site: 'a.test',
  kind: 'resource',
  delivery: 'network',
  atMs: 1,
  bytes: null,
  protocol: 'h2',
};

test('the newest of each kind is sent', () => {
  const told = isWorthReporting([base, { ...base, id: '2', atMs: 3 }, { ...base, id: '3', atMs: 2 }]);
  assert.deepEqual(
    told.map((o) => o.id),
    ['2'],
  );
});

test('another protocol, origin, advertisement or a navigation is sent as well', () => {
  const told = isWorthReporting([
    base,
    { ...base, protocol: 'h3' },
    { ...base, origin: 'https://b.test' as Origin },
    { ...base, altSvc: 'h3=":443"' },
    { ...base, kind: 'navigation' },
  ]);
  assert.equal(told.length, 5);
});

test('what teaches nothing is not sent', () => {
  const hidden = { ...base, protocol: 'unknown', reason: 'missed' } as const;
  assert.deepEqual(isWorthReporting([hidden, { ...base, delivery: 'http-cache' }]), []);
  assert.equal(isWorthReporting([{ ...hidden, altSvc: 'h3=":443"' }]).length, 1);
});

// A page that uses a new origin with every request, before and after other sites: history is kept, and everything
// counted.

const NOW_MS = Date.UTC(2026, 10, 21, 12);

function used(origin: string, atMs = NOW_MS): Observation {
  return {
    id: origin,
    origin: origin as Origin,
    site: 'evil.test',
    kind: 'resource',
    delivery: 'network',
    atMs,
    bytes: 10,
    protocol: 'h2',
    altSvc: 'h3=":443"',
    address: '192.0.2.1',
  };
}

const flood = (from: number, count: number, atMs = NOW_MS) =>
  Array.from({ length: count }, (_, i) => used(`https://x${from + i}.evil.test`, atMs));

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

const ledgerWith = async (observations: readonly Observation[], nowMs = NOW_MS, ledger = openLedger()) => {
  for (let from = 0; from < observations.length; from += 400)
    await ledger.record({
      key: null,
      observations: observations.slice(from, from + 400),
      scores: observations.slice(from, from + 400).map(({ origin, site }) => ({ origin, site, right: true })),
      pageBegunMs: nowMs,
      nowMs,
      network: 'home',
      mode: 'full',
    });
  return ledger;
};

test('beyond the daily quota a site’s further origins share one row, and every request is counted', async () => {
  const ledger = await ledgerWith(flood(0, SITE_DAY_ORIGINS + 500));
  const records = await ledger.records('evil.test');
  const others = records.find(({ origin }) => origin === OTHER_ORIGINS);
  // The others themselves take a row of the day.
  assert.ok(records.length <= SITE_DAY_ORIGINS + 1, String(records.length));
  assert.equal(
    records.reduce((sum, { counts }) => sum + counts.h2, 0),
    SITE_DAY_ORIGINS + 500,
  );
  assert.equal(others?.counts.h2, SITE_DAY_ORIGINS + 500 - (records.length - 1));
  assert.deepEqual([others?.altSvc, others?.address], [null, null], 'nobody’s word is taken for all');
  for (const { scored, counts } of await ledger.days('evil.test', '2026-11-21'))
    assert.equal(scored, counts.h2, 'nor has a forecast a row of its own');
  checkInvariants(await dump(ledger));
});

test('origins known before are recorded as usual, and other sites have their own quota', async () => {
  const ledger = await ledgerWith(flood(0, SITE_DAY_ORIGINS + 10));
  await ledgerWith(
    [used('https://x0.evil.test'), { ...used('https://a.test'), site: 'a.test' }],
    NOW_MS,
    ledger,
  );
  const [known] = (await ledger.records('evil.test')).filter((r) => r.origin === 'https://x0.evil.test');
  assert.equal(known?.counts.h2, 2);
  assert.equal((await ledger.records('a.test')).length, 1);
});

test('over many days a site reaches its total quota', async () => {
  const ledger = openLedger();
  for (let day = 0; day < 7; day += 1) {
    const atMs = NOW_MS + day * DAY_MS;
    await ledgerWith(flood(day * 2000, SITE_DAY_ORIGINS, atMs), atMs, ledger);
  }
  assert.ok((await ledger.records('evil.test')).length <= SITE_ORIGINS + 1);
});

test('the helper is not sent the placeholder origin', async () => {
  const ledger = await ledgerWith(flood(0, SITE_DAY_ORIGINS + 10));
  const told = (await ledger.outbox(10_000)).flatMap(({ observations }) => observations);
  assert.ok(told.length > 0 && told.every(({ origin }) => origin !== OTHER_ORIGINS));
});
