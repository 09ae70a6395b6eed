// The rules that decide whether `npm test` may report success.
import assert from 'node:assert/strict';
import test from 'node:test';
import { anyFailed, formatSummary, formatTotal, found, judge, merge, type SuiteResult } from './tally.ts';

const result = (parts: Partial<SuiteResult>): SuiteResult => ({
  suite: 'unit shared',
  passed: 0,
  failures: [],
  skipped: [],
  elapsedMs: 1500,
  ...parts,
});
const skipped = [{ name: 'caddy > upgrades', reason: 'Go is not installed' }];

test('a suite that ran no test has failed, with or without skipped tests', () => {
  assert.ok(anyFailed([judge(result({}), false)]));
  assert.ok(anyFailed([judge(result({ skipped }), false)]));
});

test('a run without any suite has failed', () => assert.ok(anyFailed([])));

test('a search by title may find nothing in a suite, but not in all of them', () => {
  const [nothing, something] = [result({}), result({ passed: 1 })];
  assert.deepEqual(found([nothing, something]), [something]);
  assert.deepEqual(found([nothing]), [nothing]);
});

test('a search by title that found only skipped tests in a suite found them, unlike files that cannot run', () => {
  const something = result({ suite: 'unit e2e', passed: 1 });
  const browser = result({ suite: 'browser', skipped });
  const unbuilt = result({ skipped: [{ name: 'trust.test.ts', reason: 'not built', isFile: true }] });
  assert.deepEqual(found([something, unbuilt, browser]), [something, browser]);
  assert.deepEqual(found([unbuilt]), [unbuilt]);
});

test('a skipped test is listed with its reason, and is a failure where skips fail', () => {
  const lenient = judge(result({ passed: 3, skipped }), false);
  assert.equal(anyFailed([lenient]), false);
  assert.match(formatSummary([lenient]), /caddy > upgrades\n {2}skipped: Go is not installed/);
  assert.equal(formatTotal([lenient]), '3 passed, 0 failed, 1 skipped');

  const strict = judge(result({ passed: 3, skipped }), true);
  assert.ok(anyFailed([strict]));
  assert.equal(formatTotal([strict]), '3 passed, 1 failed');
});

test('totals are sums over suites, and every failure is shown in full', () => {
  const failures = [{ name: 'adds', detail: 'expected 1\nfound 2' }];
  const results = [result({ passed: 2 }), result({ suite: 'rust', passed: 5, failures })];
  assert.equal(formatTotal(results), '7 passed, 1 failed');
  assert.match(formatSummary(results), /✗ rust: adds\nexpected 1\nfound 2/);
});

test('parts of one suite are merged into one line without losing anything', () => {
  const failures = [{ name: 'lint', detail: 'unused' }];
  const [checks, rust, ...others] = merge([
    result({ suite: 'checks', passed: 2 }),
    result({ suite: 'rust', passed: 1 }),
    result({ suite: 'checks', passed: 3, failures, skipped }),
  ]);
  assert.deepEqual(others, []);
  assert.deepEqual(checks, { suite: 'checks', passed: 5, failures, skipped, elapsedMs: 3000 });
  assert.equal(rust?.passed, 1);
});
