// `npm run check`: types, format, lint and generated files, without running any test.
import { build } from './build.ts';
import { endCommandsOnSignals } from './command.ts';
import { heading, say } from './display.ts';
import { runChecks } from './suites/checks.ts';
import { anyFailed, formatSummary, formatTotal, judge } from './tally.ts';

endCommandsOnSignals();
// Generated types can only be compared with what a build has just written.
if (await build()) {
  heading('Checks');
  const results = [judge(await runChecks(), false)];
  say(`\n${formatSummary(results)}\n${formatTotal(results)}`);
  process.exitCode = anyFailed(results) ? 1 : 0;
} else {
  process.exitCode = 1;
}
