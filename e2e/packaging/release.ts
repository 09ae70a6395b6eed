// Which release is being packaged: one version, said in three places that must agree.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { TOP } from '../scratch.ts';

const versioned = v.object({ version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/)) });

async function versionIn(file: string): Promise<string> {
  return v.parse(versioned, JSON.parse(await readFile(join(TOP, file), 'utf8'))).version;
}

async function versionOfHelper(): Promise<string | undefined> {
  return /VERSION = '([^']+)'/.exec(await readFile(join(TOP, 'native-host/version.ts'), 'utf8'))?.[1];
}

/** The release's version. Throws where the extension, the helper and the project disagree. */
export async function releaseVersion(): Promise<string> {
  const version = await versionIn('package.json');
  const others = {
    'manifest.json': await versionIn('manifest.json'),
    'native-host/version.ts': await versionOfHelper(),
  };
  for (const [file, found] of Object.entries(others))
    if (found !== version) throw new Error(`${file} says version ${found}, package.json ${version}`);
  return version;
}
