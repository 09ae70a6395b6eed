// What Firefox compiles of its own code at a profile's first start and keeps for the next ones. Fresh profiles that begin
// with it start for a third less work; it knows nothing of any page, extension or setting.
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FirefoxOptions, launchFirefox } from './firefox.ts';

const KEPT = [
  // Says which Firefox it is of; another one drops it.
  'compatibility.ini',
  'startupCache/scriptCache.bin',
  'startupCache/scriptCache-child.bin',
  'startupCache/startupCache.8.little',
  'startupCache/urlCache.bin',
];

/**
 * Starts and ends Firefox once in `dir`, which is to be empty, and gives the directory there that `launchFirefox` takes
 * as `compiled`. Throws as `launchFirefox` does.
 */
export async function compileFirefox(
  dir: string,
  options: Pick<FirefoxOptions, 'extensionDir' | 'headless' | 'local'>,
): Promise<string> {
  const [profile, home, compiled] = [join(dir, 'profile'), join(dir, 'home'), join(dir, 'compiled')];
  await mkdir(home, { recursive: true, mode: 0o700 });
  const running = await launchFirefox({ ...options, profile, home, downloads: join(dir, 'downloads') });
  // A process of content, and one of the extension, compile too.
  const tab = await running.newTab();
  if (options.extensionDir !== undefined) await tab.goto(running.extensionUrl('options/options.html'));
  // It is written at an orderly end.
  await running.close();
  for (const file of KEPT) await cp(join(profile, file), join(compiled, file));
  await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  return compiled;
}
