// The licences of what is bundled into our archives, in full, as those licences ask of whoever passes the code on.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bundled } from './bundled.ts';

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
export async function notices(bundled: readonly Bundled[]): Promise<string> {
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
