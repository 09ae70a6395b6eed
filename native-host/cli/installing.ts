// `photofinish install` and `uninstall`: options in, results out; what is written is decided in install/.
import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import {
  BROWSER_NAMES,
  type BrowserName,
  isChromiumExtensionId,
  type UserDirectories,
} from '../install/browser.ts';
import { browsersOf, userDirectories } from '../install/browsers.ts';
import { type InstallResult, install, uninstall } from '../install/install.ts';
import { type Machine, type Part, thisMachine } from '../install/machine.ts';
import { nextSteps } from '../install/next-steps.ts';
import {
  checkoutOf,
  commandWord,
  isPassing,
  MAIN,
  ownCommand,
  ROOT,
  surroundings,
} from '../install/own-command.ts';
import { type InstallRequest, planInstall } from '../install/plan.ts';
import { lastingRuntime } from '../install/runtime.ts';
import { ADDON_FILE, addonFile } from '../quic/addon.ts';
import { userHome } from '../user-home.ts';
import type { Terminal } from './terminal.ts';
import { type Paint, table } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, listed, parseCommand } from './usage.ts';

export const INSTALL_SCHEMA = 'photofinish.install/1';

const OPTIONS = {
  browser: { type: 'string', multiple: true },
  'user-data-dir': { type: 'string' },
  json: { type: 'boolean' },
} as const;
const INSTALL_OPTIONS = {
  ...OPTIONS,
  config: { type: 'string' },
  'extension-id': { type: 'string', multiple: true },
} as const;

function readBrowsers(names: readonly string[]): readonly BrowserName[] {
  return names.map((name) => {
    const known = BROWSER_NAMES.find((browser) => browser === name);
    if (known === undefined)
      throw new Complaint('bad-browser', `--browser takes ${listed(BROWSER_NAMES)}, not "${name}"`);
    return known;
  });
}

/** An absolute profile directory; refused where a file is in the way, and where browsers would not look there. */
export function readUserDataDirectory(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (process.platform === 'win32')
    throw new Complaint('bad-usage', '--user-data-dir is of no use on Windows: browsers read the registry');
  const path = resolve(text);
  if (text === '' || (existsSync(path) && !statSync(path).isDirectory()))
    throw new Complaint('bad-directory', `--user-data-dir takes a directory, not "${text}"`);
  return path;
}

/** Chromium's ids of the extension under other keys than our own. */
export function readExtensionIds(texts: readonly string[] = []): readonly string[] {
  for (const text of texts)
    if (!isChromiumExtensionId(text))
      throw new Complaint('bad-extension-id', `--extension-id takes 32 letters from a to p, not "${text}"`);
  return texts;
}

function readRequest(
  names: readonly string[],
  userDataDir: string | undefined,
  extensionIds: readonly string[] | undefined,
): InstallRequest {
  const browsers = readBrowsers(names);
  const userDataDirectory = readUserDataDirectory(userDataDir);
  if (userDataDirectory !== null && browsers.includes('firefox'))
    throw new Complaint(
      'bad-usage',
      '--user-data-dir is for Chromium and its kin; Firefox reads manifests from the home directory',
    );
  if (userDataDirectory !== null && browsers.length > 1)
    throw new Complaint('bad-usage', '--user-data-dir is one profile, so give one --browser at most');
  return { browsers, userDataDirectory, extensionIds: readExtensionIds(extensionIds) };
}

function readConfig(text: string | undefined): string | null {
  if (text === undefined) return null;
  const path = resolve(text);
  if (!existsSync(path) || !statSync(path).isFile())
    throw new Complaint('bad-file', `--config takes an existing file, not "${text}"`);
  return path;
}

function noArguments(command: string, positionals: readonly string[]): void {
  if (positionals[0] !== undefined)
    throw new Complaint('bad-usage', `${command} takes no argument "${positionals[0]}"`);
}

function resultText(result: InstallResult, next: readonly string[], paint: Paint): string {
  const colours = { written: 'green', removed: 'green', skipped: 'dim', failed: 'red' } as const;
  const rows = result.browsers.map(({ title, state, path, registryKey, reason }) => [
    { text: title },
    { text: state, paint: (text: string) => paint(colours[state], text) },
    {
      text: [state === 'skipped' ? null : (registryKey ?? path), reason]
        .filter((part) => part !== null)
        .join(': '),
    },
  ]);
  const columns = ['BROWSER', 'RESULT', ''].map((title) => ({ title, align: 'left' as const }));
  const { path, state } = result.launcher;
  const reason = result.launcherReason === null ? '' : `: ${result.launcherReason}`;
  const launcher = state === 'kept' && reason === '' ? [] : ['', `Launcher ${state}: ${path}${reason}`];
  return [...table(columns, rows, paint), ...launcher, ...next].join('\n');
}

interface Outcome {
  readonly command: 'install' | 'uninstall';
  readonly result: InstallResult;
  readonly json: boolean;
  /** What to do now, line by line. */
  readonly next: readonly string[];
}

function report({ command, result, json, next }: Outcome, terminal: Terminal): void {
  if (json) terminal.result(JSON.stringify({ schema: INSTALL_SCHEMA, command, ...result }));
  else terminal.result(resultText(result, next, terminal.paint));
}

function anyFailed(result: InstallResult): boolean {
  return result.launcher.state === 'failed' || result.browsers.some(({ state }) => state === 'failed');
}

function readMachine(): { machine: Machine; directories: UserDirectories } {
  const machine = thisMachine();
  if (machine === null)
    throw new Complaint('bad-usage', `browsers on this system (${process.platform}) are not known`);
  return { machine, directories: userDirectories(machine.platform, process.env, userHome()) };
}

/** The doctor's own command for what was just installed, and what the browser still needs. */
function stepsAfter(
  request: InstallRequest,
  result: InstallResult,
  { platform }: Machine,
): readonly string[] {
  const { userDataDirectory, extensionIds } = request;
  const where =
    userDataDirectory === null ? [] : ['--user-data-dir', commandWord(userDataDirectory, platform)];
  const ids = extensionIds.flatMap((id) => ['--extension-id', id]);
  const here = surroundings(platform);
  return nextSteps({
    platform,
    checkout: checkoutOf(here),
    browsers: result.browsers.filter(({ state }) => state === 'written').map(({ browser }) => browser),
    doctorCommand: [ownCommand(here), 'doctor', ...where, ...ids].join(' '),
  });
}

/** The helper with its addon, where it must be copied before it is relied on; null where it may stay. */
function partsToCopy({ platform }: Machine): readonly Part[] | null {
  if (!isPassing({ platform, root: ROOT })) return null;
  const addon = addonFile();
  return [{ from: ROOT, at: '' }, ...(addon === null ? [] : [{ from: addon, at: join('dist', ADDON_FILE) }])];
}

/** Runs `install`. The helper must have been built. */
export function runInstall(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('install', args, INSTALL_OPTIONS);
  noArguments('install', positionals);
  const request = readRequest(values.browser ?? [], values['user-data-dir'], values['extension-id']);
  const config = readConfig(values.config);
  if (!existsSync(MAIN))
    throw new Complaint(
      'bad-file',
      `the helper is not built: ${basename(MAIN)} is missing; run "npm run build"`,
    );
  const { machine, directories } = readMachine();
  const exists = (path: string): boolean => machine.disk.kindOf(path) !== 'nothing';
  const runtime = lastingRuntime(process.execPath, exists);
  const helper = { runtime, main: MAIN, config, copy: partsToCopy(machine) };
  const plan = planInstall(request, helper, directories, exists);
  const result = install(plan, machine);
  const next = stepsAfter(request, result, machine);
  report({ command: 'install', result, json: values.json ?? false, next }, terminal);
  if (plan.manifests.length === 0) {
    const places = browsersOf(directories).map(({ profileDirectories }) => profileDirectories[0] ?? '');
    terminal.error(
      'cannot-write',
      `no browser was found for this user (looked for ${places.join(', ')}); name one with --browser`,
    );
    return EXIT_FAILED;
  }
  return anyFailed(result) ? EXIT_FAILED : EXIT_OK;
}

/** Runs `uninstall`; nothing to remove is no failure. */
export function runUninstall(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('uninstall', args, OPTIONS);
  noArguments('uninstall', positionals);
  const request = readRequest(values.browser ?? [], values['user-data-dir'], undefined);
  const { machine, directories } = readMachine();
  const result = uninstall(request, directories, machine);
  report({ command: 'uninstall', result, json: values.json ?? false, next: [] }, terminal);
  return anyFailed(result) ? EXIT_FAILED : EXIT_OK;
}
