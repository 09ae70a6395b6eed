// Whether the helper may trust what lies at a path. What it reads decides which addresses it may reach, what it writes is
// browsing history, and both may be named by a link: so the real path is judged, and each directory that leads to it.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, sep } from 'node:path';
import { userHome } from './user-home.ts';

const GROUP_OR_OTHERS_WRITE = 0o022;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

type FileOwner = Pick<Stats, 'uid' | 'mode'>;

/** The user whose files are trusted beside root's; undefined: the system has no owners and modes. */
const user = (): number | undefined => process.getuid?.();

/** Why a file of that owner is refused; null: it is the user's or root's. */
export function foreignOwner(file: Pick<Stats, 'uid'>, uid: number | undefined = user()): string | null {
  return uid === undefined || file.uid === uid || file.uid === 0 ? null : 'it belongs to another user';
}

/**
 * Why a file of that owner and mode is refused, null when it is fine: only its owner, who is the user or root, may write
 * it. `uid` undefined: the system has no such modes.
 */
export function insecureFile(file: FileOwner, uid: number | undefined = user()): string | null {
  if (uid === undefined) return null;
  const foreign = foreignOwner(file, uid);
  if (foreign !== null) return foreign;
  if ((file.mode & GROUP_OR_OTHERS_WRITE) !== 0) return 'others can write it; run: chmod go-w on it';
  return null;
}

function insecureDirectory(path: string, { uid: owner, mode }: FileOwner, isOwn: boolean): string | null {
  const uid = user();
  if (uid === undefined) return null;
  if (isOwn && foreignOwner({ uid: owner }, uid) !== null)
    return `its directory ${path} belongs to another user`;
  if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0)
    return `others can write its directory ${path}; run: chmod o-w on that`;
  return null;
}

/**
 * Judges a directory, or the nearest above it while it is missing, for it will be made for the user alone. In the user's
 * home all above it are judged as well, as sshd does (sshd_config, StrictModes): elsewhere, in containers above all, who
 * may write above the directory is the system's business.
 */
function insecureWay(directory: string): string | null {
  const home = userHome();
  let isOwn = true;
  for (let at = directory; ; at = dirname(at)) {
    const stat = statSync(at, { throwIfNoEntry: false });
    const reason = stat === undefined ? null : insecureDirectory(at, stat, isOwn);
    if (reason !== null || at === home || dirname(at) === at) return reason;
    if (stat === undefined) continue;
    if (!at.startsWith(home + sep)) return null;
    isOwn = false;
  }
}

/**
 * Why nobody but the user and root is not kept from putting something else at a path, in words; null: they are kept from
 * it. A link is judged by its own directory and by the one it leads to.
 */
export function insecurePath(path: string): string | null {
  if (user() === undefined) return null;
  try {
    const beside = insecureWay(dirname(path));
    if (beside !== null) return beside;
    const link = lstatSync(path, { throwIfNoEntry: false });
    if (link === undefined) return insecureWay(realDirectory(dirname(path)));
    return insecureWay(dirname(realpathSync.native(path)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Where a file is in the way of a directory, whoever makes that says so.
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

/** What stands at a path is no file to read from or append to: opening a pipe would wait for ever. */
export class NotRegularFile extends Error {
  override readonly name = 'NotRegularFile';
}

/** Why a path can be no file of ours, in words; null: it is a regular file, or there is nothing yet. */
export function irregularReason(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() ? null : 'it is not a regular file';
}

/** Opens a regular file and nothing else, and never waits for it. Throws `NotRegularFile`, or the system's error. */
export function openRegular(path: string, flags: number, mode?: number): number {
  const reason = irregularReason(path);
  if (reason !== null) throw new NotRegularFile(`${path}: ${reason}`);
  // Something else may have come in between; that nobody waits for either.
  const fd = openSync(path, flags | (constants.O_NONBLOCK ?? 0), mode);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new NotRegularFile(`${path}: it is not a regular file`);
}
