// The cache's tables and how an older file becomes a current one; append a migration, never change one that shipped.
// Also recognises a file of ours by its first bytes, so that a mistaken path never destroys another file: only a file
// marked as ours, or an empty one, is ever set aside, replaced or deleted.
import { closeSync, constants, lstatSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type AttemptErrorCode, UDP_ANSWERED_CODES, UDP_BLOCKED_CODES } from '@photofinish/shared/race/terms';
import type { Browser } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { recordId } from './record.ts';

/** "PFin": marks the file as ours, so that a mistaken path never turns another program's database into a cache. */
export const APPLICATION_ID = 0x5046696e;

function failedWith(codes: readonly AttemptErrorCode[]): string {
  return `h3Failure IN (${codes.map((code) => `'${code}'`).join(', ')})`;
}

const ADVERTISED_THEN = 'altSvcUntilMs >= h3FailedAtMs OR serviceUntilMs >= h3FailedAtMs';
/**
 * HTTP/3 failed as on a network that blocks UDP although the origin advertised it then; otherwise nothing may listen
 * there. Part of the schema: a query uses its index only when it has the same condition.
 */
export const UDP_FAILED = `${failedWith(UDP_BLOCKED_CODES)}
  AND (${ADVERTISED_THEN})`;
/** The same while a refused port counted, and stood for an unreachable host too. */
const UDP_FAILED_OR_REFUSED = `h3Failure IN ('udp-timeout', 'udp-refused')
  AND (${ADVERTISED_THEN})`;
/** The latest evidence about HTTP/3 is that it worked. */
export const UDP_REACHED = 'h3AtMs IS NOT NULL AND h3FailedAtMs IS NULL';
/** HTTP/3 failed although the host answered over UDP. */
export const UDP_ANSWERED = failedWith(UDP_ANSWERED_CODES);

/** Entry n migrates a file from version n to n + 1. Columns have the names of the properties in record.ts. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE host (
    origin TEXT NOT NULL, network TEXT NOT NULL, adopted TEXT,
    h3AtMs REAL, h3UntilMs REAL, h3Basis TEXT, h3HandshakeMs REAL, h3RttMs REAL,
    h3FailedAtMs REAL, h3Failure TEXT, h3Failures INTEGER NOT NULL, h3BackOffUntilMs REAL,
    tcpProtocol TEXT, tcpAtMs REAL, tcpHandshakeMs REAL, tcpRttMs REAL, tcpFailedAtMs REAL, tcpFailure TEXT,
    altSvc TEXT, altSvcAtMs REAL, altSvcUntilMs REAL,
    knownRoot INTEGER, races INTEGER NOT NULL, updatedAtMs REAL NOT NULL,
    PRIMARY KEY (origin, network)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX hostAge ON host (updatedAtMs);
  CREATE TABLE browserUse (
    browser TEXT NOT NULL, origin TEXT NOT NULL, site TEXT NOT NULL, network TEXT NOT NULL,
    protocol TEXT, protocolAtMs REAL, tcpProtocol TEXT,
    advertisedAtMs REAL, advertisedUntilMs REAL, stays INTEGER NOT NULL, seenAtMs REAL NOT NULL,
    PRIMARY KEY (origin, site, browser, network)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX browserUseAge ON browserUse (seenAtMs);
  CREATE TABLE folded (id TEXT PRIMARY KEY, atMs REAL NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX foldedAge ON folded (atMs);
  CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // One table for both kinds of record, so that a forecast reads a single uncached page: a row with a browser is a use,
  // one without is a host's. Columns read by a forecast come first. The number of origins is maintained incrementally,
  // because counting a million takes most of a second. Failures are evidence against the network only where HTTP/3 is
  // advertised, and the two indexes contain exactly those rows.
  `
  CREATE TABLE known (
    id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL, network TEXT NOT NULL, browser TEXT NOT NULL, site TEXT NOT NULL,
    protocol TEXT, tcpProtocol TEXT, advertisedUntilMs REAL, stays INTEGER,
    h3AtMs REAL, h3UntilMs REAL, h3Basis TEXT, h3FailedAtMs REAL, h3BackOffUntilMs REAL,
    altSvcAtMs REAL, altSvcUntilMs REAL, serviceAtMs REAL, serviceUntilMs REAL,
    protocolAtMs REAL, advertisedAtMs REAL, seenAtMs REAL,
    adopted TEXT, h3HandshakeMs REAL, h3RttMs REAL, h3RttVarMs REAL, h3RttAtMs REAL, h3LossRate REAL,
    h3Failure TEXT, h3Failures INTEGER,
    tcpAtMs REAL, tcpHandshakeMs REAL, tcpRttMs REAL, tcpRttVarMs REAL, tcpRttAtMs REAL,
    tcpFailedAtMs REAL, tcpFailure TEXT,
    altSvc TEXT, altSvcBy TEXT, service TEXT, misdirected TEXT, misdirectedUntilMs REAL,
    knownRoot INTEGER, races INTEGER, updatedAtMs REAL,
    CHECK (CASE browser
      WHEN '' THEN h3Failures IS NOT NULL AND races IS NOT NULL AND updatedAtMs IS NOT NULL AND seenAtMs IS NULL
      ELSE stays IS NOT NULL AND seenAtMs IS NOT NULL AND updatedAtMs IS NULL END)
  ) STRICT;
  INSERT OR REPLACE INTO known (id, origin, network, browser, site, adopted, h3AtMs, h3UntilMs, h3Basis,
      h3HandshakeMs, h3RttMs, h3FailedAtMs, h3Failure, h3Failures, h3BackOffUntilMs, tcpProtocol, tcpAtMs,
      tcpHandshakeMs, tcpRttMs, tcpFailedAtMs, tcpFailure, altSvc, altSvcAtMs, altSvcUntilMs, knownRoot, races,
      updatedAtMs)
    SELECT recordId(origin, network, '', ''), origin, network, '', '', adopted, h3AtMs, h3UntilMs, h3Basis,
      h3HandshakeMs, h3RttMs, h3FailedAtMs, h3Failure, h3Failures, h3BackOffUntilMs, tcpProtocol, tcpAtMs,
      tcpHandshakeMs, tcpRttMs, tcpFailedAtMs, tcpFailure, altSvc, altSvcAtMs, altSvcUntilMs, knownRoot, races,
      updatedAtMs FROM host;
  INSERT OR REPLACE INTO known (id, origin, network, browser, site, protocol, protocolAtMs, tcpProtocol,
      advertisedAtMs, advertisedUntilMs, stays, seenAtMs)
    SELECT recordId(origin, network, browser, site), origin, network, browser, site, protocol, protocolAtMs,
      tcpProtocol, advertisedAtMs, advertisedUntilMs, stays, seenAtMs FROM browserUse;
  DROP TABLE host;
  DROP TABLE browserUse;
  CREATE INDEX hostAge ON known (updatedAtMs) WHERE updatedAtMs IS NOT NULL;
  CREATE INDEX useAge ON known (seenAtMs) WHERE seenAtMs IS NOT NULL;
  CREATE INDEX hostUdpFailed ON known (network, h3FailedAtMs, origin) WHERE ${UDP_FAILED_OR_REFUSED};
  CREATE INDEX hostUdpReached ON known (network, h3AtMs, origin) WHERE ${UDP_REACHED};
  CREATE TABLE address (
    origin TEXT NOT NULL, network TEXT NOT NULL, address TEXT NOT NULL, srttMs REAL NOT NULL, usedAtMs REAL NOT NULL,
    PRIMARY KEY (origin, network, address)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX addressAge ON address (usedAtMs);
  INSERT INTO counter (name, value) SELECT 'origins', count(DISTINCT origin) FROM known WHERE browser = '';
  `,
  // The user's names for networks.
  'CREATE TABLE networkName (network TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;',
  // Number of origins added by each site per day, and number of rows.
  `
  CREATE TABLE newcomer (
    site TEXT NOT NULL, day INTEGER NOT NULL, origins INTEGER NOT NULL, PRIMARY KEY (site, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX newcomerAge ON newcomer (day);
  INSERT OR REPLACE INTO counter (name, value) SELECT 'rows', count(*) FROM known;
  INSERT OR REPLACE INTO counter (name, value) SELECT 'folded', count(*) FROM folded;
  `,
  // What races of other machines of the organisation found, by a keyed hash of the origin.
  `
  CREATE TABLE shared (
    key TEXT PRIMARY KEY, atMs REAL NOT NULL, h3Failure TEXT, tcpProtocol TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sharedAge ON shared (atMs);
  `,
  // A refused port is no evidence that a network blocks UDP.
  `
  DROP INDEX hostUdpFailed;
  CREATE INDEX hostUdpFailed ON known (network, h3FailedAtMs, origin) WHERE ${UDP_FAILED};
  `,
  // A host that answers over UDP clears the network, although HTTP/3 fails there.
  `CREATE INDEX hostUdpAnswered ON known (network, h3FailedAtMs, origin) WHERE ${UDP_ANSWERED};`,
];
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The single number returned by a statement without parameters. */
export function onlyNumber(statement: StatementSync): number {
  return Number(Object.values(statement.get() ?? {})[0]);
}

/** Runs in one transaction, which is rolled back if that throws. */
export function inTransaction<T>(db: DatabaseSync, run: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = run();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function pragma(db: DatabaseSync, name: string): number {
  return onlyNumber(db.prepare(`PRAGMA ${name}`));
}

function isEmpty(db: DatabaseSync): boolean {
  return onlyNumber(db.prepare('SELECT count(*) FROM sqlite_schema')) === 0;
}

/** Why a readable SQLite file is not usable for us, in words; null when it is ours, older, or empty. */
export function foreignReason(db: DatabaseSync): string | null {
  const version = pragma(db, 'user_version');
  if (version === 0 && isEmpty(db)) return null;
  if (pragma(db, 'application_id') !== APPLICATION_ID) return 'the file belongs to another program';
  return version > SCHEMA_VERSION
    ? `the file was written by a newer version (schema ${version}, this one knows ${SCHEMA_VERSION})`
    : null;
}

/**
 * Marks an empty file as ours, immediately and in the file itself: one that becomes corrupt before its first checkpoint
 * must be recognisable as ours, too. The file must not be in WAL mode yet.
 */
export function mark(db: DatabaseSync): void {
  if (pragma(db, 'application_id') === 0 && isEmpty(db)) db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

function recordIdInSql(...key: unknown[]): bigint {
  return recordId(...(key as [Origin, string, Browser | '', string]));
}

/**
 * Migrates the file to the current schema in one transaction; several processes may try at once. A current file is not
 * written, only checked to be writable. Throws for a file that is not ours, because a newer helper may just have
 * migrated it.
 */
export function migrate(db: DatabaseSync): void {
  inTransaction(db, () => {
    const reason = foreignReason(db);
    if (reason !== null) throw new Error(reason);
    const version = pragma(db, 'user_version');
    if (version === SCHEMA_VERSION) return;
    db.function('recordId', { deterministic: true, varargs: true }, recordIdInSql);
    for (const step of MIGRATIONS.slice(version)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

function schemaOf(db: DatabaseSync): string {
  const rows = db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
  return JSON.stringify(rows.map((row) => [row.name, row.sql]));
}

/** Whether a current file has exactly the tables and indexes that we create. */
export function hasOwnSchema(db: DatabaseSync): boolean {
  const fresh = new DatabaseSync(':memory:');
  try {
    migrate(fresh);
    return schemaOf(db) === schemaOf(fresh);
  } finally {
    fresh.close();
  }
}

/** SQLite's file format, section 1.3: magic, offsets of the user version and the application id, header size. */
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
const HEADER_BYTES = 100;

/** The first bytes of a file, up to the header's size; empty if there is no file. Throws the system's error. */
function headOf(path: string): Buffer {
  let fd: number;
  try {
    // Non-blocking, because the path may be a pipe that nobody writes to.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    return head.subarray(0, readSync(fd, head, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(fd);
  }
}

function whyNoDatabase(head: Buffer): string | null {
  const isDatabase = head.length === 0 || head.toString('latin1', 0, MAGIC.length) === MAGIC;
  return isDatabase ? null : 'it is no SQLite database';
}

function isMarked(head: Buffer): boolean {
  const isWhole = head.length === HEADER_BYTES && whyNoDatabase(head) === null;
  return isWhole && head.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID;
}

/**
 * Whether the first bytes already show that the file is ours and of this schema, because no journal has newer ones. It
 * need not be opened to find out, which would take as long as all that a starting helper asks of it.
 */
export function isPlainlyCurrent(path: string): boolean {
  const head = headOf(path);
  if (!isMarked(head) || head.readUInt32BE(USER_VERSION_AT) !== SCHEMA_VERSION) return false;
  // SQLite keeps journals beside what a link leads to.
  if (lstatSync(path).isSymbolicLink()) return false;
  return ['-wal', '-journal'].every(
    (suffix) => (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0) === 0,
  );
}

/**
 * Why a file is not ours to open or to move, in words; null: it is marked as ours, empty, or does not exist. SQLite would
 * take a short text for an empty database.
 */
export function whyNotOurs(path: string): string | null {
  const head = headOf(path);
  if (head.length === 0 || isMarked(head)) return null;
  return whyNoDatabase(head) ?? "it is another program's database";
}

/** The same, and null for a file that cannot be read. Never throws. */
export function whyForeign(path: string): string | null {
  try {
    return whyNotOurs(path);
  } catch {
    return null;
  }
}
