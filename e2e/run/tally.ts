// The result of a suite, whichever tool ran it, and the summary of all suites: every skipped test is listed, and a
// suite that tested nothing has failed.
import { figures, formatTable } from './display.ts';
import type { StepResult } from './step-command.ts';

export interface Failure {
  readonly name: string;
  /** The tool's complete output about it. */
  readonly detail: string;
}

export interface Skip {
  readonly name: string;
  readonly reason: string;
  /** A whole file, whatever the titles of its tests; absent: a test. */
  readonly isFile?: true;
}

/** What a tool's own report says. */
export interface Counts {
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skipped: readonly Skip[];
}

export interface SuiteResult extends Counts {
  readonly suite: string;
  readonly elapsedMs: number;
}

/**
 * Applies rules that the tools do not have: a suite without a single executed test has failed, and so has every skipped
 * test if `skipsFail` (on CI, where every prerequisite must be present).
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

/** The counts of parts as those of a whole. */
export function sumOf(parts: readonly Counts[]): Counts {
  return {
    passed: parts.reduce((sum, { passed }) => sum + passed, 0),
    failures: parts.flatMap(({ failures }) => failures),
    skipped: parts.flatMap(({ skipped }) => skipped),
  };
}

/** The counts of a tool's run, which has failed if its exit code says so, whatever its report says. */
export function withExitCode(
  counts: Counts,
  tool: string,
  { ok, code, output }: Pick<StepResult, 'ok' | 'code' | 'output'>,
): Counts {
  if (ok || counts.failures.length > 0) return counts;
  return { ...counts, failures: [{ name: `${tool}, exit code ${code}`, detail: output }] };
}

/** Merges the results of parts of a suite that ran in parallel; suites are ordered by their first part. */
export function merge(results: readonly SuiteResult[]): SuiteResult[] {
  return [...Map.groupBy(results, ({ suite }) => suite)].map(([suite, parts]) => ({
    suite,
    ...sumOf(parts),
    elapsedMs: parts.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
  }));
}

/** Whether a test failed, or there was none. */
export function anyFailed(results: readonly SuiteResult[]): boolean {
  return results.length === 0 || results.some((result) => result.failures.length > 0);
}

/** The suites in which a search by title found a test, run or skipped; all of them if it found none anywhere. */
export function found(results: readonly SuiteResult[]): readonly SuiteResult[] {
  const withTests = results.filter(
    ({ passed, failures, skipped }) => passed + failures.length > 0 || skipped.some(({ isFile }) => !isFile),
  );
  return withTests.length > 0 ? withTests : results;
}

/** Every failure in full, every skipped test with its reason, and one line per suite. */
export function formatSummary(results: readonly SuiteResult[]): string {
  const parts: string[] = [];
  for (const { suite, failures } of results)
    for (const failure of failures) parts.push(`✗ ${suite}: ${failure.name}\n${failure.detail.trimEnd()}\n`);
  for (const { suite, skipped } of results)
    for (const skip of skipped) parts.push(`– ${suite}: ${skip.name}\n  skipped: ${skip.reason}`);
  const table = formatTable(
    ['suite', ...['passed', 'failed', 'skipped', 'seconds'].map(figures)],
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

/** `N passed, N failed`, and the number skipped, if any. */
export function formatTotal(results: readonly SuiteResult[]): string {
  const { passed, failures, skipped } = sumOf(results);
  const notRun = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  return `${passed} passed, ${failures.length} failed${notRun}`;
}
