// `npm test [-- NAME...]`: makes what the tests need and runs every suite there is, or what is named, whatever failed
// before; ends with one plain line of totals. What needs nothing of what is being built runs meanwhile.
import { make, makeAll } from './artefacts.ts';
import {
  type ArtefactName,
  artefactsFor,
  readCommandLine,
  type Selection,
  type Workspace,
} from './command-lines.mjs';
import { say } from './display.ts';
import { endCommandsOnSignals } from './step-command.ts';
import { runCargoTests } from './suites/cargo.ts';
import { runQuickChecks, runRustChecks } from './suites/checks.ts';
import { runNodeTests } from './suites/node.ts';
import { runBrowserTests } from './suites/playwright.ts';
import { anyFailed, formatSummary, formatTotal, judge, merge, type SuiteResult } from './tally.ts';

/** Build servers set this variable; there everything needed is meant to be present, so that nothing is skipped. */
const { CI = '' } = process.env;
const skipsFail = !['', '0', 'false'].includes(CI);

/** What could not be made counts as a failure of its own; what is missing skips the tests that want it. */
async function makeArtefacts(names: readonly ArtefactName[]): Promise<SuiteResult[]> {
  const { failed } = await makeAll(names);
  const failures = failed.map(({ title, output }) => ({ name: title, detail: output }));
  return failed.length === 0 ? [] : [{ suite: 'build', passed: 0, failures, skipped: [], elapsedMs: 0 }];
}

/** With Node alone. The helper's own tests load the addon, and start the helper; the others wait for neither. */
async function nodeSide(
  { checks, units, grep }: Selection,
  made: readonly ArtefactName[],
): Promise<SuiteResult[]> {
  const ofHelper = ([workspace]: readonly [Workspace, unknown]) => workspace === 'native-host';
  const helperSide = async () => {
    const results: SuiteResult[] = [];
    for (const [workspace, files] of units.filter(ofHelper)) {
      if (made.includes('helper')) await make('helper');
      results.push(await runNodeTests(workspace, files, grep));
    }
    return results;
  };
  const otherSide = async () => {
    const results = checks ? [await runQuickChecks()] : [];
    for (const [workspace, files] of units.filter((unit) => !ofHelper(unit)))
      results.push(await runNodeTests(workspace, files, grep));
    return results;
  };
  return (await Promise.all([otherSide(), helperSide()])).flat();
}

/** cargo works at one thing at a time, beside whatever else runs: mostly it compiles, and then it stands back. */
async function rustSide({ checks, rust }: Selection): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  if (rust) results.push(await runCargoTests());
  if (checks) results.push(await runRustChecks());
  return results;
}

async function runSuites(selection: Selection, wanted: readonly ArtefactName[]): Promise<SuiteResult[]> {
  say();
  const rust = rustSide(selection);
  const results = (await Promise.all([makeArtefacts(wanted), nodeSide(selection, wanted)])).flat();
  const browser = selection.specs.length > 0 ? [runBrowserTests(selection)] : [];
  results.push(...(await rust), ...(await Promise.all(browser)));
  return merge(results).map((result) => judge(result, skipsFail));
}

/** Runs what the words behind `npm run COMMAND --` mean; gives the code to exit with. */
async function runTests(command: string, words: readonly string[]): Promise<number> {
  endCommandsOnSignals();
  const asked = readCommandLine(command, words);
  if (asked.selection === undefined) throw new Error(`${command} runs no tests`);
  const results = await runSuites(asked.selection, artefactsFor(asked));
  say(`\n${formatSummary(results)}\n`);
  say(formatTotal(results));
  return anyFailed(results) ? 1 : 0;
}

const [command = '', ...words] = process.argv.slice(2);
process.exitCode = await runTests(command, words);
