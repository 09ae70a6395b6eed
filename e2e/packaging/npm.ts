// Shared by our npm packages: placing their files, and packing with npm itself.
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runOrThrow } from '../child-process.ts';
import { scratchDirectory } from '../scratch.ts';
import type { BundledPackage } from './bundled.ts';
import { NOTICES_FILE, notices } from './licences.ts';
import { billOf, SBOM_FILE, type Subject } from './sbom.ts';

/** The helper's package name on npm. */
export const HELPER_PACKAGE = 'photofinish';

export async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** Places a file into the package directory. */
export async function place(
  stage: string,
  path: string,
  content: string | Uint8Array | { readonly copyOf: string },
): Promise<void> {
  const file = join(stage, path);
  await mkdir(dirname(file), { recursive: true });
  if (typeof content === 'object' && 'copyOf' in content) await copyFile(content.copyOf, file);
  else await writeFile(file, content);
}

/** Adds the third-party licences and the bill of materials to a package. */
export async function placeOthers(
  stage: string,
  subject: Subject,
  bundled: readonly BundledPackage[],
): Promise<void> {
  await place(stage, NOTICES_FILE, await notices(bundled));
  await place(stage, SBOM_FILE, billOf(subject, bundled));
}

/** Lets npm pack the package, which is reproducible, and returns its name. */
async function pack(stage: string, out: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', out];
  const stdout = await runOrThrow('npm', args, { cwd: stage });
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  return basename(packed.filename);
}

/**
 * Creates a package from the files that `stage` places into its directory; returns the name of the archive in `out`.
 */
export async function writePackage(
  out: string,
  stage: (directory: string) => Promise<void>,
): Promise<string> {
  const directory = await scratchDirectory('npm-package');
  try {
    await stage(directory);
    return await pack(directory, out);
  } finally {
    await rm(directory, { recursive: true });
  }
}
