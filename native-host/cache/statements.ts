// The host cache's SQL, prepared once for each connection.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Origin } from '@photofinish/shared/origin';
import { HOST_OUTLOOK, newHost, newUse, USE_OUTLOOK } from './record.ts';
import { UDP_FAILED, UDP_REACHED } from './schema.ts';

/** Deleting is spread over the writes in pieces of this many rows, so that none of them takes long. */
const EXPIRE_ROWS = 64;
/** Addresses kept for an origin on a network: more than any name gives at once. */
const MAX_ADDRESSES = 32;
/** Evidence for or against a network needs no more hosts than this. */
export const MAX_EVIDENCE_HOSTS = 100;

export interface Statements {
  readonly outlook: StatementSync;
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
const OUTLOOK_COLUMNS = [...new Set(['network', 'browser', 'site', ...HOST_OUTLOOK, ...USE_OUTLOOK])];
const ADDRESS_COLUMNS = ['origin', 'network', 'address', 'srttMs', 'usedAtMs'];

/** Reading compares the key as well, for two keys may have one id. */
const HOST_AT = "origin = ? AND browser = ''";
/** Of everything about an origin, which lies between two ids. */
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

/** Other origins of a network that a condition holds for since a time. */
function evidence(condition: string, age: string): string {
  return `SELECT count(*) FROM (SELECT 1 FROM known WHERE network = :network AND ${age} > :sinceMs
    AND origin <> :except AND ${condition} LIMIT ${MAX_EVIDENCE_HOSTS})`;
}

/** Prepares all of it; the tables must be those of the current schema. */
export function prepareStatements(db: DatabaseSync): Statements {
  const addressKey = 'origin = :origin AND network = :network';
  return {
    outlook: db.prepare(`SELECT ${OUTLOOK_COLUMNS} FROM known WHERE id IN (?, ?, ?) AND origin = ?`),
    hosts: db.prepare(`SELECT ${HOST_COLUMNS} FROM known WHERE id IN (?, ?) AND ${HOST_AT}`),
    use: db.prepare(
      `SELECT ${USE_COLUMNS} FROM known WHERE id = ? AND origin = ? AND site = ? AND browser = ? AND network = ?`,
    ),
    addresses: db.prepare(`SELECT ${ADDRESS_COLUMNS} FROM address WHERE ${addressKey}`),
    putHost: db.prepare(put('known', ['id', ...HOST_COLUMNS], { browser: "''", site: "''" })),
    putUse: db.prepare(put('known', ['id', ...USE_COLUMNS])),
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
    anyOf: db.prepare(`SELECT 1 ${ABOUT} AND browser = '' LIMIT 1`),
    udpFailed: db.prepare(evidence(UDP_FAILED, 'h3FailedAtMs')),
    udpReached: db.prepare(evidence(UDP_REACHED, 'h3AtMs')),
    list: db.prepare(`SELECT ${HOST_COLUMNS} FROM known WHERE browser = '' ORDER BY origin, network`),
    hostsOf: db.prepare(`SELECT ${HOST_COLUMNS} ${ABOUT} AND browser = '' ORDER BY network`),
    usesOf: db.prepare(`SELECT ${USE_COLUMNS} ${ABOUT} AND browser <> '' ORDER BY site, browser, network`),
    addressesOf: db.prepare(
      `SELECT ${ADDRESS_COLUMNS} FROM address WHERE origin = ? ORDER BY network, usedAtMs DESC`,
    ),
    expireHosts: db.prepare(`${expire('known', 'id', 'updatedAtMs')} RETURNING origin`),
    expireUses: db.prepare(expire('known', 'id', 'seenAtMs')),
    expireAddresses: db.prepare(expire('address', 'origin, network, address', 'usedAtMs')),
    expireFolded: db.prepare(expire('folded', 'id', 'atMs')),
    wipe: ['known', 'address', 'folded', 'counter'].map((table) => db.prepare(`DELETE FROM ${table}`)),
  };
}
