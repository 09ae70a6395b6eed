// Which licences third-party code in our packages may have, and the texts of those licences, which they require us to
// include.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import satisfies from 'spdx-satisfies';
import { type BundledPackage, idOf } from './bundled.ts';

/** Ours. */
export const LICENCE = 'MIT';

/** Licences that require only their text and notices, which each archive contains. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
];

/** Its licence as an SPDX expression; older crates separate alternatives with a slash. Null if it names none. */
export function spdxOf({ licence }: Pick<BundledPackage, 'licence'>): string | null {
  return licence === null ? null : licence.replaceAll(/\s*\/\s*/g, ' OR ');
}

function isAllowed(expression: string): boolean {
  try {
    return satisfies(expression, ALLOWED);
  } catch {
    // Not an SPDX expression.
    return false;
  }
}

/** Why packages may not be distributed, a line for each of those. */
export function licenceFaults(bundled: readonly BundledPackage[]): string[] {
  return bundled.flatMap((each) => {
    const expression = spdxOf(each);
    if (expression === null) return [`${each.registry} ${idOf(each)} names no licence`];
    return isAllowed(expression) ? [] : [`${each.registry} ${idOf(each)} is under ${each.licence}`];
  });
}

/** Their file name in an archive. */
export const NOTICES_FILE = 'THIRD-PARTY.txt';

const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyright)([-._].*)?$/i;

async function licenceTexts(directory: string): Promise<string[]> {
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return texts.map((text) => text.replaceAll('\r\n', '\n').trim());
}

/**
 * One text for all of them: the packages with their licences, then every licence once, with the packages it applies to.
 */
export async function notices(bundled: readonly BundledPackage[]): Promise<string> {
  const sorted = bundled.toSorted((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
  const holders = new Map<string, string[]>();
  for (const { name, version, directory } of sorted)
    for (const text of new Set(await licenceTexts(directory)))
      holders.set(text, [...(holders.get(text) ?? []), `${name} ${version}`]);
  return [
    'This software contains the following packages by others.',
    '',
    ...sorted.map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'see below'}`),
    ...[...holders].flatMap(([text, names]) => ['', '-'.repeat(78), `${names.join(', ')}:`, '', text]),
    '',
  ].join('\n');
}
