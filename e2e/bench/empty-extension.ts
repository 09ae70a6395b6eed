// An extension that does nothing, which shows what having any extension costs.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes it into a folder of its own below `dir`, with what is more in its manifest and its files by name; the folder. */
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
