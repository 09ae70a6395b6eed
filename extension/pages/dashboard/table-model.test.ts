// The table's rows: found, sorted and summed from columns exactly as they would be from records.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { OBSERVATION_MODES, type ObservationModes, unitedModes } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import {
  append,
  createColumns,
  findRow,
  modesOfBits,
  type RowRecord,
  rowAt,
  rowsByOrigin,
  update,
  writeGains,
} from './columns.ts';
import {
  countVerdicts,
  type Filter,
  filterRows,
  groupBySite,
  ORIGIN_KEYS,
  orderRows,
  ranksOf,
  sortRows,
  sortSites,
} from './table-model.ts';

const EVERYTHING: Filter = { query: '', site: null, mark: null, verdict: null, sinceMs: 0, untilMs: 1e15 };

const count = fc.nat(50);
const record: fc.Arbitrary<RowRecord> = fc.record({
  origin: fc.nat(30).map((n) => `https://o${n}.test` as Origin),
  site: fc.nat(8).map((n) => `site${n}.test`),
  protocol: fc.constantFrom('h3', 'h2', 'http/1.1', null),
  counts: fc.record({ h3: count, h2: count, 'http/1.1': count, 'http/1.0': count, unknown: count }),
  navigations: fc.constant({ ...NO_REQUESTS, h2: 1 }),
  modes: fc.subarray([...OBSERVATION_MODES]),
  lastSeenMs: fc.integer({ min: 1_790_000_000_000, max: 1_800_000_000_000 }),
  verdict: fc.constantFrom(...VERDICT_CODES),
});
const keyOf = ({ origin, site }: Pick<RowRecord, 'origin' | 'site'>) => `${origin} ${site}`;
const records = fc.uniqueArray(record, { selector: keyOf, maxLength: 120 });
const inLedgerOrder = (rows: readonly RowRecord[]) => rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

function columnsOf(rows: readonly RowRecord[]) {
  const columns = createColumns();
  append(columns, inLedgerOrder(rows));
  return columns;
}

const keysOf = (columns: ReturnType<typeof columnsOf>, rows: Uint32Array) =>
  Array.from(rows, (row) => keyOf(rowAt(columns, row)));

test('records added later are found, replaced and in order, as if all had been added at once', () => {
  fc.assert(
    fc.property(records, records, (first, later) => {
      const columns = columnsOf(first);
      update(columns, later);
      const all = new Map([...first, ...later].map((row) => [keyOf(row), row]));
      assert.equal(columns.size, all.size);
      assert.deepEqual(keysOf(columns, rowsByOrigin(columns)), inLedgerOrder([...all.values()]).map(keyOf));
      for (const row of all.values()) {
        const found = rowAt(columns, findRow(columns, row.origin, row.site));
        assert.deepEqual(
          [found.verdict, found.lastSeenMs, found.hidden, found.modes],
          [row.verdict, row.lastSeenMs, row.counts.unknown, row.modes],
        );
      }
    }),
  );
});

test('filters select the right rows', () => {
  fc.assert(
    fc.property(
      records,
      fc.constantFrom('', 'o1', 'site2', 'nothing'),
      fc.boolean(),
      (rows, query, onlyH3) => {
        const columns = columnsOf(rows);
        const found = filterRows(columns, { ...EVERYTHING, query, mark: onlyH3 ? 'h3' : null });
        const expected = inLedgerOrder(rows).filter(
          (row) =>
            (row.origin.includes(query) || row.site.includes(query)) && (!onlyH3 || row.protocol === 'h3'),
        );
        assert.deepEqual(keysOf(columns, found), expected.map(keyOf));
      },
    ),
  );
});

test('a period selects what was last seen in it, excluding its end', () => {
  const at = (lastSeenMs: number, n: number): RowRecord => ({
    origin: `https://o${n}.test` as Origin,
    site: 's.test',
    protocol: null,
    counts: NO_REQUESTS,
    navigations: NO_REQUESTS,
    modes: [],
    lastSeenMs,
    verdict: 'unknown',
  });
  const columns = columnsOf([at(9, 0), at(10, 1), at(19, 2), at(20, 3)]);
  const found = filterRows(columns, { ...EVERYTHING, sinceMs: 10, untilMs: 20 });
  assert.deepEqual([...found], [1, 2]);
});

test('every column sorts without losing a row, ascending the mirror of descending where keys differ', () => {
  fc.assert(
    fc.property(records, fc.constantFrom(...ORIGIN_KEYS), (rows, key) => {
      const columns = columnsOf(rows);
      const all = filterRows(columns, EVERYTHING);
      const up = sortRows(columns, all, key, 'ascending');
      assert.deepEqual(
        [...up].sort((a, b) => a - b),
        [...all],
      );
    }),
  );
});

test('requests and shares sort numerically, unknown shares last', () => {
  fc.assert(
    fc.property(records, (rows) => {
      const columns = columnsOf(rows);
      const all = filterRows(columns, EVERYTHING);
      const requests = Array.from(sortRows(columns, all, 'requests', 'descending'), (row) =>
        rowAt(columns, row),
      ).map(({ known, hidden }) => known + hidden);
      assert.deepEqual(
        requests,
        requests.toSorted((a, b) => b - a),
      );
      const shares = Array.from(sortRows(columns, all, 'share', 'ascending'), (row) => rowAt(columns, row));
      const known = shares
        .filter((row) => row.known > 0)
        .map((row) => Math.round((1e6 * row.h3) / row.known));
      assert.deepEqual(
        known,
        known.toSorted((a, b) => a - b),
      );
      assert.ok(shares.slice(known.length).every((row) => row.known === 0));
    }),
  );
});

test('gains apply to origins on every site, and are absent if nothing was measured', () => {
  const rows = fc.sample(records, { numRuns: 1, seed: 3 })[0] ?? [];
  const columns = columnsOf(rows);
  const raced = rows[0]?.origin as Origin;
  const measured = { pairs: 9, h3Ms: 43.5, h2Ms: 40, quicker: 'h2', lowMs: -5, highMs: -2 } as const;
  writeGains(columns, new Map([[raced, measured]]));
  for (let row = 0; row < columns.size; row += 1) {
    const { origin, gain } = rowAt(columns, row);
    assert.deepEqual(gain, origin === raced ? measured : null);
  }
});

test('sites sum their origins, and every row is in one of them', () => {
  fc.assert(
    fc.property(records, (rows) => {
      const columns = columnsOf(rows);
      const sites = groupBySite(columns, filterRows(columns, EVERYTHING));
      const order = sortSites(sites, 'site', 'ascending');
      const names = Array.from(order, (id) => sites.names[id]);
      assert.deepEqual(names, [...new Set(rows.map((row) => row.site))].sort());
      for (const id of order) {
        const own = rows.filter((row) => row.site === sites.names[id]);
        assert.equal(sites.origins[id], own.length);
        assert.equal(
          sites.hidden[id],
          own.reduce((sum, row) => sum + row.counts.unknown, 0),
        );
        const modes = own.map((row) => row.modes).reduce<ObservationModes>(unitedModes, []);
        assert.deepEqual(modesOfBits(sites.modes[id] ?? 0), modes);
        assert.equal(sites.h3Origins[id], own.filter((row) => row.counts.h3 > 0).length);
      }
    }),
  );
});

test('verdicts are counted, the most frequent first', () => {
  fc.assert(
    fc.property(records, (rows) => {
      const columns = columnsOf(rows);
      const counts = countVerdicts(columns, filterRows(columns, EVERYTHING));
      for (const [code, found] of counts)
        assert.equal(found, rows.filter((row) => row.verdict === code).length);
      assert.deepEqual(
        [...counts.values()],
        [...counts.values()].sort((a, b) => b - a),
      );
      assert.equal(
        [...counts.values()].reduce((a, b) => a + b, 0),
        rows.length,
      );
    }),
  );
});

// Sorting packed numbers agrees with sorting by comparison, for any keys.

const keys = fc.array(fc.option(fc.integer({ min: -(2 ** 35), max: 2 ** 35 }), { nil: Number.NaN }), {
  maxLength: 300,
});

test('the order is that of a stable comparison, rows without a key last either way', () => {
  fc.assert(
    fc.property(keys, fc.boolean(), (values, up) => {
      const rows = Uint32Array.from(values.keys()).reverse();
      const sign = up ? 1 : -1;
      const expected = [...rows].sort((a, b) => {
        const [x = Number.NaN, y = Number.NaN] = [values[a], values[b]];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
        return sign * (x - y);
      });
      const order = orderRows(rows, (row) => values[row] ?? Number.NaN, up ? 'ascending' : 'descending');
      assert.deepEqual([...order], expected);
    }),
  );
});

test('instants of two years fit beside a hundred thousand rows', () => {
  const rows = Uint32Array.from({ length: 100_000 }, (_, i) => i);
  const order = orderRows(rows, (row) => 1.7e12 + row * 630_000, 'descending');
  assert.equal(order[0], 99_999);
  assert.equal(order[99_999], 0);
});

test('fractions of a key never produce another row', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 200 }), (values) => {
      const rows = Uint32Array.from(values.keys());
      const order = orderRows(rows, (row) => values[row] ?? 0, 'ascending');
      assert.deepEqual(
        [...order].sort((a, b) => a - b),
        [...rows],
      );
      const whole = Array.from(order, (row) => Math.floor(values[row] ?? 0));
      assert.deepEqual(
        whole,
        whole.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('keys that do not fit are rejected, not mixed up', () => {
  assert.throws(() => orderRows(Uint32Array.of(0, 1), (row) => row * 2 ** 53, 'ascending'), RangeError);
});

test('ranks are the inverse of the order', () => {
  assert.deepEqual([...ranksOf(Uint32Array.of(2, 0, 1))], [1, 2, 0]);
});
