// `photofinish install` and `uninstall`: options in, results out; install/ decides what is written.
import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { DoctorFinding as Finding } from '@photofinish/shared/port/wire';
import { loadSettings, SettingsError } from '../config.ts';
import { BROWSER_NAMES } from '../install/browser-names.ts';
import { browsersOf, type UserDirectories, userDirectories } from '../install/browsers.ts';
import { addonFinding, type InstallSettings } from '../install/doctor.ts';
import { earlierConfig, earlierIds, type InstallResult, install, uninstall } from '../install/install.ts';
import { type InstallRequest, planInstall, targetsOf } from '../install/install-plan.ts';
import { lastingRuntime } from '../install/launcher.ts';
import { type Machine, type Part, thisMachine } from '../install/machine.ts';
import { isChromiumExtensionId } from '../install/manifest.ts';
import {
  checkoutOf,
  commandLine,
  commandWord,
  isPassing,
  MAIN,
  nextSteps,
  ownCommand,
  ownInstallation,
  ROOT,
} from '../install/own-command.ts';
import { userHome } from '../paths.ts';
import { ADDON_FILE, addonFile } from '../quic/addon.ts';
import { INSTALL_OPTIONS, UNINSTALL_OPTIONS } from './command-table.ts';
import { helperSettings } from './helper-caches.ts';
import type { Terminal } from './terminal.ts';
import { type Cell, columnsOf, type Paint, table } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, oneOf, parseCommand } from './usage.ts';

const INSTALL_SCHEMA = 'photofinish.install/1';

/**
 * An absolute profile directory; it must exist, because a mistyped one would be created and never used by a browser.
 */
export function readUserDataDirectory(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (process.platform === 'win32')
    throw new Complaint('bad-usage', '--user-data-dir has no effect on Windows: browsers read the registry');
  const path = resolve(text);
  const stat = text === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new Complaint('bad-directory', `--user-data-dir: there is no directory "${text}"`);
  if (!stat.isDirectory())
    throw new Complaint('bad-directory', `--user-data-dir takes a directory, not the file "${text}"`);
  return path;
}

/** Chromium's ids of the extension with other keys than our own. */
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
  const browsers = names.map((name) => oneOf('bad-browser', '--browser', name, BROWSER_NAMES));
  const userDataDirectory = readUserDataDirectory(userDataDir);
  if (userDataDirectory !== null && browsers.includes('firefox'))
    throw new Complaint(
      'bad-usage',
      '--user-data-dir is for Chromium-based browsers; Firefox reads manifests from the home directory',
    );
  if (userDataDirectory !== null && browsers.length > 1)
    throw new Complaint('bad-usage', '--user-data-dir is a single profile; give at most one --browser');
  return { browsers, userDataDirectory, extensionIds: readExtensionIds(extensionIds) };
}

function readConfig(text: string | undefined): string | null {
  if (text === undefined) return null;
  const path = resolve(text);
  if (text === '' || !statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new Complaint('bad-file', `--config takes an existing file, not "${text}"`);
  const missing = helperSettings(path).ca.find((file) => !existsSync(file));
  if (missing !== undefined) throw new Complaint('bad-config', `${path}: ca: there is no file ${missing}`);
  return path;
}

export function noArguments(command: string, positionals: readonly string[]): void {
  if (positionals[0] !== undefined)
    throw new Complaint('bad-usage', `${command} takes no argument "${positionals[0]}"`);
}

function resultText(result: InstallResult, next: readonly string[], paint: Paint): string {
  const colours = { written: 'green', removed: 'green', skipped: 'dim', failed: 'red' } as const;
  const rows = result.browsers.map(({ title, state, path, registryKey, reason }): Cell[] => [
    title,
    { text: state, paint: (text) => paint(colours[state], text) },
    [state === 'skipped' ? null : (registryKey ?? path), reason].filter((part) => part !== null).join(': '),
  ]);
  const { path, state } = result.launcher;
  const reason = result.launcherReason === null ? '' : `: ${result.launcherReason}`;
  const launcher = state === 'kept' && reason === '' ? [] : ['', `Launcher ${state}: ${path}${reason}`];
  return [...table(columnsOf(['BROWSER', 'RESULT', '']), rows, paint), ...launcher, ...next].join('\n');
}

interface Outcome {
  readonly command: 'install' | 'uninstall';
  /** Only of an installation: what is kept of the one that was replaced. */
  readonly kept?: InstallSettings;
  readonly result: InstallResult;
  readonly json: boolean;
  /** The next steps for the user, line by line. */
  readonly next: readonly string[];
  /** Whether the installation can race; not checked when uninstalling. */
  readonly addon?: Finding;
}

function keptText({ config, extensionIds }: InstallSettings): readonly string[] {
  const options = [
    ...(config === null ? [] : [`--config ${config}`]),
    ...extensionIds.map((id) => `--extension-id ${id}`),
  ];
  return options.length === 0 ? [] : ['', `Kept from before, until uninstalled: ${options.join(' ')}`];
}

function report({ command, kept, result, json, next, addon }: Outcome, terminal: Terminal): void {
  if (json)
    terminal.result(
      JSON.stringify({
        schema: INSTALL_SCHEMA,
        command,
        ...result,
        ...(kept && { kept }),
        ...(addon && { addon }),
      }),
    );
  else terminal.result(resultText(result, [...(kept ? keptText(kept) : []), ...next], terminal.paint));
  // The browser will find the helper; that it cannot race must be reported before the first click.
  if (addon?.state === 'problem') terminal.error('no-addon', `${addon.text}. ${addon.remedy}`);
}

/** Reports on stderr what failed; returns whether anything did. */
function complain({ launcher, launcherReason, browsers }: InstallResult, terminal: Terminal): boolean {
  const failures =
    launcher.state === 'failed'
      ? [`the launcher ${launcher.path}: ${launcherReason}`]
      : browsers
          .filter(({ state }) => state === 'failed')
          .map(({ title, path, reason }) => `${title}, ${path}: ${reason}`);
  for (const failure of failures) terminal.error('cannot-write', failure);
  return failures.length > 0;
}

function readMachine(): { machine: Machine; directories: UserDirectories } {
  const machine = thisMachine();
  if (machine === null)
    throw new Complaint('bad-usage', `this system (${process.platform}) is not supported`);
  return { machine, directories: userDirectories(machine.platform, process.env, userHome()) };
}

/** The doctor command for this installation, and what the browser still needs. */
function stepsAfter(
  request: InstallRequest,
  result: InstallResult,
  { platform }: Machine,
): readonly string[] {
  const { userDataDirectory, extensionIds } = request;
  const where =
    userDataDirectory === null ? [] : ['--user-data-dir', commandWord(userDataDirectory, platform)];
  const ids = extensionIds.flatMap((id) => ['--extension-id', id]);
  const here = ownInstallation(platform);
  return nextSteps({
    platform,
    checkout: checkoutOf(here),
    browsers: result.browsers.filter(({ state }) => state === 'written').map(({ browser }) => browser),
    doctorCommand: [ownCommand(here), 'doctor', ...where, ...ids].join(' '),
  });
}

/** The helper with its addon if it must be copied to a permanent location; null if it can stay. */
function partsToCopy({ platform }: Machine): readonly Part[] | null {
  if (!isPassing({ platform, root: ROOT })) return null;
  const addon = addonFile();
  return [{ from: ROOT, at: '' }, ...(addon === null ? [] : [{ from: addon, at: join('dist', ADDON_FILE) }])];
}

function noBrowserText(directories: UserDirectories): string {
  const known = browsersOf(directories);
  const profiles = known.map(({ profileDirectories }) => profileDirectories[0] ?? '').join(', ');
  const programs = known.flatMap((browser) => browser.programs);
  const onPath = programs.length === 0 ? '' : `, and for the programs ${programs.join(', ')}`;
  return `no browser was found (looked for profiles in ${profiles}${onPath}); name one with --browser`;
}

/**
 * What a repeated installation keeps if the command does not give it again: it may be run only to update. A settings
 * file that does not exist any more would keep the helper from starting.
 */
function keptOf(
  request: InstallRequest,
  given: string | null,
  directories: UserDirectories,
  machine: Machine,
): InstallSettings {
  const exists = (path: string): boolean => machine.disk.kindOf(path) !== 'nothing';
  const config = given === null ? earlierConfig(request, directories, machine) : null;
  const ids = targetsOf(request, directories, exists).flatMap(({ browser }) => earlierIds(browser, machine));
  return {
    config: config !== null && exists(config) ? config : null,
    extensionIds: [...new Set(ids)].filter((id) => !request.extensionIds.includes(id)),
  };
}

/** Runs `install`. The helper must have been built. */
export function runInstall(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('install', args, INSTALL_OPTIONS);
  noArguments('install', positionals);
  const request = readRequest(values.browser ?? [], values['user-data-dir'], values['extension-id']);
  const given = readConfig(values.config);
  if (!existsSync(MAIN))
    throw new Complaint(
      'not-built',
      `the helper is not built: ${basename(MAIN)} is missing; run "npm run build"`,
    );
  const { machine, directories } = readMachine();
  const exists = (path: string): boolean => machine.disk.kindOf(path) !== 'nothing';
  const runtime = lastingRuntime(process.execPath, exists);
  const kept = keptOf(request, given, directories, machine);
  const helper = { runtime, main: MAIN, config: given ?? kept.config, copy: partsToCopy(machine) };
  const plan = planInstall(request, helper, directories, exists, (browser) => earlierIds(browser, machine));
  const result = install(plan, machine);
  const extensionIds = [...new Set([...kept.extensionIds, ...request.extensionIds])];
  const next = stepsAfter({ ...request, extensionIds }, result, machine);
  const addon = addonFinding(checkoutOf(ownInstallation(machine.platform)) !== null);
  report({ command: 'install', kept, result, json: values.json ?? false, next, addon }, terminal);
  if (plan.manifests.length === 0) {
    terminal.error('no-browser', noBrowserText(directories));
    return EXIT_FAILED;
  }
  return complain(result, terminal) ? EXIT_FAILED : EXIT_OK;
}

/** What stays although the launcher is gone: the host cache that its settings name, and how to clear it. */
function remainingCache(config: string | null, { platform }: Machine): readonly string[] {
  let path: string;
  try {
    path = loadSettings(config).cachePath;
  } catch (error) {
    if (error instanceof SettingsError) return [];
    throw error;
  }
  if (!existsSync(path)) return [];
  const where = config === null ? [] : ['--cache', commandWord(path, platform)];
  return ['', `The host cache stays: ${path}`, `Clear it with: ${commandLine('cache', 'clear', ...where)}`];
}

/** Runs `uninstall`; having nothing to remove is not a failure. */
export function runUninstall(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('uninstall', args, UNINSTALL_OPTIONS);
  noArguments('uninstall', positionals);
  const request = readRequest(values.browser ?? [], values['user-data-dir'], undefined);
  const { machine, directories } = readMachine();
  const config = earlierConfig(request, directories, machine);
  const result = uninstall(request, directories, machine);
  const next = result.launcher.state === 'removed' ? remainingCache(config, machine) : [];
  report({ command: 'uninstall', result, json: values.json ?? false, next }, terminal);
  return complain(result, terminal) ? EXIT_FAILED : EXIT_OK;
}
