// Under which licences code by others may be part of what we give to others, and those licences in full, as they ask of
// whoever passes the code on.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import satisfies from 'spdx-satisfies';
import { type BundledPackage, idOf } from './bundled.ts';

/** Ours. */
export const LICENCE = 'MIT';

/** Those that ask for no more than their text and their notices, which each archive has. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unicode-3.0',
  'Zlib',
];

/** Its licence as an SPDX expression; older crates write a slash where others may choose. Null: it names none. */
export function spdxOf({ licence }: Pick<BundledPackage, 'licence'>): string | null {
  return licence === null ? null : licence.replaceAll(/\s*\/\s*/g, ' OR ');
}

function isAllowed(expression: string): boolean {
  try {
    return satisfies(expression, ALLOWED);
  } catch {
    // Not an expression of SPDX's.
    return false;
  }
}

/** Why these may not be passed on, a line for each that may not. */
export function licenceFaults(bundled: readonly BundledPackage[]): string[] {
  return bundled.flatMap((each) => {
    const expression = spdxOf(each);
    if (expression === null) return [`${each.registry} ${idOf(each)} names no licence`];
    return isAllowed(expression) ? [] : [`${each.registry} ${idOf(each)} is under ${each.licence}`];
  });
}

/** Where an archive has them. */
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

/** One text for all of them: who is in it under which licence, then every licence once, with those it is for. */
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
