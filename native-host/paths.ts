// The paths that the helper reads and writes: where the user's files are, whether the file at a path may be trusted, and
// directories for the user alone.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

/**
 * The home of users without one, as in Debian's accounts: it does not exist, and only root could create it, so that what
 * needs a file reports that.
 */
const NO_HOME = '/nonexistent';

/** Node.js throws where the system knows no account, as in containers with a user of their own. */
function homeFrom(home: () => string): string {
  try {
    const found = home();
    return isAbsolute(found) ? found : '';
  } catch {
    return '';
  }
}

/**
 * The environment's home, or the account's if that is empty or relative: otherwise browsing history, and programs
 * started by browsers, would be written to the current directory.
 */
export function userHome(): string {
  const { HOME } = process.env;
  // What node:os would return, without loading it at each start.
  if (process.platform !== 'win32' && HOME !== undefined && isAbsolute(HOME)) return HOME;
  const { homedir, userInfo } = process.getBuiltinModule('node:os');
  return homeFrom(homedir) || homeFrom(() => userInfo().homedir) || NO_HOME;
}

/**
 * Suffix after the name of the host cache's file in the names of files set aside for inspection: the cache, its journals
 * and the salt. A wipe deletes files with such names and no others.
 */
export const ASIDE = /^(\.salt)?\.corrupt-\d{4}-\d{2}-\d{2}T\d{9}Z(-wal|-shm)?$/;

/** The path for a file set aside at that time. */
export function asidePath(path: string, epochMs: number): string {
  return `${path}.corrupt-${new Date(epochMs).toISOString().replaceAll(/[:.]/g, '')}`;
}

/** The files set aside beside the host cache, the salt and journals among them; none if they cannot be listed. */
export function asideFiles(path: string): readonly string[] {
  const directory = dirname(path);
  const start = basename(path);
  try {
    return readdirSync(directory)
      .filter((name) => name.startsWith(start) && ASIDE.test(name.slice(start.length)))
      .map((name) => join(directory, name));
  } catch {
    // No directory: the cache is in memory and nothing was ever set aside.
    return [];
  }
}

const PRIVATE = 0o700;

/**
 * Creates a directory and its missing parents; existing ones are unchanged. Throws the system's error. Node's own
 * recursive mkdir never returns if a directory exists and accepts no entries (nodejs/node, `MKDirpSync`; /proc is one),
 * and a helper must not hang because of an unusual HOME; of a read-only file system it says that nothing is there.
 */
export function makeDirectory(path: string, mode?: number): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The same for the user alone: mode 0700. */
export function makePrivateDirectory(path: string): void {
  makeDirectory(path, PRIVATE);
}

/** Why no file can be created in a directory that may have to be created first; null: it can. Creates nothing. */
export function whyNotWritable(directory: string): string | null {
  let there = directory;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    if (!statSync(there).isDirectory()) return `${there} is not a directory`;
    accessSync(there, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return `${there} is on a read-only file system`;
    return `you may not write to ${there} (${code})`;
  }
}

// What the helper reads determines which addresses it may reach, what it writes is browsing history, and both may be
// symbolic links: so the real path is checked, with all its parent directories.
const GROUP_OR_OTHERS_WRITE = 0o022;
const OTHERS_WRITE = 0o002;
const GROUP_OR_OTHERS_READ = 0o044;
const OTHERS_READ = 0o004;
const STICKY = 0o1000;

type FileOwner = Pick<Stats, 'uid' | 'mode'>;

/** The user whose files are trusted beside root's; undefined: the system has no owners and modes. */
const user = (): number | undefined => process.getuid?.();

/** Why a file of that owner is refused; null: it is the user's or root's. */
export function foreignOwner(file: Pick<Stats, 'uid'>, uid: number | undefined = user()): string | null {
  return uid === undefined || file.uid === uid || file.uid === 0 ? null : 'it belongs to another user';
}

/**
 * Why a file of that owner and mode is refused, null when it is fine: only its owner, who is the user or root, may
 * write it. `uid` undefined: the system has no such modes.
 */
export function insecureFile(file: FileOwner, uid: number | undefined = user()): string | null {
  if (uid === undefined) return null;
  const foreign = foreignOwner(file, uid);
  if (foreign !== null) return foreign;
  if ((file.mode & GROUP_OR_OTHERS_WRITE) !== 0) return 'others can write it; run: chmod go-w on it';
  return null;
}

/**
 * Why a file of that owner and mode is refused as a secret, null when it is fine: as `insecureFile`, and only its owner
 * may read it, or those whom root has put into its group. `uid` undefined: the system has no such modes.
 */
export function exposedSecret(file: FileOwner, uid: number | undefined = user()): string | null {
  if (uid === undefined) return null;
  const insecure = insecureFile(file, uid);
  if (insecure !== null) return insecure;
  if ((file.mode & (file.uid === uid ? GROUP_OR_OTHERS_READ : OTHERS_READ)) === 0) return null;
  return `others can read it; run: chmod ${file.uid === uid ? 'go-r' : 'o-r'} on it`;
}

/**
 * Why a link at a path is refused; null: it is the user's or root's, or there is none. In a directory such as /tmp
 * anybody can make one that leads to a file of the user's.
 */
export function foreignLink(path: string): string | null {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (!link?.isSymbolicLink() || foreignOwner(link) === null) return null;
  return `the link ${path} belongs to another user`;
}

function insecureDirectory(path: string, stat: FileOwner, isOwn: boolean): string | null {
  if (isOwn && foreignOwner(stat) !== null) return `its directory ${path} belongs to another user`;
  if ((stat.mode & OTHERS_WRITE) !== 0 && (stat.mode & STICKY) === 0)
    return `others can write its directory ${path}; run: chmod o-w on that`;
  return null;
}

/**
 * Checks a directory, or its nearest existing parent, because the rest will be created for the user alone. Below the
 * user's home all parents are checked, like sshd does (sshd_config, StrictModes); elsewhere, above all in containers,
 * write access to parent directories is left to the system.
 */
function insecureWay(directory: string): string | null {
  const home = userHome();
  let isOwn = true;
  for (let at = directory; ; at = dirname(at)) {
    const stat = statSync(at, { throwIfNoEntry: false });
    const reason = foreignLink(at) ?? (stat === undefined ? null : insecureDirectory(at, stat, isOwn));
    if (reason !== null || at === home || dirname(at) === at) return reason;
    if (stat === undefined) continue;
    if (!at.startsWith(home + sep)) return null;
    isOwn = false;
  }
}

/**
 * Why somebody other than the user and root can replace the file at a path, in words; null: nobody can. A link is
 * checked at its own directory and at that of its target.
 */
export function insecurePath(path: string): string | null {
  if (user() === undefined) return null;
  try {
    const beside = insecureWay(dirname(path)) ?? foreignLink(path);
    if (beside !== null) return beside;
    const link = lstatSync(path, { throwIfNoEntry: false });
    if (link === undefined) return insecureWay(realDirectory(dirname(path)));
    return insecureWay(dirname(realpathSync.native(path)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // If a file is in place of a directory, creating the directory reports that.
    if (code === 'ENOTDIR') return null;
    return code === 'ENOENT' ? 'it is a link that leads nowhere' : message;
  }
}

/** The real path of a directory, as far as it exists. */
function realDirectory(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    const exists = lstatSync(at, { throwIfNoEntry: false }) !== undefined;
    if (exists || dirname(at) === at) return realpathSync.native(at);
  }
}

/** The path is not a file to read from or append to: opening a pipe would block forever. */
export class NotRegularFile extends Error {
  override readonly name = 'NotRegularFile';
}

/** Why the path cannot be a file of ours, in words; null: it is a regular file, or does not exist. */
export function irregularReason(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() ? null : 'it is not a regular file';
}

/** Opens a regular file only, and never blocks. Throws `NotRegularFile`, or the system's error. */
export function openRegular(path: string, flags: number, mode?: number): number {
  const reason = irregularReason(path);
  if (reason !== null) throw new NotRegularFile(`${path}: ${reason}`);
  // The file may have been replaced in between, by a pipe, or by a link that was not checked.
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && foreignLink(path) === null;
  const follow = isLink ? 0 : (constants.O_NOFOLLOW ?? 0);
  const fd = openSync(path, flags | follow | (constants.O_NONBLOCK ?? 0), mode);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new NotRegularFile(`${path}: it is not a regular file`);
}
