// What a suite gave, whichever tool ran it, and how all suites are summed up: nothing skipped is left unnamed, and a
// suite that tested nothing has failed.
import { formatTable } from './display.ts';

export interface Failure {
  readonly name: string;
  /** Everything the tool said about it. */
  readonly detail: string;
}

export interface Skip {
  readonly name: string;
  readonly reason: string;
}

export interface SuiteResult {
  readonly suite: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skipped: readonly Skip[];
  readonly elapsedMs: number;
}

/**
 * Applies the rules that no tool knows: a suite without a single executed test has failed, and so has every skipped
 * test if `skipsFail` (on a build server, where everything needed is meant to be there).
 */
export function judge(result: SuiteResult, skipsFail: boolean): SuiteResult {
  const failures = [...result.failures];
  if (skipsFail)
    for (const skip of result.skipped)
      failures.push({ name: skip.name, detail: `skipped, which is a failure here: ${skip.reason}` });
  if (result.passed === 0 && failures.length === 0)
    failures.push({ name: result.suite, detail: 'not a single test ran' });
  return { ...result, failures, skipped: skipsFail ? [] : result.skipped };
}

/** Adds up what parts of one suite gave that ran side by side; suites come in the order of their first part. */
export function merge(results: readonly SuiteResult[]): SuiteResult[] {
  const merged = new Map<string, SuiteResult>();
  for (const result of results) {
    const { passed, failures, skipped, elapsedMs } = merged.get(result.suite) ?? {
      passed: 0,
      failures: [],
      skipped: [],
      elapsedMs: 0,
    };
    merged.set(result.suite, {
      suite: result.suite,
      passed: passed + result.passed,
      failures: [...failures, ...result.failures],
      skipped: [...skipped, ...result.skipped],
      elapsedMs: elapsedMs + result.elapsedMs,
    });
  }
  return [...merged.values()];
}

function sums(results: readonly SuiteResult[]): { passed: number; failed: number; skipped: number } {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const result of results) {
    total.passed += result.passed;
    total.failed += result.failures.length;
    total.skipped += result.skipped.length;
  }
  return total;
}

export function anyFailed(results: readonly SuiteResult[]): boolean {
  return results.some((result) => result.failures.length > 0);
}

/** Every failure in full, every skipped test with its reason, and a line for each suite. */
export function formatSummary(results: readonly SuiteResult[]): string {
  const parts: string[] = [];
  for (const { suite, failures } of results)
    for (const failure of failures) parts.push(`✗ ${suite}: ${failure.name}\n${failure.detail.trimEnd()}\n`);
  for (const { suite, skipped } of results)
    for (const skip of skipped) parts.push(`– ${suite}: ${skip.name}\n  skipped: ${skip.reason}`);
  const table = formatTable(
    [
      { title: 'suite' },
      { title: 'passed', align: 'right' },
      { title: 'failed', align: 'right' },
      { title: 'skipped', align: 'right' },
      { title: 'seconds', align: 'right' },
    ],
    results.map((result) => [
      result.suite,
      String(result.passed),
      String(result.failures.length),
      String(result.skipped.length),
      (result.elapsedMs / 1000).toFixed(1),
    ]),
  );
  return [...parts, `${parts.length > 0 ? '\n' : ''}${table}`].join('\n');
}

/** `N passed, N failed`, and how many were skipped if any were. */
export function formatTotal(results: readonly SuiteResult[]): string {
  const { passed, failed, skipped } = sums(results);
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
