// The host cache's SQL, prepared once for each connection.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Origin } from '@photofinish/shared/origin';
import { ANY_NETWORK, newHost, newUse } from './record.ts';
import { UDP_FAILED, UDP_REACHED } from './schema.ts';

/** Deleting is spread over the writes in pieces of this many rows, so that none of them takes long. */
const EXPIRE_ROWS = 64;
/** Addresses kept for an origin on a network: more than any name gives at once. */
const MAX_ADDRESSES = 32;
/** Evidence for or against a network needs no more hosts than this. */
export const MAX_EVIDENCE_HOSTS = 100;

export interface Statements {
  readonly hosts: StatementSync;
  readonly use: StatementSync;
  readonly addresses: StatementSync;
  readonly putHost: StatementSync;
  readonly putUse: StatementSync;
  readonly putAddress: StatementSync;
  readonly trimAddresses: StatementSync;
  readonly putFolded: StatementSync;
  readonly count: StatementSync;
  readonly counters: StatementSync;
  readonly anyOf: StatementSync;
  readonly udpFailed: StatementSync;
  readonly udpReached: StatementSync;
  readonly list: StatementSync;
  readonly hostsOf: StatementSync;
  readonly usesOf: StatementSync;
  readonly addressesOf: StatementSync;
  readonly expireHosts: StatementSync;
  readonly expireUses: StatementSync;
  readonly expireAddresses: StatementSync;
  readonly expireFolded: StatementSync;
  readonly wipe: readonly StatementSync[];
}

const HOST_COLUMNS = Object.keys(newHost('' as Origin, '', 0));
const USE_COLUMNS = Object.keys(newUse('chromium', '' as Origin, '', ''));
const ADDRESS_COLUMNS = ['origin', 'network', 'address', 'srttMs', 'usedAtMs'];

function put(table: string, columns: readonly string[]): string {
  return `INSERT OR REPLACE INTO ${table} (${columns}) VALUES (${columns.map((c) => `:${c}`)})`;
}

function expire(table: string, key: string, age: string): string {
  return `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${age} < ? LIMIT ${EXPIRE_ROWS})`;
}

/** Other origins of a network that a condition holds for since a time. */
function evidence(condition: string, age: string): string {
  return `SELECT count(*) FROM (SELECT 1 FROM host WHERE network = :network AND ${age} > :sinceMs
    AND origin <> :except AND ${condition} LIMIT ${MAX_EVIDENCE_HOSTS})`;
}

/** Prepares all of it; the tables must be those of the current schema. */
export function prepareStatements(db: DatabaseSync): Statements {
  const addressKey = 'origin = :origin AND network = :network';
  return {
    hosts: db.prepare(
      `SELECT ${HOST_COLUMNS} FROM host WHERE origin = ? AND network IN (?, '${ANY_NETWORK}')`,
    ),
    use: db.prepare(
      `SELECT ${USE_COLUMNS} FROM browserUse WHERE origin = ? AND site = ? AND browser = ? AND network = ?`,
    ),
    addresses: db.prepare(`SELECT ${ADDRESS_COLUMNS} FROM address WHERE ${addressKey}`),
    putHost: db.prepare(put('host', HOST_COLUMNS)),
    putUse: db.prepare(put('browserUse', USE_COLUMNS)),
    putAddress: db.prepare(put('address', ADDRESS_COLUMNS)),
    trimAddresses: db.prepare(
      `DELETE FROM address WHERE ${addressKey} AND address NOT IN
        (SELECT address FROM address WHERE ${addressKey} ORDER BY usedAtMs DESC LIMIT ${MAX_ADDRESSES})`,
    ),
    putFolded: db.prepare('INSERT INTO folded (id, atMs) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    count: db.prepare(
      'INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
    ),
    counters: db.prepare('SELECT name, value FROM counter'),
    anyOf: db.prepare('SELECT 1 FROM host WHERE origin = ? LIMIT 1'),
    udpFailed: db.prepare(evidence(UDP_FAILED, 'h3FailedAtMs')),
    udpReached: db.prepare(evidence(UDP_REACHED, 'h3AtMs')),
    list: db.prepare(`SELECT ${HOST_COLUMNS} FROM host ORDER BY origin, network`),
    hostsOf: db.prepare(`SELECT ${HOST_COLUMNS} FROM host WHERE origin = ? ORDER BY network`),
    usesOf: db.prepare(
      `SELECT ${USE_COLUMNS} FROM browserUse WHERE origin = ? ORDER BY site, browser, network`,
    ),
    addressesOf: db.prepare(
      `SELECT ${ADDRESS_COLUMNS} FROM address WHERE origin = ? ORDER BY network, usedAtMs DESC`,
    ),
    expireHosts: db.prepare(`${expire('host', 'origin, network', 'updatedAtMs')} RETURNING origin`),
    expireUses: db.prepare(expire('browserUse', 'origin, site, browser, network', 'seenAtMs')),
    expireAddresses: db.prepare(expire('address', 'origin, network, address', 'usedAtMs')),
    expireFolded: db.prepare(expire('folded', 'id', 'atMs')),
    wipe: ['host', 'browserUse', 'address', 'folded', 'counter'].map((table) =>
      db.prepare(`DELETE FROM ${table}`),
    ),
  };
}
