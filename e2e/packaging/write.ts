// Everything that a release is made of, written to one directory with its sums.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EDITIONS, storeArchive } from './editions.ts';
import { writeHelperPackages } from './helper.ts';
import { writeFixturesPackage } from './playwright.ts';
import { isGitCheckout, releaseVersion, sourceArchive } from './release.ts';

export const SUMS_FILE = 'SHA256SUMS';

export interface Package {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

async function summed(out: string, name: string): Promise<Package> {
  const content = await readFile(join(out, name));
  return { name, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}

/**
 * Writes archives and packages to `out`, which is emptied first. Everything must have been built. Outside a checkout of
 * git there is no source archive.
 */
export async function writeRelease(out: string): Promise<readonly Package[]> {
  const version = await releaseVersion();
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const names: string[] = [];
  const write = async (name: string, bytes: Uint8Array): Promise<void> => {
    await writeFile(join(out, name), bytes);
    names.push(name);
  };
  for (const edition of EDITIONS)
    await write(`photofinish-${edition}-${version}.zip`, await storeArchive(edition, version));
  if (isGitCheckout()) await write(`photofinish-source-${version}.zip`, await sourceArchive(version));
  names.push(...(await writeHelperPackages(out, version)), await writeFixturesPackage(out, version));
  const packages = await Promise.all(names.map((name) => summed(out, name)));
  const sums = packages.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
  await writeFile(join(out, SUMS_FILE), sums);
  return packages;
}
