// The user's home directory, where all per-user files of this program are.
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The environment's home, or the account's if that is empty or relative: otherwise browsing history, and programs
 * started by browsers, would be written to the current directory.
 */
export function userHome(): string {
  const home = homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}
