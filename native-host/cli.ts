// The command `photofinish`: finds the command, runs it, and maps results to exit codes. Each command is loaded only
// when it is called, so that help and usage errors are fast.
import '@photofinish/shared/language/english';
import type { Command } from './cli/command-table.ts';
import { processTerminal, type Terminal } from './cli/terminal.ts';
import { Complaint, didYouMean, EXIT_FAILED, EXIT_OK, listed } from './cli/usage.ts';
import { commandLine } from './install/own-command.ts';
import { VERSION } from './version.ts';

type Run = (args: readonly string[], terminal: Terminal) => number | Promise<number>;

const LOAD: Readonly<Record<Command, () => Promise<Run>>> = {
  race: async () => (await import('./cli/race.ts')).runRace,
  survey: async () => (await import('./cli/survey.ts')).runSurvey,
  explain: async () => (await import('./cli/explain.ts')).runExplain,
  report: async () => (await import('./cli/report.ts')).runReport,
  cache: async () => (await import('./cli/cache.ts')).runCache,
  network: async () => (await import('./cli/network.ts')).runNetwork,
  install: async () => (await import('./cli/install.ts')).runInstall,
  uninstall: async () => (await import('./cli/install.ts')).runUninstall,
  doctor: async () => (await import('./cli/doctor.ts')).runDoctor,
  codes: async () => (await import('./cli/codes.ts')).runCodes,
  completion: async () => (await import('./cli/completion.ts')).runCompletion,
};

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
  if (asksFor(rest, '-h', '--help')) return showHelp(command, terminal);
  const runCommand = await LOAD[command]();
  return runCommand(rest, terminal);
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
