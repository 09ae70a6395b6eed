// How this installation of Photofinish is started from a shell, so that every remedy can be copied and pasted, whether
// it is a checkout, a global npm package or one of a project; and what to do once it is installed.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import helper from '../package.json' with { type: 'json' };
import { type BrowserName, TITLES } from './browser-names.ts';
import { shellWord } from './launcher.ts';
import { PLATFORMS, type Platform, pathsOf } from './machine.ts';

/** The parent of `dist/`: a build has all code in there, the source tree one directory down. */
export const ROOT = dirname(import.meta.dirname);
/** The helper's built entry point, named by launchers. */
export const MAIN = join(ROOT, 'dist', 'main.cjs');

/** The location of this Photofinish, and what a shell finds of it. */
export interface OwnInstallation {
  readonly platform: Platform;
  /** The directory of our package: `native-host/` in a checkout, or where npm installed it. */
  readonly root: string;
  readonly searchPath: string;
  readonly exists: (path: string) => boolean;
}

/** The checkout's top directory, null for a package from npm. */
export function checkoutOf({ platform, root, exists }: OwnInstallation): string | null {
  const { dirname: parent, join: below } = pathsOf(platform);
  return exists(below(root, 'build.ts')) ? parent(root) : null;
}

/** npx stores packages in a cache that npm may clear at any time. */
export function isPassing({ platform, root }: Pick<OwnInstallation, 'platform' | 'root'>): boolean {
  return root.split(pathsOf(platform).sep).includes('_npx');
}

/** A shell word, quoted only if necessary. */
export function commandWord(word: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') return /^[\w\\/:.@=,~-]+$/.test(word) ? word : `"${word}"`;
  return /^[\w/:.@=,~+-]+$/.test(word) ? word : shellWord(word);
}

/** Where npm linked the command of a package in `.../node_modules/@SCOPE/NAME`: for one project, or globally. */
function linkedCommands({ platform, root }: OwnInstallation): readonly string[] {
  const { dirname: parent, join: below } = pathsOf(platform);
  const modules = parent(parent(root));
  if (platform === 'win32')
    return [below(modules, '.bin', 'photofinish.cmd'), below(parent(modules), 'photofinish.cmd')];
  // Global packages are in PREFIX/lib/node_modules and their commands in PREFIX/bin.
  return [below(modules, '.bin', 'photofinish'), below(parent(parent(modules)), 'bin', 'photofinish')];
}

/** What to type for `photofinish`: its name if the shell finds it, otherwise its path. */
export function ownCommand(installation: OwnInstallation): string {
  const { platform, root, searchPath, exists } = installation;
  const { delimiter, dirname: parent, join: below } = pathsOf(platform);
  if (checkoutOf(installation) !== null) return commandWord(below(root, 'bin', 'photofinish'), platform);
  const linked = isPassing(installation) ? undefined : linkedCommands(installation).find(exists);
  if (linked === undefined) return `npx ${helper.name}`;
  return searchPath.split(delimiter).includes(parent(linked)) ? 'photofinish' : commandWord(linked, platform);
}

/** The installation of this process. */
export function ownInstallation(platform: Platform): OwnInstallation {
  return { platform, root: ROOT, searchPath: process.env.PATH ?? '', exists: existsSync };
}

/** A command of ours with its arguments, as it can be pasted into the shell that started this process. */
export function commandLine(...args: readonly string[]): string {
  // Other systems, on which only the command line runs, have the paths of Linux.
  const platform = PLATFORMS.find((each) => each === process.platform) ?? 'linux';
  return [ownCommand(ownInstallation(platform)), ...args].join(' ');
}

/** A text from the catalogues, in which a command can be pasted as well. */
export function withOwnCommand(text: string): string {
  return text.replaceAll(/(?<=^|\s)photofinish explain(?=\s)/g, () => commandLine('explain'));
}

interface Installation {
  readonly platform: Platform;
  /** The top directory of the checkout, whose build is loaded by hand; null if the extension comes from a store. */
  readonly checkout: string | null;
  /** Browsers that have a manifest now. */
  readonly browsers: readonly BrowserName[];
  readonly doctorCommand: string;
}

/** The page on which each browser loads an extension from a folder. */
const EXTENSION_PAGES: Record<BrowserName, string> = {
  chromium: 'chrome://extensions',
  chrome: 'chrome://extensions',
  edge: 'edge://extensions',
  brave: 'brave://extensions',
  firefox: 'about:debugging#/runtime/this-firefox',
};

function loading(browser: BrowserName, checkout: string, platform: Platform): readonly string[] {
  const { join } = pathsOf(platform);
  const page = EXTENSION_PAGES[browser];
  return browser === 'firefox'
    ? [
        `${TITLES[browser]}: open ${page}, press "Load Temporary Add-on..." and choose`,
        `  ${join(checkout, 'extension', 'dist', 'firefox', 'manifest.json')}`,
      ]
    : [
        `${TITLES[browser]}: open ${page}, switch on "Developer mode", press "Load unpacked" and choose`,
        `  ${join(checkout, 'extension', 'dist', 'chromium')}`,
      ];
}

/** Lines for a terminal; none if nothing was installed. */
export function nextSteps({ platform, checkout, browsers, doctorCommand }: Installation): readonly string[] {
  if (browsers.length === 0) return [];
  const load =
    checkout === null
      ? ['If the extension is already installed, press "Try again" in its popup.']
      : [
          'Load the extension, unless it is already installed:',
          ...browsers.flatMap((each) => loading(each, checkout, platform).map((line) => `  ${line}`)),
        ];
  return ['', ...load, `Check with: ${doctorCommand}`];
}
