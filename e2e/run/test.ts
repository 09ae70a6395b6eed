// `npm test`: builds, then runs every suite there is, whatever failed before it, and ends with one plain line of totals.
import { build } from './build.ts';
import { endCommandsOnSignals } from './command.ts';
import { heading, say } from './display.ts';
import { runBrowserTests } from './suites/browser.ts';
import { runCargoTests } from './suites/cargo.ts';
import { runChecks } from './suites/checks.ts';
import { runNodeTests } from './suites/node.ts';
import { anyFailed, formatSummary, formatTotal, judge, type SuiteResult } from './tally.ts';

const WORKSPACES_WITH_UNIT_TESTS = ['shared', 'extension', 'native-host', 'e2e'];

/** Build servers set this variable; there everything needed is meant to be present, so that nothing is skipped. */
const { CI = '' } = process.env;
const skipsFail = !['', '0', 'false'].includes(CI);

async function runSuites(): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  heading('Checks');
  results.push(await runChecks());
  heading('Unit tests');
  for (const workspace of WORKSPACES_WITH_UNIT_TESTS) results.push(await runNodeTests(workspace));
  heading('Rust tests');
  results.push(await runCargoTests());
  heading('Browser tests');
  results.push(await runBrowserTests());
  return results.map((result) => judge(result, skipsFail));
}

endCommandsOnSignals();
if (await build()) {
  const results = await runSuites();
  say(`\n${formatSummary(results)}\n`);
  say(formatTotal(results));
  process.exitCode = anyFailed(results) ? 1 : 0;
} else {
  // Whoever reads only the last line must not take silence for success.
  say('\n0 passed, 1 failed');
  process.exitCode = 1;
}
