import 'fake-indexeddb/auto';
import './catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originRaceSchema } from '@photofinish/shared/race/outcome';
import { MAX_REPORTED_ORIGINS, MAX_REPORTED_RACES } from '@photofinish/shared/report/report';
import { IDBFactory } from 'fake-indexeddb';
import * as v from 'valibot';
import { MAX_DAYS, MAX_RACES, MAX_RECORDS } from '../common/records/schema.ts';
import { openLedger } from '../ledger/ledger.ts';
import { fillLedger, HEAVY } from './filled-ledger.ts';
import { checkInvariants, dump } from './ledger-properties.ts';

const FILLING = { ...HEAVY, origins: 500, sites: 100, raced: 50, nowMs: Date.UTC(2026, 10, 21, 12) };

async function filled(seed: number) {
  globalThis.indexedDB = new IDBFactory();
  const rows = await fillLedger({ ...FILLING, seed });
  return { rows, all: await dump(openLedger()) };
}

test('a filled ledger is as the product itself would leave it', async () => {
  const { rows, all } = await filled(1);
  checkInvariants(all);
  assert.equal(rows.records, FILLING.origins + FILLING.sites);
  assert.equal(new Set(all.records.map((record) => record.site)).size, FILLING.sites);
  for (const race of all.races) v.parse(originRaceSchema, race);
  assert.deepEqual(new Set(all.records.map((record) => record.verdict)).size > 2, true);
});

test('the same seed gives the same rows, another one different ones', async () => {
  const [one, again, other] = [await filled(1), await filled(1), await filled(2)];
  assert.deepEqual(again.all, one.all);
  assert.notDeepEqual(other.all.days, one.all.days);
});

test("a heavy user's year stays under the limits", async () => {
  const { rows } = await filled(1);
  const times = HEAVY.origins / FILLING.origins;
  assert.ok(rows.records * times < MAX_RECORDS);
  assert.ok(rows.days * times < MAX_DAYS);
  assert.ok(HEAVY.raced * 3 < MAX_RACES);
  assert.ok(
    MAX_RECORDS <= MAX_REPORTED_ORIGINS && MAX_RACES <= MAX_REPORTED_RACES,
    'and all fit in a report',
  );
});
