// The command `photofinish`: finds the command, runs it, and maps results to exit codes. Each command is loaded only
// when it is called, so that help and usage errors are fast.
import '@photofinish/shared/language/english';
import type { Command } from './cli/command-table.ts';
import { processTerminal, type Terminal } from './cli/terminal.ts';
import { Complaint, didYouMean, EXIT_FAILED, EXIT_OK, listed } from './cli/usage.ts';
import { commandLine } from './install/own-command.ts';
import { VERSION } from './version.ts';

async function runCommand(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  switch (command) {
    case 'race':
      return (await import('./cli/race.ts')).runRace(args, terminal);
    case 'survey':
      return (await import('./cli/survey.ts')).runSurvey(args, terminal);
    case 'explain':
      return (await import('./cli/explain.ts')).runExplain(args, terminal);
    case 'cache':
      return (await import('./cli/cache.ts')).runCache(args, terminal);
    case 'network':
      return (await import('./cli/network.ts')).runNetwork(args, terminal);
    case 'install':
      return (await import('./cli/install.ts')).runInstall(args, terminal);
    case 'uninstall':
      return (await import('./cli/install.ts')).runUninstall(args, terminal);
    case 'doctor':
      return (await import('./cli/doctor.ts')).runDoctor(args, terminal);
    case 'report':
      return (await import('./cli/report.ts')).runReport(args, terminal);
    case 'codes':
      return (await import('./cli/codes.ts')).runCodes(args, terminal);
    case 'completion':
      return (await import('./cli/completion.ts')).runCompletion(args, terminal);
  }
}

function asksFor(args: readonly string[], ...names: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  return options.some((option) => names.includes(option));
}

async function showHelp(command: Command | null, terminal: Terminal): Promise<number> {
  const { helpText } = await import('./cli/help.ts');
  terminal.result(helpText(command));
  return EXIT_OK;
}

async function commandNamed(name: string): Promise<Command> {
  const { COMMANDS } = await import('./cli/command-table.ts');
  const command = COMMANDS.find((each) => each === name);
  if (command !== undefined) return command;
  if (name.startsWith('-')) {
    const near = didYouMean(name.replace(/^-+/, ''), ['help', 'version'], '--');
    throw new Complaint('bad-usage', `unknown option "${name}"${near || `; see "${commandLine('--help')}"`}`);
  }
  const near = didYouMean(name, [...COMMANDS, 'help']);
  throw new Complaint(
    'unknown-command',
    `"${name}" is not a command${near || `; there are ${listed(COMMANDS)}`}`,
  );
}

/** Runs one command line; returns the exit code. */
async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...rest] = argv;
  if (first === '-V' || first === '--version') {
    terminal.result(`photofinish ${VERSION}`);
    return EXIT_OK;
  }
  // Without arguments, show the overview.
  if (first === undefined || first === '-h' || first === '--help') return showHelp(null, terminal);
  if (first === 'help') {
    const [name] = rest;
    const overview = name === undefined || asksFor([name], '-h', '--help');
    return showHelp(overview ? null : await commandNamed(name), terminal);
  }
  const command = await commandNamed(first);
  return asksFor(rest, '-h', '--help') ? showHelp(command, terminal) : runCommand(command, rest, terminal);
}

const terminal = processTerminal();
try {
  const code = await run(process.argv.slice(2), terminal);
  // A result that could not be written has set it already, maybe long before the command ended.
  process.exitCode ||= code;
} catch (error) {
  if (error instanceof Complaint) {
    terminal.error(error.code, error.message);
    process.exitCode = error.exitCode;
  } else {
    terminal.error('internal', error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = EXIT_FAILED;
  }
}
