// One SQLite file shared by several helper processes, and its error handling: a corrupt file of ours is set aside and
// replaced, a newer or foreign one is left alone, and while no file can be used, the same tables are kept in memory.

import { chmodSync, closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@photofinish/shared/web/untrusted';
import type { Clock } from '../clock.ts';
import {
  asidePath,
  foreignLink,
  foreignOwner,
  insecurePath,
  irregularReason,
  makePrivateDirectory,
} from '../paths.ts';
import {
  foreignReason,
  hasOwnSchema,
  inTransaction,
  isPlainlyCurrent,
  mark,
  migrate,
  whyNotOurs,
} from './schema.ts';

/** Result codes of sqlite3.h. */
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
/** Wait for another helper's transaction; with the default of 0, four processes lose half of their writes. */
const BUSY_TIMEOUT_MS = 1000;
/** Concurrent first starts collide while the file is switched to WAL, where SQLite itself does not wait. */
const OPEN_TRIES = 20;
const OPEN_PAUSE_MS = 50;
/** How often an in-memory cache checks whether its file has become usable, for example writable. */
const RETRY_MS = 10_000;

/** Nothing was written; the caller may retry later. The message gives the reason. */
export class CacheUnavailable extends Error {
  override readonly name = 'CacheUnavailable';
}

/** Whether nothing was written because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof CacheUnavailable && codeOf(error.cause) === SQLITE_FULL;
}

interface DatabaseOptions<S> {
  readonly path: string;
  /** For the name of a file set aside, and between tries to use a file. */
  readonly clock: Pick<Clock, 'nowMs' | 'epochMs'>;
  readonly prepare: (db: DatabaseSync) => S;
  /** Receives messages for the user: once when the file is left alone or cannot be used, and once when that is over. */
  readonly log: (message: string, isTrouble: boolean) => void;
  /** The same for a file set aside. */
  readonly damaged: (message: string) => void;
}

/** The primary SQLite result code of an error; 0 if it has none. */
function codeOf(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : 0;
  return typeof code === 'number' ? code & 0xff : 0;
}

function isCorrupt(error: unknown): boolean {
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(error));
}

/**
 * Whether SQLite's error for one of our statements, which are known to be valid, is caused by the file: a flipped bit
 * in the schema makes columns unknown and constraints fail while the pages stay well-formed.
 */
function isDamaged(db: DatabaseSync, error: unknown): boolean {
  if (codeOf(error) === 0 || isRefused(error)) return false;
  try {
    const [found] = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {});
    return found !== 'ok' || !hasOwnSchema(db);
  } catch {
    return true;
  }
}

/** The same while opening, where every statement is fixed: a file of ours on which they fail is damaged. */
function isUnusable(error: unknown): boolean {
  return isCorrupt(error) || codeOf(error) === SQLITE_ERROR;
}

function isRefused(error: unknown): boolean {
  return [SQLITE_BUSY, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN].includes(codeOf(error));
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Identifies the file that a path currently names; null if there is none. */
function identity(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/** Directory 0700 and file 0600: the cache is browsing history. Journal files inherit the file's mode. */
function createPrivately(path: string): void {
  makePrivateDirectory(dirname(path));
  closeSync(openSync(path, 'a', 0o600));
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/** The files that SQLite opens by name beside the database, and our lock. */
const BESIDE = ['', '-wal', '-shm', '.lock'];

/** SQLite opens by name and blocks on pipes, so the files are checked before. */
function whyNotTrusted(path: string): string | null {
  const reason = insecurePath(path);
  if (reason !== null) return `the file is not trusted: ${reason}`;
  for (const file of BESIDE.map((suffix) => path + suffix)) {
    const stat = statSync(file, { throwIfNoEntry: false });
    const wrong =
      foreignLink(file) ?? (stat === undefined ? null : (irregularReason(file) ?? foreignOwner(stat)));
    if (wrong !== null) return `${file} is not trusted: ${wrong}`;
  }
  return null;
}

/**
 * Another program's database is not even opened: where it keeps a journal (WAL), reading alone would create two files
 * beside it. Opened read-only, because closing a writable connection would already change another version's file.
 */
function whyLeaveAlone(path: string): string | null {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return null;
  if (isPlainlyCurrent(path)) return null;
  const foreign = whyNotOurs(path);
  if (foreign !== null) return `the file is left alone: ${foreign}`;
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    return foreignReason(db);
  } finally {
    db.close();
  }
}

function openFile(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    mark(db);
    // Deleted history is overwritten, not merely unlinked.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON');
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Renames a corrupt file and its journals, unless another process already did. A SQLite lock ensures that only one
 * process does it, and is released if that process dies. Journals go first: a new file must never meet an old journal.
 */
function setAside(path: string, corrupt: string | null, epochMs: number): string | null {
  const lock = new DatabaseSync(`${path}.lock`, { timeout: BUSY_TIMEOUT_MS });
  try {
    chmodSync(`${path}.lock`, 0o600);
    lock.exec('BEGIN EXCLUSIVE');
    if (corrupt === null || identity(path) !== corrupt) return null;
    const aside = asidePath(path, epochMs);
    for (const suffix of ['-wal', '-shm', ''])
      if (identity(path + suffix) !== null) renameSync(path + suffix, aside + suffix);
    return aside;
  } finally {
    lock.close();
  }
}

/** The open file, or until one can be used equivalent tables in memory with the reason. Opening never throws. */
export class Database<S> {
  readonly #options: DatabaseOptions<S>;
  readonly #path: string;
  readonly #log: DatabaseOptions<S>['log'];
  #db!: DatabaseSync;
  #statements!: S;
  /** Identity of the open file; null if none is open. */
  #opened: string | null = null;
  #memoryReason: string | null = null;
  #retryAtMs = 0;
  #writeFailure: string | null = null;

  constructor(options: DatabaseOptions<S>) {
    this.#options = options;
    this.#path = options.path;
    this.#log = options.log;
    this.#open();
  }

  /** Runs with the open statements; a corrupt file is replaced and `run` repeated once. */
  read<T>(run: (statements: S) => T): T {
    return this.#mended(() => run(this.#statements));
  }

  /**
   * The same in one transaction, which survives the death of the process once this returns. Throws `CacheUnavailable`.
   */
  write<T>(run: (statements: S) => T): T {
    this.#retryFile();
    try {
      const result = this.#mended(() => inTransaction(this.#db, () => run(this.#statements)));
      if (this.#writeFailure !== null) this.#log('the host cache is written again', false);
      this.#writeFailure = null;
      return result;
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (this.#writeFailure === null)
        this.#log(`the host cache could not be written: ${messageOf(error)}`, true);
      this.#writeFailure = `the last write failed: ${messageOf(error)}`;
      throw new CacheUnavailable(this.#writeFailure, { cause: error });
    }
  }

  /** Runs outside a transaction with the connection itself, for maintenance. */
  maintain(run: (db: DatabaseSync) => void): void {
    this.#mended(() => run(this.#db));
  }

  /** Removes the file with its journals and creates a new one; other helpers switch to it. */
  discard(): void {
    this.#db.close();
    for (const suffix of ['-wal', '-shm', '']) rmSync(this.#path + suffix, { force: true });
    this.#reopen();
  }

  store(): { readonly store: 'sqlite' | 'memory'; readonly reason: string | null } {
    const store = this.#memoryReason === null ? 'sqlite' : 'memory';
    return { store, reason: this.#memoryReason ?? this.#writeFailure };
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #use(next: DatabaseSync): void {
    try {
      this.#statements = this.#options.prepare(next);
    } catch (error) {
      next.close();
      throw error;
    }
    this.#db = next;
  }

  #useMemory(reason: string): void {
    const isInMemory = this.#memoryReason !== null;
    this.#memoryReason = reason;
    this.#retryAtMs = this.#options.clock.nowMs() + RETRY_MS;
    if (isInMemory) return;
    this.#opened = null;
    const memory = new DatabaseSync(':memory:');
    migrate(memory);
    this.#use(memory);
    this.#log(`the host cache works in memory only: ${reason} (${this.#path})`, true);
  }

  /**
   * Observations are not carried over: they were refused, so their senders still have them. The caller keeps the races.
   */
  #retryFile(): void {
    if (this.#memoryReason === null || this.#options.clock.nowMs() < this.#retryAtMs) return;
    const memory = this.#db;
    // One try to set a corrupt file aside and one to open: forecasts wait meanwhile.
    this.#open(OPEN_TRIES - 1);
    if (this.#db === memory) return;
    memory.close();
    this.#log(`the host cache uses its file again (${this.#path})`, false);
  }

  /** Throws for a file that is not ours to move. */
  #replaceCorrupt(was: string | null): void {
    const foreign = whyNotOurs(this.#path);
    if (foreign !== null) throw new Error(`the file is left alone: ${foreign}`);
    const aside = setAside(this.#path, was, this.#options.clock.epochMs());
    if (aside !== null)
      this.#options.damaged(
        `the host cache ${this.#path} was damaged; it was set aside as ${aside} and replaced`,
      );
  }

  #tryFile(): void {
    const leaveAlone = whyNotTrusted(this.#path) ?? whyLeaveAlone(this.#path);
    if (leaveAlone !== null) {
      this.#useMemory(leaveAlone);
      return;
    }
    createPrivately(this.#path);
    const before = identity(this.#path);
    this.#use(openFile(this.#path));
    this.#opened = before;
    this.#memoryReason = null;
  }

  #open(firstTry = 1): void {
    for (let tries = firstTry; ; tries += 1) {
      const was = identity(this.#path);
      try {
        this.#tryFile();
        return;
      } catch (error) {
        try {
          if (tries < OPEN_TRIES && isUnusable(error)) this.#replaceCorrupt(was);
          else if (tries < OPEN_TRIES && codeOf(error) === SQLITE_BUSY) pause(OPEN_PAUSE_MS);
          else throw error;
        } catch (final) {
          this.#useMemory(messageOf(final));
          return;
        }
      }
    }
  }

  #reopen(): void {
    if (this.#db.isOpen) this.#db.close();
    this.#open();
  }

  /** Another helper set the file aside, or somebody removed it: anything written to the old one would be lost. */
  #followFile(): void {
    if (this.#memoryReason === null && identity(this.#path) !== this.#opened) this.#reopen();
  }

  #mended<T>(run: () => T): T {
    this.#followFile();
    try {
      return run();
    } catch (error) {
      if (this.#memoryReason !== null || !(isCorrupt(error) || isDamaged(this.#db, error))) throw error;
      if (this.#db.isOpen) this.#db.close();
      try {
        this.#replaceCorrupt(this.#opened);
        this.#open();
      } catch (final) {
        this.#useMemory(messageOf(final));
      }
      return run();
    }
  }
}
