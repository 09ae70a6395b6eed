// The state in the URL, where what is written is read back and anything else is harmless; and the filters that set it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { queryOrFragment } from '@photofinish/shared/testing/hostile';
import { MARKS } from '@photofinish/shared/web/protocol';
import fc from 'fast-check';
import {
  BASES,
  FIRST_STATE,
  isCustomPeriod,
  PERIODS,
  periodOf,
  readState,
  type State,
  writeState,
} from './state.ts';
import { ORIGIN_KEYS, SITE_KEYS } from './table-model.ts';
import '../../testing/catalogs.ts';
import { createFilters } from './filters.ts';

const states: fc.Arbitrary<State> = fc
  .record({
    period: fc.option(fc.constantFrom(...PERIODS)),
    network: fc.option(fc.string({ minLength: 1, maxLength: 40 })),
    by: fc.constantFrom(...BASES),
    query: fc.string({ maxLength: 40 }),
    site: fc.option(fc.constantFrom('example.org', 'a.test')),
    mark: fc.option(fc.constantFrom(...MARKS)),
    verdict: fc.option(fc.constantFrom(...VERDICT_CODES)),
    direction: fc.constantFrom('ascending', 'descending'),
    page: fc.integer({ min: 1, max: 3000 }),
  })
  .chain((state) => {
    const dates = state.period === null ? { from: '2026-10-01', to: '2026-11-21' } : { from: null, to: null };
    const group = (name: 'origin' | 'site', keys: readonly State['sort'][]) =>
      fc.constantFrom(...keys).map((sort): State => ({ ...state, ...dates, group: name, sort }));
    return fc.oneof(group('origin', ORIGIN_KEYS), group('site', SITE_KEYS));
  });

test('every state survives a round trip through the URL, with or without a site in the search', () => {
  fc.assert(
    fc.property(states, fc.constantFrom('', '?site=example.org'), (state, search) => {
      assert.deepEqual(readState(search, writeState(search, state)), state);
    }),
  );
});

test('the initial state leaves the URL as it is', () => {
  assert.equal(writeState('', FIRST_STATE), '');
});

test('the popup’s link selects its site', () => {
  assert.deepEqual(readState('?site=example.org', ''), { ...FIRST_STATE, site: 'example.org' });
});

test('any URL gives a valid state', () => {
  fc.assert(
    fc.property(queryOrFragment, queryOrFragment, (search, hash) => {
      const state = readState(`?${search}`, `#${hash}`);
      assert.ok(state.page >= 1);
    }),
  );
  assert.equal(readState('', '#period=31&page=-4&mark=h9&sort=nothing').period, 30);
});

test('a custom period is complete, in order and no longer than the ledger’s retention', () => {
  const read = (from: string, to: string) => readState('', `#period=custom&from=${from}&to=${to}`);
  assert.equal(read('2026-01-01', '2026-01-31').period, null);
  assert.equal(read('2026-02-01', '2026-01-31').period, 30);
  assert.equal(read('2024-01-01', '2026-01-31').period, 30);
  assert.equal(readState('', '#period=custom').period, 30);
});

test('of days that are typed, those are a custom period that a reload would restore', () => {
  assert.ok(isCustomPeriod('2026-01-01', '2026-01-01'));
  assert.ok(isCustomPeriod('2025-12-31', '2027-02-03'));
  assert.ok(!isCustomPeriod('2025-12-31', '2027-02-04'), '401 days');
  assert.ok(!isCustomPeriod('0026-01-01', '2026-01-31'), 'half of the year is typed');
  assert.ok(!isCustomPeriod('2026-01-01', '20261-01-31'), 'a digit too many');
  assert.ok(!isCustomPeriod('2026-02-01', '2026-01-31'));
  assert.ok(!isCustomPeriod('', '2026-01-31'));
});

test('a period ends today and has as many days as it says', () => {
  const nowMs = Date.UTC(2026, 10, 21, 13);
  assert.deepEqual(periodOf({ ...FIRST_STATE, period: 7 }, nowMs), {
    fromDay: '2026-11-15',
    toDay: '2026-11-21',
  });
});

// The filters at the top of the dashboard, by keyboard.

/** As much of an element as the filters need until they are drawn. */
class Field extends EventTarget {
  readonly options = [];
  focused = 0;
  append(): void {}
  focus(): void {
    this.focused += 1;
  }
}

test('from the button that disappears with its site the focus moves to the filter beside it', (t) => {
  const ids = ['from', 'to', 'network', 'period', 'basis', 'site-filter'];
  const fields = new Map(ids.map((id) => [id, new Field()]));
  const document = { getElementById: (id: string) => fields.get(id), createElement: () => new Field() };
  Object.assign(globalThis, { document });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const changes: Partial<State>[] = [];
  createFilters((change) => changes.push(change));
  fields.get('site-filter')?.dispatchEvent(new Event('click'));
  assert.deepEqual(changes, [{ site: null, page: 1 }]);
  assert.equal(fields.get('network')?.focused, 1);
});
