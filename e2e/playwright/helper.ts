// The helper for a test's browser: whether it can have one, and where its command is.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import helper from '../../native-host/package.json' with { type: 'json' };
import type { PhotofinishOptions } from './photofinish.d.ts';

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
