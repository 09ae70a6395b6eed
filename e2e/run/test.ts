// `npm test [-- NAME...]`: builds what the tests need and runs all suites, or those named, even after failures; ends
// with one line of totals. Tests that do not depend on a build run in parallel with it.
import { make, makeAll } from './artefacts.ts';
import {
  type ArtefactName,
  artefactsFor,
  isOnCi,
  readCommandLine,
  type Selection,
  WITH_EXTENSION,
  WITH_RUST,
  type Workspace,
} from './command-lines.mjs';
import { printLine } from './display.ts';
import { endCommandsOnSignals } from './step-command.ts';
import { runCargoTests, runQuickChecks, runRustChecks } from './suites/checks.ts';
import { runNodeTests } from './suites/node.ts';
import { runBrowserTests } from './suites/playwright.ts';
import { anyFailed, formatSummary, formatTotal, found, judge, merge, type SuiteResult } from './tally.ts';

/** A failed build counts as a failure; a missing toolchain skips the tests that need it. */
async function makeArtefacts(names: readonly ArtefactName[]): Promise<SuiteResult[]> {
  const { failed } = await makeAll(names);
  const failures = failed.map(({ title, output }) => ({ name: title, detail: output }));
  return failed.length === 0 ? [] : [{ suite: 'build', passed: 0, failures, skipped: [], elapsedMs: 0 }];
}

/** Tests that need only Node, and of what is built only what their files need. The helper's wait longest. */
async function runNodeSuites(
  { checks, units, grep }: Selection,
  made: readonly ArtefactName[],
): Promise<SuiteResult[]> {
  const runUnits = async (workspace: Workspace, files: readonly string[]): Promise<SuiteResult> => {
    const need = (name: ArtefactName, users: readonly string[]) =>
      made.includes(name) && files.some((file) => users.includes(file)) ? make(name) : null;
    await Promise.all([need('helper', WITH_RUST), need('extension', WITH_EXTENSION)]);
    return runNodeTests(workspace, files, grep);
  };
  const runSide = async (ofHelper: boolean) => {
    const results = checks && !ofHelper ? [await runQuickChecks()] : [];
    for (const [workspace, files] of units)
      if ((workspace === 'native-host') === ofHelper) results.push(await runUnits(workspace, files));
    return results;
  };
  return (await Promise.all([runSide(false), runSide(true)])).flat();
}

/** cargo runs one step at a time, in parallel with everything else: mostly it compiles, at low priority. */
async function runRustSuites({ checks, rust }: Selection): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  if (rust) results.push(await runCargoTests());
  if (checks) results.push(await runRustChecks());
  return results;
}

async function runSuites(selection: Selection, wanted: readonly ArtefactName[]): Promise<SuiteResult[]> {
  printLine();
  const rust = runRustSuites(selection);
  const results = (await Promise.all([makeArtefacts(wanted), runNodeSuites(selection, wanted)])).flat();
  const browser = selection.specs.length > 0 ? [await runBrowserTests(selection)] : [];
  results.push(...(await rust), ...browser);
  const merged = merge(results);
  const counted = selection.grep === undefined ? merged : found(merged);
  return counted.map((result) => judge(result, isOnCi()));
}

/** Runs what the arguments of `npm run COMMAND --` select; returns the exit code. */
async function runTests(command: string, words: readonly string[]): Promise<number> {
  endCommandsOnSignals();
  const request = readCommandLine(command, words);
  if (request.selection === undefined) throw new Error(`${command} runs no tests`);
  const results = await runSuites(request.selection, artefactsFor(request));
  printLine(`\n${formatSummary(results)}\n`);
  printLine(formatTotal(results));
  return anyFailed(results) ? 1 : 0;
}

const [command = '', ...words] = process.argv.slice(2);
process.exitCode = await runTests(command, words);
