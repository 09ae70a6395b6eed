// An extension that does nothing, to measure the cost of having any extension.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes it to a new directory below `dir`, with additional manifest keys and files by name; returns the directory. */
export async function emptyExtension(
  dir: string,
  manifest: object,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const extension = join(dir, 'empty');
  await mkdir(extension);
  const whole = { manifest_version: 3, name: 'Empty', version: '1', ...manifest };
  await writeFile(join(extension, 'manifest.json'), JSON.stringify(whole));
  for (const [name, text] of Object.entries(files)) await writeFile(join(extension, name), text);
  return extension;
}
