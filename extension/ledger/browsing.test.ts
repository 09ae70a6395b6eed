import 'fake-indexeddb/auto';
import '../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import type { OriginRecord } from '../common/records/schema.ts';
import { fillLedger } from '../testing/filled-ledger.ts';
import { type Dump, dump } from '../testing/ledger-properties.ts';
import { aRace } from '../testing/samples.ts';
import { type Ledger, openLedger } from './ledger.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);

let ledger: Ledger;
let all: Dump;

before(async () => {
  await fillLedger({ seed: 3, origins: 90, sites: 15, days: 30, daysPerOrigin: 6, raced: 15, nowMs: NOW_MS });
  ledger = openLedger();
  all = await dump(ledger);
});

test('every record is passed on once, in chunks of any size', async () => {
  for (const chunkRows of [1, 7, all.records.length, 1000]) {
    const chunks: (readonly OriginRecord[])[] = [];
    await ledger.eachRecord((rows) => void chunks.push(rows), chunkRows);
    assert.deepEqual(chunks.flat(), all.records);
    assert.equal(chunks.length, Math.ceil(all.records.length / chunkRows));
  }
});

test('the next chunk waits for the consumer of the previous one, whose failure ends it', async () => {
  let under = 0;
  await ledger.eachRecord(async () => {
    under += 1;
    assert.equal(under, 1);
    await new Promise((resolve) => setImmediate(resolve));
    under -= 1;
  }, 10);
  const failing = ledger.eachRecord(() => Promise.reject(new Error('the page is gone')), 10);
  await assert.rejects(failing, /the page is gone/);
});

test('the most recently seen records come first, at most as many as requested', async () => {
  const expected = all.records.map((r) => r.lastSeenMs).toSorted((a, b) => b - a);
  const newest = await ledger.newestRecords(10);
  assert.deepEqual(
    newest.map((r) => r.lastSeenMs),
    expected.slice(0, 10),
  );
  assert.equal((await ledger.newestRecords(10_000)).length, all.records.length);
});

test('totals and days between two days, both included', async () => {
  const [from, to] = ['2026-11-05', '2026-11-12'];
  const within = ({ day }: { readonly day: string }) => from <= day && day <= to;
  assert.deepEqual(await ledger.totals(from, to), all.totals.filter(within));
  assert.deepEqual(await ledger.days(null, from, to), all.days.filter(within));
  const site = 'site3.test';
  const ofSite = all.days.filter((row) => row.site === site);
  assert.deepEqual(await ledger.days(site, from, to), ofSite.filter(within));
  assert.deepEqual(await ledger.days(site, ''), ofSite);
});

test('the days of an origin on a site are its own, oldest first', async () => {
  for (const { origin, site } of all.records) {
    const expected = all.days.filter((row) => row.origin === origin && row.site === site);
    assert.deepEqual(await ledger.daysOf(origin, site), expected);
  }
  assert.deepEqual(await ledger.daysOf('https://never.test' as Origin, 'site3.test'), []);
  assert.deepEqual(await ledger.daysOf('https://never.test' as Origin, 'never.test'), []);
});

test('races come newest first, page by page, those of one instant together', async () => {
  const fresh = openLedger('races');
  const instants = [5, 4, 4, 4, 3, 2, 1];
  for (const [i, atMs] of instants.entries())
    await fresh.saveRace(aRace({ origin: `https://o${i}.test` as Origin, atMs }), NOW_MS);
  const pages: number[][] = [];
  let last = Number.POSITIVE_INFINITY;
  for (;;) {
    const page = await fresh.recentRaces(2, last);
    if (page.length === 0) break;
    pages.push(page.map((race) => race.atMs));
    last = page.at(-1)?.atMs ?? 0;
  }
  assert.deepEqual(pages, [[5, 4, 4, 4], [3, 2], [1]]);
});

test('a race updates the verdicts of its origin’s records, on every site', async () => {
  const { origin } = all.records.find((r) => r.origin.startsWith('https://cdn')) as OriginRecord;
  const [trial] = aRace().trials;
  const [h3] = trial?.attempts ?? [];
  assert.ok(trial && h3);
  const error = { code: 'udp-refused', message: 'refused' } as const;
  const refused = { ...h3, establishedMs: null, outcome: 'failed', error } as const;
  const attempts = [refused, { ...h3, protocol: 'h2' } as const];
  await ledger.saveRace(
    aRace({ origin, atMs: NOW_MS, trials: [{ ...trial, adopted: 'h2', attempts }] }),
    NOW_MS,
  );
  const after = (await ledger.records(null)).filter((r) => r.origin === origin);
  const before = all.records.filter((r) => r.origin === origin);
  assert.notDeepEqual(
    after.map((r) => r.verdict),
    before.map((r) => r.verdict),
  );
});
