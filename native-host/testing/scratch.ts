// A directory for what a test writes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes an empty directory that is removed with all it contains `after` a test, or all tests of a file. */
export function scratchDirectory(
  scope: { after(remove: () => void): void },
  prefix = 'photofinish-',
): string {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  scope.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
