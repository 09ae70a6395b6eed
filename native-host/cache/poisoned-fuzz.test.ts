// A host cache modified by somebody else: whatever its rows contain, the helper answers, and its answer is valid or
// says that the cache cannot be used.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { forecastSchema, statsSchema } from '@photofinish/shared/port/wire';
import { inputs } from '@photofinish/shared/testing/hostile';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import * as v from 'valibot';
import { observation, race, trial, up } from '../testing/cache-samples.ts';
import { openHostCache } from './store.ts';

const A = 'https://a.test' as Origin;
const START = 1_700_000_000_000;

const text = fc.oneof(
  fc.constantFrom(
    'h3',
    'h2',
    'unknown',
    'raced',
    'browser',
    'clear',
    '',
    'null',
    '[]',
    '{}',
    '__proto__',
    '[1,{"a":2}]',
  ),
  fc.constantFrom(
    'h3=":443"; ma=60; persist=1',
    'h3="10.0.0.1:443"',
    '\u0000',
    'https://b.test',
    'udp-timeout',
  ),
  fc.constantFrom('{"alternatives":null}', '[{"host":"a","port":1e9}]', '"'.repeat(3000)),
  fc.string({ maxLength: 60 }),
);
const number = fc.oneof(
  fc.constantFrom(0, -1, 1, START, START + 1e15, 1e308, -1e308, 5e-324, 2 ** 53, Number.MAX_SAFE_INTEGER),
  fc.double({ noNaN: true }),
);
const integer = fc.oneof(fc.constantFrom(0, 1, -1, 2 ** 31), fc.integer());
const OF_TYPE: Readonly<Record<string, fc.Arbitrary<string | number | bigint>>> = {
  TEXT: text,
  REAL: number,
  INTEGER: fc.oneof(integer, fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n))),
};

test('whatever a row contains, forecasts, races and listings are valid or refused', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'photofinish-fuzz-'));
  const path = join(directory, 'cache.db');
  const cache = openHostCache({
    path,
    clock: { nowMs: () => START, epochMs: () => START, after: () => () => {} },
  });
  const known = [observation({ atMs: START - 5, altSvc: 'h3=":443"; persist=1' })];
  cache.recordRace(race([trial(up('h3'))]));
  cache.observe('home', 'chromium', known);
  const db = new DatabaseSync(path);
  // Nothing here has to survive a power cut, and syncing every spoilt row would cost more than reading it.
  db.exec('PRAGMA synchronous = OFF');
  const { ino } = statSync(path);
  t.after(() => {
    db.close();
    cache.close();
    rmSync(directory, { recursive: true });
  });
  const tables = ['known', 'address', 'counter', 'networkName'];
  const columns = tables.flatMap((table) =>
    db
      .prepare(`SELECT name, type FROM pragma_table_info(?) WHERE name NOT IN ('id', 'origin')`)
      .all(table)
      .map((row) => ({ table, name: String(row.name), type: String(row.type) })),
  );
  assert.ok(columns.length > 30);
  const spoiling = fc.constantFrom(...columns).chain((column) =>
    fc.record({
      column: fc.constant(column),
      value: fc.option(OF_TYPE[column.type] ?? fc.constant(null), { freq: 10 }),
    }),
  );
  for (const table of tables) db.exec(`CREATE TEMP TABLE kept_${table} AS SELECT * FROM ${table}`);
  const restore = (): void => {
    for (const table of tables)
      db.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept_${table}`);
  };
  fc.assert(
    fc.property(fc.array(spoiling, { minLength: 1, maxLength: 4 }), (all) => {
      db.exec('BEGIN');
      restore();
      for (const { column, value } of all)
        try {
          db.prepare(`UPDATE ${column.table} SET ${column.name} = ?`).run(value);
        } catch {
          // Rejected by a constraint of the schema itself.
        }
      db.exec('COMMIT');
      for (const forecast of cache.forecast({
        network: 'home',
        browser: 'chromium',
        site: 'a.test',
        origins: [A],
      }))
        assert.deepEqual(v.safeParse(forecastSchema, forecast).issues, undefined, JSON.stringify(forecast));
      cache.recall('home', A);
      cache.udpEvidence('home', 'https://b.test' as Origin);
      cache.list();
      cache.show(A);
      cache.networks();
      cache.networkNames();
      const stats = { id: 1, type: 'stats', network: 'home', ...cache.stats() };
      assert.deepEqual(v.safeParse(statsSchema, stats).issues, undefined, JSON.stringify(stats));
      cache.observe('home', 'chromium', [observation({ atMs: START, altSvc: 'h3=":443"' })]);
      cache.recordRace(race([trial(up('h3'))]));
    }),
    inputs(3000),
  );
  // If it had been set aside, later rows would have been written to a file that the helper no longer uses.
  assert.equal(statSync(path).ino, ino);
});
