// The Windows registry through the system's own reg.exe. Values are read from an export, because the output of `reg
// query` is localised and loses every character missing in its legacy code page.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, win32 } from 'node:path';
import type { Registry } from './machine.ts';

const DEFAULT_VALUE = '/ve';
const TEXT = 'REG_SZ';

/** The default value in an export (UTF-16LE with a byte order mark, as written by reg.exe); null for none. */
export function defaultValueIn(exported: Buffer): string | null {
  // A string ends at its closing quote; inside it both quotes and backslashes are escaped by a backslash.
  const match = /^@="((?:[^"\\\r\n]|\\.)*)"\r?$/m.exec(exported.toString('utf16le'));
  return match?.[1] === undefined ? null : match[1].replaceAll(/\\(.)/g, '$1');
}

/** Arguments of reg.exe. */
export const registryCommands = {
  read: (key: string, file: string) => ['export', key, file, '/y'],
  write: (key: string, value: string) => ['add', key, DEFAULT_VALUE, '/t', TEXT, '/d', value, '/f'],
  remove: (key: string) => ['delete', key, '/f'],
} as const;

/** The registry of this Windows. Every call takes about as long as starting a program. */
export function windowsRegistry(environment: Readonly<Record<string, string | undefined>>): Registry {
  const program = win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', 'reg.exe');
  const run = (args: readonly string[]): void => {
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true });
  };
  const change = (args: readonly string[]): void => {
    try {
      run(args);
    } catch (error) {
      throw new Error('the registry refused the change', { cause: error });
    }
  };
  return {
    read(key) {
      const directory = mkdtempSync(join(tmpdir(), 'photofinish-'));
      const file = join(directory, 'key.reg');
      try {
        run(registryCommands.read(key, file));
        return defaultValueIn(readFileSync(file));
      } catch {
        // reg.exe fails in the same way for a missing key and for one that may not be read.
        return null;
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
    write: (key, value) => change(registryCommands.write(key, value)),
    remove: (key) => change(registryCommands.remove(key)),
  };
}
