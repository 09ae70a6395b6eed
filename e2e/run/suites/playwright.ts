// Browser tests: runs Playwright and parses its JSON report; as Playwright's global setup, builds what specs need.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { JSONReport, JSONReportSpec, JSONReportSuite, JSONReportTest } from '@playwright/test/reporter';
import { TOP } from '../../scratch.ts';
import { makeAll } from '../artefacts.ts';
import { ARTEFACTS, type ArtefactName, type Selection, specFiles } from '../command-lines.mjs';
import { endCommandsOnSignals, runStep } from '../step-command.ts';
import { type Counts, type Failure, type Skip, type SuiteResult, withExitCode } from '../tally.ts';

const CLI = join(TOP, 'node_modules', '@playwright', 'test', 'cli.js');
const REPORT = join(TOP, '.photofinish', 'test', 'playwright.json');

function explain(test: JSONReportTest): string {
  const errors = test.results.flatMap((result) => result.errors);
  return stripVTControlCharacters(errors.map((error) => error.message).join('\n'));
}

function skipReason(test: JSONReportTest): string {
  const note = test.annotations.find(({ type }) => type === 'skip' || type === 'fixme');
  return note?.description ?? 'no reason given';
}

/** Parses Playwright's JSON report. A test that passes only on retry has failed. */
export function readPlaywrightReport(report: JSONReport): Counts {
  const failures: Failure[] = report.errors.map((error) => ({
    name: 'outside of any test',
    detail: stripVTControlCharacters(error.stack ?? error.message ?? error.value ?? ''),
  }));
  const skipped: Skip[] = [];
  let passed = 0;

  const countSpec = (spec: JSONReportSpec, path: readonly string[]) => {
    for (const test of spec.tests) {
      const project = test.projectName === '' ? [] : [`[${test.projectName}]`];
      const name = [...project, ...path, spec.title].join(' > ');
      if (test.status === 'expected') passed += 1;
      else if (test.status === 'skipped') skipped.push({ name, reason: skipReason(test) });
      else if (test.status === 'flaky')
        failures.push({ name, detail: `passed only when repeated\n${explain(test)}` });
      else failures.push({ name, detail: explain(test) });
    }
  };
  const countSuite = (suite: JSONReportSuite, above: readonly string[]) => {
    const path = [...above, suite.title];
    for (const spec of suite.specs) countSpec(spec, path);
    for (const inner of suite.suites ?? []) countSuite(inner, path);
  };
  for (const suite of report.suites) countSuite(suite, []);
  return { passed, failures, skipped };
}

/** Playwright reads arguments as regular expressions, and no argument as every spec. */
function wordsOf({ specs, grep, project }: Selection): string[] {
  const all = specs.length === specFiles().length;
  return [
    ...(all ? [] : specs.map((file) => `${RegExp.escape(`/${file}`)}$`)),
    // The title may be that of a unit test.
    ...(grep === undefined ? [] : [`--grep=${RegExp.escape(grep)}`, '--pass-with-no-tests']),
    ...(project === undefined ? [] : [`--project=${project}`]),
  ];
}

/** Runs the specs; their artefacts must have been built. */
export async function runBrowserTests(selection: Selection): Promise<SuiteResult> {
  // An earlier run's report must not be read if this one does not finish.
  await rm(REPORT, { force: true });
  await mkdir(join(REPORT, '..'), { recursive: true });
  const ended = await runStep('browser tests (Playwright)', {
    file: process.execPath,
    args: [CLI, 'test', '-c', 'e2e/playwright.config.ts', '--reporter=list,json', ...wordsOf(selection)],
    env: {
      PLAYWRIGHT_JSON_OUTPUT_FILE: REPORT,
      FORCE_COLOR: '0',
      PLAYWRIGHT_FORCE_TTY: '0',
      PHOTOFINISH_ARTEFACTS: 'made',
    },
  });
  const suite = 'browser';
  let report: JSONReport;
  try {
    report = JSON.parse(await readFile(REPORT, 'utf8')) as JSONReport;
  } catch {
    const detail = `no report at ${relative(TOP, REPORT)}\n${ended.output}`;
    const failures = [{ name: `playwright, exit code ${ended.code}`, detail }];
    return { suite, passed: 0, failures, skipped: [], elapsedMs: ended.elapsedMs };
  }
  const counts = withExitCode(readPlaywrightReport(report), 'playwright', ended);
  return { ...counts, suite, elapsedMs: ended.elapsedMs };
}

/** Runs before the first spec, so that specs started by hand find everything built; under `npm test` it is already. */
export default async function makeWhatSpecsNeed(): Promise<void> {
  if (process.env.PHOTOFINISH_ARTEFACTS === 'made') return;
  const release = endCommandsOnSignals();
  const { failed } = await makeAll(Object.keys(ARTEFACTS) as ArtefactName[]);
  release();
  if (failed.length > 0)
    throw new Error(failed.map(({ title, output }) => `${title}:\n${output}`).join('\n'));
}
