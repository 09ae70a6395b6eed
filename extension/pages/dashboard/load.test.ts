// An open dashboard's updates: what is written late is shown nevertheless, and what was deleted is not kept.
import 'fake-indexeddb/auto';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { IDBFactory } from 'fake-indexeddb';
import { emptyRecord } from '../../common/records/fold.ts';
import { type OriginRecord, RACES_PER_ORIGIN } from '../../common/records/schema.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { aRace } from '../../testing/samples.ts';
import { append, createColumns } from './columns.ts';
import { keepLive, loadRaces, refresh } from './load.ts';
import type { RaceSummary } from './race-samples.ts';

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

let look: () => void;
let tellOfImport: () => void;

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  mock.timers.enable({ apis: ['setInterval'] });
  const document = { hidden: false, addEventListener: (_: string, listen: () => void) => (look = listen) };
  class OtherPages {
    addEventListener(_: string, listen: () => void): void {
      tellOfImport = listen;
    }
  }
  const requestAnimationFrame = (frame: () => void) => setTimeout(frame);
  Object.assign(globalThis, { document, requestAnimationFrame, BroadcastChannel: OtherPages });
});
afterEach(() => {
  mock.timers.reset();
  for (const name of ['document', 'requestAnimationFrame', 'BroadcastChannel'])
    Reflect.deleteProperty(globalThis, name);
});

/** An open dashboard that has loaded what the ledger contains; `next` resolves to what its next check led to. */
async function openDashboard(ledger: ReturnType<typeof openLedger>) {
  const columns = createColumns();
  append(columns, await ledger.records(null));
  let races: readonly RaceSummary[] = await loadRaces(ledger);
  let done = Promise.withResolvers<string>();
  const next = (cause = look): Promise<string> => {
    done = Promise.withResolvers();
    // The preceding check has ended once its result has been handled.
    setTimeout(cause);
    return done.promise;
  };
  keepLive({
    ledger,
    today: () => '2026-11-21',
    known: () => ({ columns, complete: true, races }),
    changed: async (changed) => {
      ({ races } = changed);
      done.resolve('changed');
    },
    reload: async () => done.resolve('reload'),
    failed: done.reject,
  });
  await done.promise;
  return { columns, racesShown: () => races.length, next };
}

test('what was deleted is noticed, although more was recorded afterwards', async () => {
  const ledger = openLedger();
  await ledger.merge('records', [record('a.test', NOW_MS - 2000), record('b.test', NOW_MS - 1000)]);
  const { columns, next } = await openDashboard(ledger);
  await ledger.merge('records', [record('c.test', NOW_MS)]);
  assert.equal(await next(), 'changed');
  assert.equal(columns.size, 3);
  await ledger.wipe();
  const page = ['c.test', 'd.test', 'e.test', 'f.test'].map((host) => record(host, NOW_MS + 1000));
  await ledger.merge('records', page);
  assert.equal(await next(), 'reload');
});

test('a race that replaces the oldest of its origin is shown in its place', async () => {
  const ledger = openLedger();
  for (let race = 0; race < RACES_PER_ORIGIN; race += 1)
    await ledger.saveRace(aRace({ atMs: NOW_MS + race }), NOW_MS);
  const { racesShown, next } = await openDashboard(ledger);
  await ledger.saveRace(aRace({ atMs: NOW_MS + 1000 }), NOW_MS);
  assert.equal(await next(), 'changed');
  assert.equal(racesShown(), RACES_PER_ORIGIN);
});

test('more races than are read at a time are all shown', async () => {
  const ledger = openLedger();
  const { racesShown, next } = await openDashboard(ledger);
  const races = Array.from({ length: 450 }, (_, i) =>
    aRace({ origin: `https://h${i}.test` as Origin, atMs: NOW_MS + i }),
  );
  await ledger.merge('races', races);
  assert.equal(await next(), 'changed');
  assert.equal(racesShown(), 450);
});

test('an import of old records is noticed', async () => {
  const ledger = openLedger();
  await ledger.merge('records', [record('a.test', NOW_MS)]);
  const { next } = await openDashboard(ledger);
  await ledger.merge('records', [record('old.test', NOW_MS - 3_600_000)]);
  assert.equal(await next(tellOfImport), 'reload');
});
