// The command `photofinish`: finds the command, runs it, and turns what it gives into exit codes. Each command loads
// only when it is called, so that help and mistakes answer at once.
import '@photofinish/shared/english';
import { COMMANDS, type Command, helpText } from './cli/help.ts';
import { processTerminal, type Terminal } from './cli/terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, listed } from './cli/usage.ts';
import { VERSION } from './version.ts';

async function runCommand(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  switch (command) {
    case 'race':
      return (await import('./cli/racing.ts')).runRace(args, terminal);
    case 'explain':
      return (await import('./cli/explain.ts')).runExplain(args, terminal);
    case 'cache':
      return (await import('./cli/caching.ts')).runCache(args, terminal);
    case 'install':
      return (await import('./cli/installing.ts')).runInstall(args, terminal);
    case 'uninstall':
      return (await import('./cli/installing.ts')).runUninstall(args, terminal);
    case 'doctor':
      return (await import('./cli/examining.ts')).runDoctor(args, terminal);
    case 'report':
      return (await import('./cli/reporting.ts')).runReport(args, terminal);
  }
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  return options.includes('--help') || options.includes('-h');
}

/** Runs one command line; gives the exit code. */
async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) throw new Complaint('bad-usage', 'a command is missing; see "photofinish --help"');
  if (first === '--version') {
    terminal.result(`photofinish ${VERSION}`);
    return EXIT_OK;
  }
  const named = first === 'help' ? rest[0] : first;
  const command = COMMANDS.find((name) => name === named) ?? null;
  const overview = first === '--help' || first === '-h' || (first === 'help' && named === undefined);
  if (command === null && !overview)
    throw first.startsWith('-')
      ? new Complaint('bad-usage', `unknown option "${first}"; see "photofinish --help"`)
      : new Complaint('unknown-command', `"${named}" is not a command; take ${listed(COMMANDS)}`);
  if (command === null || first === 'help' || asksForHelp(rest)) {
    terminal.result(helpText(command).trimEnd());
    return EXIT_OK;
  }
  return runCommand(command, rest, terminal);
}

const terminal = processTerminal();
try {
  process.exitCode = await run(process.argv.slice(2), terminal);
} catch (error) {
  if (error instanceof Complaint) {
    terminal.error(error.code, error.message);
    process.exitCode = error.exitCode;
  } else {
    terminal.error('internal', error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = EXIT_FAILED;
  }
}
