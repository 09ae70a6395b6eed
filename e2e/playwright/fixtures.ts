// The public entry point for other people's Playwright tests; `photofinish.d.ts` is its contract. Playwright's `test`
// in a Chromium with Photofinish: a persistent context, the only kind that loads extensions, with a profile that exists
// for one test. Firefox and WebKit run without the extension.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import helper from '../../native-host/package.json' with { type: 'json' };
import type { PhotofinishFixtures, PhotofinishOptions } from './photofinish.d.ts';
import '@photofinish/shared/language/english';
import { REPORT_FORMATS } from '@photofinish/shared/report/formats';
import type { Report } from '@photofinish/shared/report/report';
import {
  type BrowserContext,
  type BrowserContextOptions,
  test as base,
  chromium,
  expect,
  type Page,
  type TestInfo,
} from '@playwright/test';
import { saltPath } from '../../native-host/network/key.ts';
import { runOrThrow } from '../child-process.ts';
import { copyInFullMode, hasExtension, machineSalt, registerContext, reportOf } from './extension.ts';
import { adoption, originsOf } from './matchers.ts';
import { watchResponses } from './responses.ts';

const CHECKOUT_HELPER = '../../../native-host/bin/photofinish';
const REMEDY = 'set photofinishOptions.helper to false.';

const manifestSchema = v.object({
  name: v.string(),
  version: v.string(),
  bin: v.fallback(v.nullable(v.object({ photofinish: v.string() })), null),
});

/**
 * The settings of the helper for the option `helper`; null: a test runs without it, as all do on Windows. Throws if it
 * was given settings there.
 */
export function helperSettings(
  option: Required<PhotofinishOptions>['helper'],
  platform: NodeJS.Platform,
): Readonly<Record<string, unknown>> | null {
  if (option === false) return null;
  if (platform !== 'win32') return option === true ? {} : option;
  // Browsers there read a user's registry, so that a test's profile cannot have a helper of its own.
  if (option === true) return null;
  throw new Error(`Tests on Windows run without the helper, so it cannot be given settings; ${REMEDY}`);
}

const majorOf = (version: string): string => version.replace(/\..*/, '');

/**
 * The helper's command, for the built fixtures in the file `from`: that of their checkout, or of the package beside
 * them. Throws if there is none, or if it is not the one that these fixtures need.
 */
export function helperCommand(from: string): readonly [file: string, ...args: string[]] {
  const checkout = fileURLToPath(new URL(CHECKOUT_HELPER, from));
  if (existsSync(checkout)) return [checkout];
  const wanted = `${helper.name}@${majorOf(helper.version)}`;
  const require = createRequire(from);
  const file = ((): string => {
    try {
      return require.resolve(`${helper.name}/package.json`);
    } catch (error) {
      throw new Error(`The helper was not found: install the package ${wanted}, or ${REMEDY}`, {
        cause: error,
      });
    }
  })();
  const { name, version, bin } = v.parse(manifestSchema, require(file));
  // npm can install another package under this name, as an alias.
  if (name !== helper.name || majorOf(version) !== majorOf(helper.version) || bin === null)
    throw new Error(
      `${file} is of ${name}@${version}, not the helper: install ${wanted} instead, or ${REMEDY}`,
    );
  return [process.execPath, join(dirname(file), bin.photofinish)];
}

export { adoption, expect } from './matchers.ts';

/** Beside the packaged fixtures, or in the checkout where they were built. */
const EXTENSION_PLACES = ['../extension', '../../../extension/dist/chromium'];

/** The directory of the built extension. Throws if there is none. */
function extensionDirectory(): string {
  const places = EXTENSION_PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(join(place, 'manifest.json')));
  if (found === undefined)
    throw new Error(`Photofinish's extension was not found at ${places.join(' or ')}; build it first.`);
  return found;
}

/** The part of the document `photofinish.install/1` that is used. */
interface InstallDocument {
  readonly addon: { readonly state: string; readonly text: string; readonly remedy: string | null };
}

/**
 * The settings of a test's helper, whose host cache is in `dir` unless they name one, with this machine's salt beside it;
 * and whether the helper will name a network as in other tests.
 */
async function settleCache(dir: string, { cache: named, ...settings }: Readonly<Record<string, unknown>>) {
  // A relative path begins in the settings' directory, which is the test's own: a salt is there only if the test put it
  // there.
  if (named !== undefined)
    return {
      contents: { cache: named, ...settings },
      namesNetworks: existsSync(saltPath(resolve(dir, String(named)))),
    };
  const cache = join(dir, 'cache.db');
  const salt = machineSalt();
  if (salt !== null) await writeFile(saltPath(cache), salt, { mode: 0o600 });
  return { contents: { cache, ...settings }, namesNetworks: salt !== null };
}

/**
 * Installs the helper into a profile, with its settings in the same directory. Returns whether it names a network as in
 * other tests.
 */
async function installHelper(dir: string, settings: Readonly<Record<string, unknown>>): Promise<boolean> {
  const profile = join(dir, 'profile');
  const config = join(dir, 'config.json');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  const { contents, namesNetworks } = await settleCache(dir, settings);
  await writeFile(config, `${JSON.stringify(contents, null, 2)}\n`, { mode: 0o600 });
  const [file, ...args] = helperCommand(import.meta.url);
  const where = ['--browser', 'chromium', '--user-data-dir', profile, '--config', config];
  const stdout = await runOrThrow(file, [...args, 'install', '--json', ...where]);
  const { addon } = JSON.parse(stdout) as InstallDocument;
  // With a helper that cannot race, tests of races would pass or fail for the wrong reason.
  if (addon.state === 'problem')
    throw new Error(
      `Photofinish's helper cannot race: ${addon.text}. ${addon.remedy} Or set photofinishOptions.helper to false.`,
    );
  return namesNetworks;
}

const DEFAULTS = { helper: true, attachReport: true };
const WELCOME_TIMEOUT_MS = 15_000;

const WELCOME = '/welcome/welcome.html';

/** The empty page with which a browser starts, by its context: a test expects only pages that it opened. */
const firstPages = new WeakMap<BrowserContext, Page>();

/**
 * A fresh installation opens its welcome page, an unexpected page for the test, which is closed. Returns the extension's
 * origin.
 */
async function closeWelcome(context: BrowserContext): Promise<string> {
  const welcome = () => context.pages().find((page) => page.url().endsWith(WELCOME));
  await expect.poll(() => welcome() !== undefined, { timeout: WELCOME_TIMEOUT_MS }).toBe(true);
  const extension = welcome()?.url().slice(0, -WELCOME.length) ?? '';
  await welcome()?.close();
  return extension;
}

/** The options with their defaults. Throws for one that does not exist, which would seem to have been heeded. */
export function checkedOptions(options: PhotofinishOptions): Required<PhotofinishOptions> {
  const other = Object.keys(options).find((name) => !(name in DEFAULTS));
  if (other !== undefined)
    throw new Error(`photofinishOptions has ${Object.keys(DEFAULTS).join(' and ')}, not ${other}.`);
  // A value may be given as undefined.
  return {
    helper: options.helper ?? DEFAULTS.helper,
    attachReport: options.attachReport ?? DEFAULTS.attachReport,
  };
}

/** Playwright would switch off the extension's own scripts too. Throws if it would. */
export function checkScripts(javaScriptEnabled: boolean | undefined): void {
  if (javaScriptEnabled !== false) return;
  throw new Error('Photofinish needs JavaScript in Chromium: remove the option javaScriptEnabled: false.');
}

/** A persistent context is launched without the option `storageState`. */
async function restoreState(
  context: BrowserContext,
  storageState: BrowserContextOptions['storageState'],
): Promise<void> {
  if (storageState === undefined) return;
  if (!('setStorageState' in context))
    throw new Error('The option storageState needs Playwright 1.65 or newer in Chromium with Photofinish.');
  await context.setStorageState(storageState);
}

/** Attaches a report by its files: reporters print and keep paths, and bodies only in reports of their own. */
async function attachReport(testInfo: TestInfo, report: Report): Promise<void> {
  const forms = [
    ['photofinish-report.html', 'text/html', REPORT_FORMATS.html(report)],
    ['photofinish-report.json', 'application/json', JSON.stringify(report, null, 2)],
  ] as const;
  for (const [name, contentType, text] of forms) {
    const path = testInfo.outputPath(name);
    await writeFile(path, text);
    await testInfo.attach(name, { path, contentType });
  }
}

export const test = base.extend<PhotofinishFixtures>({
  photofinishOptions: [DEFAULTS, { option: true }],

  // Playwright itself adds its options, such as `baseURL`, to those of every new context.
  context: async (
    { photofinishOptions, browserName, playwright, launchOptions, headless, javaScriptEnabled, storageState },
    use,
  ) => {
    if (browserName !== 'chromium') {
      const browser = await playwright[browserName].launch({
        ...launchOptions,
        headless: headless !== false,
      });
      const context = await browser.newContext();
      registerContext(context, { extension: null, namesNetworks: false });
      watchResponses(context, browserName);
      await use(context);
      await browser.close();
      return;
    }
    checkScripts(javaScriptEnabled);
    const settings = helperSettings(checkedOptions(photofinishOptions).helper, process.platform);
    const dir = await mkdtemp(join(tmpdir(), 'photofinish-'));
    try {
      const namesNetworks = settings !== null && (await installHelper(dir, settings));
      const extension = await copyInFullMode(extensionDirectory(), join(dir, 'extension'));
      const context = await chromium.launchPersistentContext(join(dir, 'profile'), {
        ...launchOptions,
        // Playwright's own headless mode would choose a headless shell, which does not support extensions.
        headless: false,
        args: [
          ...(headless === false ? [] : ['--headless=new']),
          `--load-extension=${extension}`,
          `--disable-extensions-except=${extension}`,
          ...(launchOptions.args ?? []),
        ],
        ignoreDefaultArgs: ['--disable-extensions'],
      });
      registerContext(context, { extension: await closeWelcome(context), namesNetworks });
      const [first] = context.pages();
      if (first !== undefined) firstPages.set(context, first);
      await restoreState(context, storageState);
      watchResponses(context, browserName);
      await use(context);
      await context.close();
    } finally {
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    }
  },

  // Not before: without any page some browsers end.
  page: async ({ page, context }, use) => {
    await firstPages.get(context)?.close();
    await use(page);
  },

  photofinish: [
    async ({ context, photofinishOptions }, use, testInfo) => {
      const { attachReport: attaches } = checkedOptions(photofinishOptions);
      // A test may close its context, or the browser crash; a report needs a page in it.
      let closed = false;
      context.on('close', () => {
        closed = true;
      });
      await use({ adoption, origins: originsOf, report: () => reportOf(context) });
      if (closed || !attaches || !hasExtension(context)) return;
      await attachReport(testInfo, await reportOf(context));
    },
    { auto: true },
  ],
});
