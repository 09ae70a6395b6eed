// Tampered export files: they are rejected with a reason before anything is imported, or contain only valid rows.
import '../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originRaceSchema } from '@photofinish/shared/race/outcome';
import { inputs, mutatedBytes, mutatedJson } from '@photofinish/shared/testing/hostile';
import { comparison } from '@photofinish/shared/testing/race-samples';
import fc from 'fast-check';
import * as v from 'valibot';
import { DataError, daySchema, piecesOf, recordSchema, totalSchema } from './data-document.ts';

const counts = { h3: 2, h2: 1, 'http/1.1': 0, 'http/1.0': 0, unknown: 1 };
const counted = {
  counts,
  navigations: { ...counts, h3: 1 },
  delivered: { 'http-cache': 0, 'service-worker': 1, prefetch: 0 },
  bytes: 100,
};
const asked = { lookups: 3, hits: 2, scored: 1, right: 1 };
const day = {
  day: '2026-01-01',
  site: 'a.test',
  origin: 'https://a.test',
  network: 'home',
  ...counted,
  ...asked,
};
const total = {
  day: '2026-01-01',
  network: 'home',
  origins: { h3: 1, known: 2, hidden: 0 },
  ...counted,
  ...asked,
};
const record = {
  origin: 'https://a.test',
  site: 'a.test',
  firstSeenMs: 1,
  lastSeenMs: 2,
  protocol: 'h3',
  protocolAtMs: 2,
  reason: null,
  address: '192.0.2.1',
  ...counted,
  altSvc: 'h3=":443"',
  h3SinceMs: 2,
  newestPageMs: 1,
  altSvcAtMs: 2,
  advertisedSinceMs: 1,
  visitsSinceAdvertised: 0,
  visitedPageMs: null,
  verdict: 'h3-used',
};
const DOCUMENT = {
  schema: 'photofinish.data/1',
  createdAt: '2026-01-01T00:00:00.000Z',
  browser: 'firefox',
  settings: { version: 1, settings: {} },
  networkNames: { 'net-1d44ea1a8671e8f3': 'Home' },
  races: [comparison([1, 2], [3, 4])],
  days: [day, { ...day, day: '2026-01-02' }],
  totals: [total],
  records: [record],
  rows: { races: 1, days: 2, totals: 1, records: 1 },
};
/** Later than everything in the corpus. */
const NOW_MS = Date.UTC(2027, 0, 1);
const SCHEMAS = { races: originRaceSchema, days: daySchema, totals: totalSchema, records: recordSchema };
const TEXT = Buffer.from(JSON.stringify(DOCUMENT));

/**
 * How many rows a file has; null: it is rejected. Rejects if anything but a reason is thrown, or a row is not valid.
 */
async function rowsOf(file: Blob): Promise<number | null> {
  let rows = 0;
  try {
    for await (const pieces of piecesOf(file, NOW_MS))
      for (const { section, row } of pieces) {
        if (!(section in SCHEMAS)) continue;
        rows += 1;
        assert.ok(v.is(SCHEMAS[section as keyof typeof SCHEMAS], row), JSON.stringify(row));
      }
    return rows;
  } catch (error) {
    if (error instanceof DataError) return null;
    throw error;
  }
}

test('the corpus is read, so that mutations of it reach every check', async () => {
  assert.equal(await rowsOf(new Blob([TEXT])), 5);
});

test('whatever was changed in a file, it is rejected with a reason or all its rows are valid', async () => {
  const text = mutatedJson([DOCUMENT]).map((value) => Buffer.from(JSON.stringify(value) ?? ''));
  await fc.assert(
    fc.asyncProperty(fc.oneof(text, mutatedBytes([TEXT])), async (bytes) => {
      await rowsOf(new Blob([bytes as Uint8Array<ArrayBuffer>]));
    }),
    inputs(5000),
  );
});
