// The host cache's SQL statements, prepared once per connection when first needed.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Origin } from '@photofinish/shared/web/origin';
import { ANY_NETWORK, HOST_FORECAST_COLUMNS, newHost, newUse, USE_FORECAST_COLUMNS } from './record.ts';
import { UDP_ANSWERED, UDP_FAILED, UDP_REACHED } from './schema.ts';

/** Deletion is spread over the writes in batches of this many rows, so that none of them takes long. */
const EXPIRE_ROWS = 64;
/** Addresses stored for an origin on a network: more than any name has at once. */
const MAX_ADDRESSES = 32;
/** Evidence for or against a network needs no more hosts than this. */
const MAX_EVIDENCE_HOSTS = 100;

const HOST_COLUMNS = Object.keys(newHost('' as Origin, '', 0));
const USE_COLUMNS = Object.keys(newUse('chromium', '' as Origin, '', ''));
const FORECAST_COLUMNS = [
  ...new Set(['network', 'browser', 'site', ...HOST_FORECAST_COLUMNS, ...USE_FORECAST_COLUMNS]),
];
const ADDRESS_COLUMNS = ['origin', 'network', 'address', 'srttMs', 'usedAtMs'];
const SHARED_COLUMNS = ['key', 'atMs', 'h3Failure', 'tcpProtocol'];
/** More than an organisation races in a day; beyond, the oldest are deleted. */
const MAX_SHARED = 100_000;

/** A damaged integer may exceed the range of exact numbers, and reading it would throw. */
const INTEGERS = ['stays', 'h3Failures', 'knownRoot', 'races'];
const read = (columns: readonly string[]): string =>
  columns
    .map((column) => (INTEGERS.includes(column) ? `CAST(${column} AS REAL) AS ${column}` : column))
    .join();

/** A larger counter is damaged, and restarts. */
const MAX_COUNT = 2 ** 52;

/** Reading compares the key as well, because two keys may have the same id. */
const HOST_AT = "origin = ? AND browser = ''";
/** Everything about an origin, which lies between two ids. */
const ABOUT = 'FROM known WHERE id BETWEEN :first AND :last AND origin = :origin';

function put(
  table: string,
  columns: readonly string[],
  fixed: Readonly<Record<string, string>> = {},
): string {
  const values = [...columns.map((c) => `:${c}`), ...Object.values(fixed)];
  return `INSERT OR REPLACE INTO ${table} (${[...columns, ...Object.keys(fixed)]}) VALUES (${values})`;
}

function expire(table: string, key: string, age: string): string {
  return `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${age} < ? LIMIT ${EXPIRE_ROWS})`;
}

/** An origin without its port. */
function hostOf(origin: string): string {
  const withoutDigits = `rtrim(${origin}, '0123456789')`;
  return `iif(substr(${withoutDigits}, -1) = ':', rtrim(${withoutDigits}, ':'), ${origin})`;
}

/**
 * Other hosts on a network for which a condition has held since a time: how many, and of the newest when. Two origins on
 * one host are one: what keeps both from UDP may be that host. What lies in the future, as after the clock was set back,
 * is no evidence.
 */
function evidence(condition: string, age: string): string {
  return `SELECT count(DISTINCT ${hostOf('origin')}) AS hosts, max(atMs) AS atMs FROM (
    SELECT origin, ${age} AS atMs FROM known WHERE network = :network
    AND ${age} > :sinceMs AND ${age} <= :nowMs AND ${hostOf('origin')} <> ${hostOf(':except')} AND ${condition}
    ORDER BY ${age} DESC LIMIT ${MAX_EVIDENCE_HOSTS})`;
}

/** A network's name reveals where the user was. */
const WIPED = ['known', 'address', 'folded', 'counter', 'networkName', 'newcomer', 'shared'];

const ADDRESS_KEY = 'origin = :origin AND network = :network';

type Name = keyof typeof SQL;

/** Each statement is prepared when first used. */
export type Statements = Readonly<Record<Name, StatementSync>> & {
  readonly wipe: readonly StatementSync[];
  /** Origins of which an unsound row was read; the next write drops it. */
  readonly suspects: Set<Origin>;
};

const SQL = {
  forecast: `SELECT ${read(FORECAST_COLUMNS)} FROM known WHERE id IN (?, ?, ?) AND origin = ?`,
  hosts: `SELECT ${read(HOST_COLUMNS)} FROM known WHERE id IN (?, ?) AND ${HOST_AT}`,
  use: `SELECT ${read(USE_COLUMNS)} FROM known WHERE id = ? AND origin = ? AND site = ? AND browser = ? AND network = ?`,
  addresses: `SELECT ${ADDRESS_COLUMNS} FROM address WHERE ${ADDRESS_KEY}`,
  putHost: put('known', ['id', ...HOST_COLUMNS], { browser: "''", site: "''" }),
  putUse: put('known', ['id', ...USE_COLUMNS]),
  putAddress: put('address', ADDRESS_COLUMNS),
  trimAddresses: `DELETE FROM address WHERE ${ADDRESS_KEY} AND address NOT IN
    (SELECT address FROM address WHERE ${ADDRESS_KEY} ORDER BY usedAtMs DESC LIMIT ${MAX_ADDRESSES})`,
  putFolded: 'INSERT INTO folded (id, atMs) VALUES (?, ?) ON CONFLICT DO NOTHING',
  count: `INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE
    SET value = CASE WHEN value BETWEEN 0 AND ${MAX_COUNT} THEN value ELSE 0 END + excluded.value`,
  counter: 'SELECT CAST(value AS REAL) AS value FROM counter WHERE name = ?',
  counters: 'SELECT name, CAST(value AS REAL) AS value FROM counter',
  anyOf: `SELECT 1 ${ABOUT} AND browser = '' LIMIT 1`,
  udpFailed: evidence(UDP_FAILED, 'h3FailedAtMs'),
  udpReached: evidence(UDP_REACHED, 'h3AtMs'),
  udpAnswered: evidence(UDP_ANSWERED, 'h3FailedAtMs'),
  list: `SELECT ${read(HOST_COLUMNS)} FROM known WHERE browser = '' ORDER BY origin, network`,
  hostsOf: `SELECT ${read(HOST_COLUMNS)} ${ABOUT} AND browser = '' ORDER BY network`,
  usesOf: `SELECT ${read(USE_COLUMNS)} ${ABOUT} AND browser <> '' ORDER BY site, browser, network`,
  dropAddress: 'DELETE FROM address WHERE origin = ? AND network = ? AND address = ?',
  addressesOf: `SELECT ${ADDRESS_COLUMNS} FROM address WHERE origin = ? ORDER BY network, usedAtMs DESC`,
  // A row id exceeds the range of exact numbers.
  rowsAbout: `SELECT CAST(id AS TEXT) AS rowId, ${read([...new Set([...HOST_COLUMNS, ...USE_COLUMNS])])} ${ABOUT}`,
  dropRow: 'DELETE FROM known WHERE id = CAST(? AS INTEGER)',
  forgetOrigin: `DELETE ${ABOUT}`,
  forgetAddresses: 'DELETE FROM address WHERE origin = ?',
  networks: `SELECT network, count(*) AS origins, max(updatedAtMs) AS updatedAtMs FROM known
    WHERE browser = '' AND network <> '${ANY_NETWORK}' GROUP BY network`,
  networkNames: 'SELECT network, name FROM networkName ORDER BY name, network',
  putNetworkName: 'INSERT OR REPLACE INTO networkName (network, name) VALUES (?, ?)',
  dropNetworkName: 'DELETE FROM networkName WHERE network = ?',
  newcomers: 'SELECT CAST(origins AS REAL) AS origins FROM newcomer WHERE site = ? AND day = ?',
  putNewcomer: `INSERT INTO newcomer (site, day, origins) VALUES (?, ?, 1)
    ON CONFLICT DO UPDATE SET origins = origins + 1`,
  dropNewcomer: 'DELETE FROM newcomer WHERE site = ?',
  forgetNewcomers: `DELETE FROM newcomer WHERE site IN (SELECT site ${ABOUT} AND browser <> ''
    EXCEPT SELECT site FROM known WHERE browser <> '' AND origin <> :origin)`,
  expireNewcomers: expire('newcomer', 'site, day', 'day'),
  largestNewcomer: `SELECT site, CAST(sum(origins) AS REAL) AS origins FROM newcomer
    GROUP BY site ORDER BY sum(origins) DESC LIMIT 1`,
  oldestUsesOf: `SELECT CAST(id AS TEXT) AS rowId, origin FROM known WHERE site = ? AND browser <> ''
    ORDER BY seenAtMs LIMIT ?`,
  oldestRows: `SELECT * FROM (SELECT origin FROM known WHERE seenAtMs IS NOT NULL ORDER BY seenAtMs LIMIT ?)
    UNION ALL SELECT * FROM (SELECT origin FROM known WHERE updatedAtMs IS NOT NULL ORDER BY updatedAtMs LIMIT ?)`,
  usedBy: "SELECT 1 FROM known WHERE id BETWEEN ? AND ? AND origin = ? AND browser <> '' LIMIT 1",
  oldestFolded: 'DELETE FROM folded WHERE id IN (SELECT id FROM folded ORDER BY atMs LIMIT ?)',
  bytes: `SELECT (page_count - freelist_count) * page_size AS bytes
    FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
  expireHosts: `${expire('known', 'id', 'updatedAtMs')} RETURNING origin`,
  expireUses: expire('known', 'id', 'seenAtMs'),
  expireAddresses: expire('address', 'origin, network, address', 'usedAtMs'),
  expireFolded: expire('folded', 'id', 'atMs'),
  shared: `SELECT ${SHARED_COLUMNS} FROM shared WHERE key = ?`,
  putShared: `INSERT INTO shared (${SHARED_COLUMNS}) VALUES (${SHARED_COLUMNS.map((c) => `:${c}`)})
    ON CONFLICT DO UPDATE SET atMs = excluded.atMs, h3Failure = excluded.h3Failure, tcpProtocol = excluded.tcpProtocol
    WHERE excluded.atMs > shared.atMs OR shared.atMs > :nowMs OR (excluded.atMs = shared.atMs
      AND (excluded.h3Failure IS NOT shared.h3Failure OR excluded.tcpProtocol IS NOT shared.tcpProtocol))`,
  dropShared: 'DELETE FROM shared WHERE key = ?',
  sharedCount: 'SELECT count(*) FROM shared',
  sharedNewest: 'SELECT max(atMs) FROM shared',
  expireShared: 'DELETE FROM shared WHERE atMs < ?',
  trimShared: `DELETE FROM shared WHERE key IN (SELECT key FROM shared ORDER BY atMs
    LIMIT max(0, (SELECT count(*) FROM shared) - ${MAX_SHARED}))`,
} as const;

/**
 * The statements of a connection. All but the first are prepared when used, because a starting helper has only one
 * question.
 */
export function prepareStatements(db: DatabaseSync): Statements {
  const prepared = new Map<Name, StatementSync>();
  const statements = {
    suspects: new Set<Origin>(),
    get wipe() {
      return WIPED.map((table) => db.prepare(`DELETE FROM ${table}`));
    },
  };
  for (const name of Object.keys(SQL) as Name[])
    Object.defineProperty(statements, name, {
      get() {
        const known = prepared.get(name) ?? db.prepare(SQL[name]);
        prepared.set(name, known);
        return known;
      },
    });
  const all = statements as unknown as Statements;
  // Shows whether the tables exist while there is still a fallback.
  void all.forecast;
  return all;
}
