// Parses Playwright's report, typed by the reporter's own types.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JSONReport, JSONReportSpec, JSONReportTest } from '@playwright/test/reporter';
import { readPlaywrightReport } from './playwright.ts';

function spec(title: string, outcome: Partial<JSONReportTest>): JSONReportSpec {
  const results = [{ errors: [{ message: '\u001b[31mexpected h3\u001b[39m' }] }];
  const base = { projectName: '', annotations: [], results };
  return { title, tests: [{ ...base, ...outcome }] } as unknown as JSONReportSpec;
}

function report(specs: JSONReportSpec[], errors: { message: string }[] = []): JSONReport {
  const inner = { title: 'upgrade', specs };
  return { errors, suites: [{ title: 'a.spec.ts', specs: [], suites: [inner] }] } as unknown as JSONReport;
}

test('specs are counted by their status and named by their path', () => {
  const annotations = [{ type: 'skip', description: 'Go is not installed' }];
  const counts = readPlaywrightReport(
    report([
      spec('good', { status: 'expected' }),
      spec('bad', { status: 'unexpected' }),
      spec('moody', { status: 'flaky' }),
      spec('absent', { status: 'skipped', annotations }),
    ]),
  );
  assert.equal(counts.passed, 1);
  assert.deepEqual(
    counts.failures.map(({ name }) => name),
    ['a.spec.ts > upgrade > bad', 'a.spec.ts > upgrade > moody'],
  );
  assert.equal(counts.failures[0]?.detail, 'expected h3');
  assert.match(counts.failures[1]?.detail ?? '', /^passed only when repeated/);
  assert.deepEqual(counts.skipped, [{ name: 'a.spec.ts > upgrade > absent', reason: 'Go is not installed' }]);
});

test('an error outside of any test is a failure', () => {
  const counts = readPlaywrightReport(report([], [{ message: 'no such config' }]));
  assert.deepEqual(counts.failures, [{ name: 'outside of any test', detail: 'no such config' }]);
});
