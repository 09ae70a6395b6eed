// The user's home directory, where all per-user files of this program are.
import { isAbsolute } from 'node:path';

/**
 * The environment's home, or the account's if that is empty or relative: otherwise browsing history, and programs
 * started by browsers, would be written to the current directory.
 */
export function userHome(): string {
  const { HOME } = process.env;
  // What node:os would return, without loading it at each start.
  if (process.platform !== 'win32' && HOME !== undefined && isAbsolute(HOME)) return HOME;
  const { homedir, userInfo } = process.getBuiltinModule('node:os');
  const home = homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}
