// What a comparison may and may not claim: nothing without data, symmetric in both directions, counts beside shares.
import { clearComparison, comparison, report, reportOrigin, verdictSaying } from '../testing/race-samples.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import type { OriginRace } from '../race/outcome.ts';
import { anyReport } from '../testing/reports.ts';
import type { ObservationMode } from '../web/observation.ts';
import type { Origin } from '../web/origin.ts';
import type { Report, ReportOrigin } from './report.ts';
import { compareReports } from './report-compare.ts';
import { type Change, type ReportDiff, reportDiffSchema } from './report-diff.ts';
import { gainText } from './report-text.ts';

const A = 'https://a.test' as Origin;
const at = (h3: number, h2: number, h1 = 0, unknown = 0) => ({ h3, h2, 'http/1.1': h1, unknown });

function changesBetween(before: Partial<ReportOrigin>, after: Partial<ReportOrigin>): Change[] {
  const of = (over: Partial<ReportOrigin>) => report([reportOrigin({ races: [], ...over })]);
  const [site] = compareReports(of(before), of(after)).sites;
  return site?.origins[0]?.changes ?? [];
}

test('a report compared with itself is empty, whatever it contains', () => {
  fc.assert(
    fc.property(anyReport, (any) => {
      const diff = compareReports(any, any);
      assert.deepEqual([diff.sites, diff.conditions, diff.total.origins.changed], [[], [], 0]);
      assert.deepEqual(diff.total.adoption.before, diff.total.adoption.after);
    }),
  );
});

const MIRRORED = new Map<unknown, Change>([
  ['appeared', 'disappeared'],
  ['disappeared', 'appeared'],
  ['h3-began', 'h3-ended'],
  ['h3-ended', 'h3-began'],
]);

/** The same comparison with its sides swapped. */
function mirrored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mirrored);
  if (typeof value !== 'object' || value === null) return MIRRORED.get(value) ?? value;
  const swapped = Object.entries(value).map(([key, side]) => [
    key === 'before' ? 'after' : key === 'after' ? 'before' : key,
    mirrored(side),
  ]);
  return Object.fromEntries(swapped);
}

test('swapping the sides swaps each change, and changes nothing else', () => {
  const unordered = (diff: ReportDiff) => ({
    ...diff,
    conditions: diff.conditions.filter(({ condition }) => condition !== 'order'),
  });
  fc.assert(
    fc.property(anyReport, anyReport, (a, b) => {
      assert.deepEqual(mirrored(unordered(compareReports(a, b))), unordered(compareReports(b, a)));
    }),
  );
});

test('every origin of either side is changed, unchanged or on one side only; and the result fits its schema', () => {
  fc.assert(
    fc.property(anyReport, anyReport, (a, b) => {
      const diff = compareReports(a, b);
      assert.ok(v.is(reportDiffSchema, diff));
      const names = ({ sites }: Report) =>
        sites.flatMap((s) => s.origins.map((o) => `${s.site} ${o.origin}`));
      const all = new Set([...names(a), ...names(b)]);
      assert.equal(diff.total.origins.changed + diff.total.origins.unchanged, all.size);
      assert.equal(diff.total.common.origins, names(a).length + names(b).length - all.size);
    }),
  );
});

test('reports counted in different modes are unfair to compare; an empty one was counted in none', () => {
  const counted = (...modes: ObservationMode[]) => report([reportOrigin({ modes })]);
  const { conditions } = compareReports(report(), counted('full', 'light'));
  assert.deepEqual(conditions, [{ condition: 'modes', before: 'full', after: 'full, light', unfair: true }]);
  assert.deepEqual(compareReports(counted('light'), counted('light')).conditions, []);
  assert.deepEqual(compareReports(report([]), counted('light')).conditions, []);
});

test('each change has its name', () => {
  assert.deepEqual(changesBetween({ protocols: at(0, 5) }, { protocols: at(1, 5) }), ['h3-began']);
  assert.deepEqual(changesBetween({ protocols: at(5, 0) }, { protocols: at(0, 9) }), ['h3-ended']);
  assert.deepEqual(changesBetween({ protocols: at(50, 50) }, { protocols: at(60, 40) }), ['share']);
  assert.deepEqual(changesBetween({ protocols: at(998, 2) }, { protocols: at(1000, 0) }), ['share']);
  assert.deepEqual(changesBetween({ protocols: at(0, 0, 9) }, { protocols: at(0, 9) }), ['protocols']);
  assert.deepEqual(changesBetween({ protocols: at(0, 0, 0, 4) }, { protocols: at(3, 0) }), ['visibility']);
  const refused = verdictSaying('h3-advertised-unreachable', 'The UDP port is closed.');
  assert.deepEqual(changesBetween({}, { verdict: refused }), ['verdict']);
});

test('more requests with the same share are no change, and any change of a share of a few is marked', () => {
  assert.deepEqual(changesBetween({ protocols: at(3, 1) }, { protocols: at(300, 100) }), []);
  const of = (protocols: ReportOrigin['protocols']) => report([reportOrigin({ protocols })]);
  const few = (a: ReportOrigin['protocols'], b: ReportOrigin['protocols']) =>
    compareReports(of(a), of(b)).sites[0]?.origins[0]?.few;
  assert.equal(few(at(3, 1), at(2, 2)), true);
  assert.equal(few(at(30, 10), at(20, 20)), false);
  assert.equal(few(at(0, 40), at(1, 0)), true, 'h3-began');
  assert.equal(few(at(1, 0), at(0, 40)), true, 'h3-ended');
  assert.equal(few(at(0, 1), at(0, 0, 40)), true, 'protocols');
  assert.equal(few(at(0, 40), at(40, 0)), false);
  assert.equal(few(at(0, 0, 0, 4), at(3, 0)), false, 'visibility is no matter of shares');
});

test('a gain has changed only if its intervals are disjoint, on one network', () => {
  const slow = clearComparison(11, 21);
  const fast = clearComparison(11, 44);
  const noisy = clearComparison(11, 44, 20);
  const few = comparison([10, 11, 12], [40, 44, 48]);
  const little = clearComparison(11, 21.9, 0.1);
  assert.deepEqual(changesBetween({ races: [slow] }, { races: [fast] }), ['gain']);
  assert.deepEqual(changesBetween({ races: [slow] }, { races: [noisy] }), []);
  assert.deepEqual(changesBetween({ races: [slow] }, { races: [few] }), [], 'three pairs have no interval');
  assert.deepEqual(
    changesBetween({ races: [clearComparison(11, 21, 0.1)] }, { races: [little] }),
    [],
    'less than is worth a word',
  );
  assert.deepEqual(changesBetween({ races: [slow] }, { races: [{ ...fast, network: 'other' }] }), []);
  const [site] = compareReports(
    report([reportOrigin({ races: [slow] })]),
    report([reportOrigin({ races: [fast] })]),
  ).sites;
  assert.deepEqual([site?.origins[0]?.gain.before?.gainMs, site?.origins[0]?.gain.after?.gainMs], [10, 33]);
  assert.deepEqual([site?.origins[0]?.gain.after?.h3Ms, site?.origins[0]?.gain.after?.pairs], [11, 10]);
});

test('gains are compared network by network, and those of one network are shown', () => {
  const home = (h2Ms: number, atMs: number) => ({ ...clearComparison(11, h2Ms), network: 'home', atMs });
  const away = { ...clearComparison(11, 99), network: 'away', atMs: 9 };
  const gains = (before: OriginRace[], after: OriginRace[]) => {
    const of = (races: OriginRace[]) => report([reportOrigin({ races })]);
    const [origin] = compareReports(of(before), of(after)).sites[0]?.origins ?? [];
    return [origin?.changes, origin?.gain.before?.network, origin?.gain.after?.network];
  };
  assert.deepEqual(gains([home(21, 1)], [home(44, 2), away]), [['gain'], 'home', 'home']);
  assert.deepEqual(gains([away, home(21, 1)], [home(44, 2), away]), [['gain'], 'home', 'home']);
  const unknown = { ...away, network: 'unknown' };
  assert.deepEqual(gains([{ ...home(21, 1), network: 'unknown' }], [unknown]), [
    undefined,
    undefined,
    undefined,
  ]);
});

test('a comparison with HTTP/1.1 says so', () => {
  const old = clearComparison(11, 21);
  const trials = old.trials.map((trial) =>
    trial.adopted === 'h2' ? { ...trial, adopted: 'http/1.1' as const } : trial,
  );
  const of = (races: OriginRace[], h3: number) => report([reportOrigin({ races, protocols: at(h3, 1) })]);
  const [site] = compareReports(of([], 0), of([{ ...old, trials }], 5)).sites;
  const gain = site?.origins[0]?.gain.after;
  assert.ok(gain);
  assert.equal(gain.old, 'http/1.1');
  assert.match(gainText(gain), /^HTTP\/3 11\.0 ms, HTTP\/1\.1 21\.0 ms/);
});

test('differences besides the origins are listed, and whether they make the comparison unfair', () => {
  const base = report();
  const conditions = (over: Partial<Report>) =>
    compareReports(base, { ...base, ...over }).conditions.map(({ condition, unfair }) => [condition, unfair]);
  assert.deepEqual(conditions({ browser: { name: 'firefox', version: '156.0' } }), [['browser', true]]);
  assert.deepEqual(conditions({ browser: { name: 'chromium', version: '157' } }), [['version', false]]);
  assert.deepEqual(conditions({ networks: ['net'] }), []);
  assert.deepEqual(conditions({ networks: ['net', 'work'] }), [['network', true]]);
  const { from, to } = base.period;
  assert.deepEqual(conditions({ period: { from, to: '2026-02-01T00:00:00.000Z' } }), [
    ['length', true],
    ['overlap', true],
  ]);
  const firefox = { name: 'firefox', version: '156.0' } as const;
  assert.deepEqual(
    conditions({ browser: firefox, period: { from, to: '2026-01-03T00:00:00.000Z' } }),
    [['browser', true]],
    'what one browser counted, the other did not',
  );
  assert.deepEqual(conditions({ period: { from: '2025-12-30T20:55:55.000Z', to: from } }), [
    ['order', false],
  ]);
  assert.deepEqual(conditions({ period: { from: to, to: '2026-01-03T06:00:00.000Z' } }), []);
  // 2026-01-01T00:00:00Z to 2026-01-02T03:04:05Z, written in other zones.
  assert.deepEqual(conditions({ period: { from: '2026-01-01T02:00:00+02:00', to } }), []);
  assert.deepEqual(conditions({ period: { from, to: '2026-01-01T22:04:05-05:00' } }), []);
});

test('networks that are not known may differ, which is said and is not a difference', () => {
  const over = (...networks: string[]) => report(undefined, { networks });
  const found = (a: Report, b: Report) =>
    compareReports(a, b).conditions.map(({ condition, unfair }) => [condition, unfair]);
  const may = [['unknown-network', false]];
  assert.deepEqual(found(over('unknown'), over('unknown')), may);
  assert.deepEqual(found(over('home'), over('unidentified')), may);
  assert.deepEqual(found(over('home'), over('home', 'unknown')), may);
  assert.deepEqual(found(over('home', 'unknown'), over('unknown', 'work')), [['network', true]]);
  assert.deepEqual(found(over('home'), over('home')), []);
});

test('origins that appeared or disappeared do not distort the total: those of both sides are summed separately', () => {
  const before = report([reportOrigin({ origin: A, protocols: at(10, 10) })]);
  const newcomer = reportOrigin({ protocols: at(0, 500) });
  const after = report([reportOrigin({ origin: A, protocols: at(10, 10) }), newcomer]);
  const { total, sites } = compareReports(before, after);
  assert.deepEqual(total.common, {
    origins: 1,
    before: { h3: 10, known: 20, hidden: 0 },
    after: { h3: 10, known: 20, hidden: 0 },
  });
  assert.deepEqual(
    sites[0]?.origins.map(({ origin, changes }) => [origin, changes]),
    [[newcomer.origin, ['appeared']]],
  );
  assert.equal(sites[0]?.unchanged, 1);
});
