// One installation for one test: a fresh profile with the extension, and the helper installed into it as a user would.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrThrow } from '../child-process.ts';

/** Beside the packed fixtures, or in the checkout that they were built in. */
const EXTENSION_PLACES = ['../extension', '../../../extension/dist/chromium'];
const CHECKOUT_HELPER = '../../../native-host/bin/photofinish';

/** The directory of the built extension. Throws when there is none. */
export function extensionDirectory(): string {
  const places = EXTENSION_PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(join(place, 'manifest.json')));
  if (found === undefined)
    throw new Error(`Photofinish's extension was not found at ${places.join(' or ')}; build it first.`);
  return found;
}

/** The helper's command: that of the package `photofinish` beside this one, or of the checkout. */
function helperCommand(): readonly [file: string, ...args: string[]] {
  const checkout = fileURLToPath(new URL(CHECKOUT_HELPER, import.meta.url));
  if (existsSync(checkout)) return [checkout];
  try {
    const require = createRequire(import.meta.url);
    const manifest = require.resolve('photofinish/package.json');
    return [process.execPath, join(dirname(manifest), require('photofinish/package.json').bin.photofinish)];
  } catch (error) {
    throw new Error(
      'The helper was not found: install the package photofinish, or set photofinishOptions.helper to false.',
      { cause: error },
    );
  }
}

/** What is read here of the document `photofinish.install/1`. */
interface Installed {
  readonly addon: { readonly state: string; readonly text: string; readonly remedy: string | null };
}

/** Installs the helper into a profile, its settings and its host cache in the same directory. */
export async function installHelper(dir: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
  const profile = join(dir, 'profile');
  const config = join(dir, 'config.json');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  const contents = { cache: join(dir, 'cache.db'), ...settings };
  await writeFile(config, `${JSON.stringify(contents, null, 2)}\n`, { mode: 0o600 });
  const [file, ...args] = helperCommand();
  const where = ['--browser', 'chromium', '--user-data-dir', profile, '--config', config];
  const stdout = await runOrThrow(file, [...args, 'install', '--json', ...where]);
  const { addon } = JSON.parse(stdout) as Installed;
  // A helper that cannot race would let every test of races pass or fail for the wrong reason.
  if (addon.state === 'problem')
    throw new Error(
      `Photofinish's helper cannot race: ${addon.text}. ${addon.remedy} Or set photofinishOptions.helper to false.`,
    );
}
