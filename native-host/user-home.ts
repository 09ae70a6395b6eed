// The user's home directory, where everything of this program that is one user's lies.
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The environment's home, or the account's where that one is empty or relative: such a one would put browsing history,
 * and what browsers start, wherever the program happens to be run.
 */
export function userHome(): string {
  const home = homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}
