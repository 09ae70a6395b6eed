// `photofinish install` and `uninstall`: options in, results out; what is written is decided in install/.
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import {
  BROWSER_NAMES,
  type BrowserName,
  browsersOf,
  isChromiumExtensionId,
  userDirectories,
} from '../install/browsers.ts';
import { type InstallResult, install, uninstall } from '../install/install.ts';
import { shellWord } from '../install/manifest.ts';
import { type InstallRequest, planInstall } from '../install/plan.ts';
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
  'extension-id': { type: 'string' },
} as const;

function readBrowsers(names: readonly string[]): readonly BrowserName[] {
  return names.map((name) => {
    const known = BROWSER_NAMES.find((browser) => browser === name);
    if (known === undefined)
      throw new Complaint('bad-browser', `--browser takes ${listed(BROWSER_NAMES)}, not "${name}"`);
    return known;
  });
}

/** An absolute profile directory; refused where a file is in the way. */
export function readUserDataDirectory(text: string | undefined): string | null {
  if (text === undefined) return null;
  const path = resolve(text);
  if (text === '' || (existsSync(path) && !statSync(path).isDirectory()))
    throw new Complaint('bad-directory', `--user-data-dir takes a directory, not "${text}"`);
  return path;
}

/** Chromium's id of an extension built under another key. */
export function readExtensionId(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!isChromiumExtensionId(text))
    throw new Complaint('bad-extension-id', `--extension-id takes 32 letters from a to p, not "${text}"`);
  return text;
}

function readRequest(
  names: readonly string[],
  userDataDir: string | undefined,
  extensionId: string | undefined,
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
  return { browsers, userDataDirectory, extensionId: readExtensionId(extensionId) };
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

function resultText(result: InstallResult, command: string, doctorCommand: string, paint: Paint): string {
  const colours = { written: 'green', removed: 'green', skipped: 'dim', failed: 'red' } as const;
  const rows = result.browsers.map(({ title, state, path, reason }) => [
    { text: title },
    { text: state, paint: (text: string) => paint(colours[state], text) },
    { text: [state === 'skipped' ? null : path, reason].filter((part) => part !== null).join(': ') },
  ]);
  const columns = ['BROWSER', 'RESULT', ''].map((title) => ({ title, align: 'left' as const }));
  const { path, state } = result.launcher;
  const reason = result.launcherReason === null ? '' : `: ${result.launcherReason}`;
  const launcher = state === 'kept' && reason === '' ? [] : ['', `Launcher ${state}: ${path}${reason}`];
  const written = result.browsers.some((browser) => browser.state === 'written');
  const next =
    command === 'install' && written ? [`Restart the browser, then check with: ${doctorCommand}`] : [];
  return [...table(columns, rows, paint), ...launcher, ...next].join('\n');
}

interface Outcome {
  readonly command: 'install' | 'uninstall';
  readonly request: InstallRequest;
  readonly result: InstallResult;
  readonly json: boolean;
}

function report({ command, request, result, json }: Outcome, terminal: Terminal): void {
  const { userDataDirectory } = request;
  const where = userDataDirectory === null ? '' : ` --user-data-dir ${shellWord(userDataDirectory)}`;
  if (json) terminal.result(JSON.stringify({ schema: INSTALL_SCHEMA, command, ...result }));
  else terminal.result(resultText(result, command, `photofinish doctor${where}`, terminal.paint));
}

function anyFailed(result: InstallResult): boolean {
  return result.launcher.state === 'failed' || result.browsers.some(({ state }) => state === 'failed');
}

/** Runs `install`; `main` is the helper's built entry, which must exist. */
export function runInstall(args: readonly string[], main: string, terminal: Terminal): number {
  const { values, positionals } = parseCommand('install', args, INSTALL_OPTIONS);
  noArguments('install', positionals);
  const request = readRequest(values.browser ?? [], values['user-data-dir'], values['extension-id']);
  const config = readConfig(values.config);
  if (!existsSync(main))
    throw new Complaint(
      'bad-file',
      `the helper is not built: ${basename(main)} is missing; run "npm run build"`,
    );
  const directories = userDirectories(process.env, homedir());
  const plan = planInstall(request, { runtime: process.execPath, main, config }, directories, existsSync);
  const result = install(plan);
  report({ command: 'install', request, result, json: values.json ?? false }, terminal);
  if (plan.manifests.length === 0) {
    const places = browsersOf(directories).map(({ profileDirectories }) => join(profileDirectories[0] ?? ''));
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
  const result = uninstall(request, userDirectories(process.env, homedir()));
  report({ command: 'uninstall', request, result, json: values.json ?? false }, terminal);
  return anyFailed(result) ? EXIT_FAILED : EXIT_OK;
}
