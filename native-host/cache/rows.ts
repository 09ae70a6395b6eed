// The host cache's SQL statements, prepared once per connection when first needed, and what reads and writes single
// records by them and deletes those that have expired.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { AltSvc } from '@photofinish/shared/web/alt-svc';
import type { Browser } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { foldAltSvc, isUnreadable, persistentPart, type Receipt } from './advertised.ts';
import { foldAddresses } from './fold.ts';
import { type ForecastBasis, MEASURED_FRESH_MS, RETENTION_MS, SHARED_FRESH_MS } from './policy.ts';
import {
  ADDRESS_COLUMNS,
  type AddressRecord,
  ANY_NETWORK,
  HOST_COLUMNS,
  HOST_FORECAST_COLUMNS,
  type HostForecastRow,
  type HostRecord,
  idsOf,
  isSoundAddress,
  isSoundForecastRow,
  isSoundHost,
  isSoundShared,
  isSoundUse,
  newHost,
  recordId,
  SHARED_COLUMNS,
  type SharedRecord,
  USE_COLUMNS,
  USE_FORECAST_COLUMNS,
  type UseForecastRow,
  type UseRecord,
} from './record.ts';
import { UDP_ANSWERED, UDP_FAILED, UDP_REACHED } from './schema.ts';

/** Deletion is spread over the writes in batches of this many rows, so that none of them takes long. */
const EXPIRE_ROWS = 64;
/** Addresses stored for an origin on a network: more than any name has at once. */
const MAX_ADDRESSES = 32;
/** Evidence for or against a network needs no more hosts than this. */
const MAX_EVIDENCE_HOSTS = 100;

const FORECAST_COLUMNS = [
  ...new Set(['network', 'browser', 'site', ...HOST_FORECAST_COLUMNS, ...USE_FORECAST_COLUMNS]),
];
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

function deletionOfExpired(table: string, key: string, age: string): string {
  return `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${age} < ? LIMIT ${EXPIRE_ROWS})`;
}

/** An origin without its port. */
function hostOf(origin: string): string {
  const withoutDigits = `rtrim(${origin}, '0123456789')`;
  return `iif(substr(${withoutDigits}, -1) = ':', rtrim(${withoutDigits}, ':'), ${origin})`;
}

/**
 * The newest origins on a network for which a condition has held since a time, with the addresses at which they were
 * reached. What lies in the future, as after the clock was set back, is no evidence.
 */
function evidence(condition: string, age: string): string {
  return `SELECT ${hostOf('origin')} AS host, ${age} AS atMs, (SELECT group_concat(address, ' ') FROM address
      WHERE address.origin = known.origin AND address.network = :network) AS addresses
    FROM known WHERE network = :network
    AND ${age} > :sinceMs AND ${age} <= :nowMs AND ${hostOf('origin')} <> ${hostOf(':except')} AND ${condition}
    ORDER BY ${age} DESC LIMIT ${MAX_EVIDENCE_HOSTS}`;
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
  expireNewcomers: deletionOfExpired('newcomer', 'site, day', 'day'),
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
  expireHosts: `${deletionOfExpired('known', 'id', 'updatedAtMs')} RETURNING origin`,
  expireUses: deletionOfExpired('known', 'id', 'seenAtMs'),
  expireAddresses: deletionOfExpired('address', 'origin, network, address', 'usedAtMs'),
  expireFolded: deletionOfExpired('folded', 'id', 'atMs'),
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

/** A batch is resent within minutes; a week also covers a laptop that was closed in between. */
const FOLDED_ID_LIFE_MS = 7 * 24 * 3_600_000;

type Row = Record<string, SQLInputValue>;

/** The rows of an origin that we could have written; notes the origin if there are others. */
function sound<T>(
  s: Statements,
  rows: readonly unknown[],
  isSound: (row: unknown) => row is T,
  origin: Origin,
): T[] {
  const good = rows.filter(isSound);
  if (good.length < rows.length) s.suspects.add(origin);
  return good;
}

/** Drops unsound rows of the origins where one was found; returns how many. */
export function dropUnsound(s: Statements): number {
  let dropped = 0;
  for (const origin of s.suspects) {
    const known = isKnown(s, origin);
    for (const row of s.rowsAbout.all({ ...idsOf(origin), origin })) {
      if (row.browser === '' ? isSoundHost(row) : isSoundUse(row)) continue;
      const { changes } = s.dropRow.run(row.rowId as string);
      s.count.run('rows', -Number(changes));
      dropped += Number(changes);
    }
    for (const row of s.addressesOf.all(origin))
      if (!isSoundAddress(row))
        dropped += Number(s.dropAddress.run(origin, row.network ?? '', row.address ?? '').changes);
    if (known && !isKnown(s, origin)) s.count.run('origins', -1);
  }
  s.suspects.clear();
  return dropped;
}

/** The record on this network, and the persistent one. */
interface HostRecords {
  readonly here: HostRecord | null;
  readonly anywhere: HostRecord | null;
}

/** What is known of an origin on a network. */
export function knownOf(s: Statements, origin: Origin, network: string): HostRecords {
  const ids = [recordId(origin, network), recordId(origin, ANY_NETWORK)];
  const rows = sound(s, s.hosts.all(...ids, origin), isSoundHost, origin);
  const of = (name: string): HostRecord | null => rows.find((row) => row.network === name) ?? null;
  return { here: of(network), anywhere: of(ANY_NETWORK) };
}

/** Everything that a forecast for an origin reads, in one look-up. */
export function forecastRowsOf(
  s: Statements,
  origin: Origin,
  { network, browser, site }: { network: string; browser: Browser; site: string },
): Omit<ForecastBasis, 'shared'> {
  const ids = [
    recordId(origin, network),
    recordId(origin, ANY_NETWORK),
    recordId(origin, network, browser, site),
  ];
  const rows = s.forecast.all(...ids, origin) as unknown as (HostForecastRow &
    UseForecastRow &
    Pick<UseRecord, 'network' | 'site'> & { readonly browser: Browser | '' })[];
  const of = (on: string, by: Browser | '', under: string) => {
    const found = rows.find((row) => row.network === on && row.browser === by && row.site === under);
    if (found === undefined || isSoundForecastRow(found)) return found ?? null;
    s.suspects.add(origin);
    return null;
  };
  return { here: of(network, '', ''), anywhere: of(ANY_NETWORK, '', ''), use: of(network, browser, site) };
}

/** What is known of an origin's addresses on a network. */
export function addressesOf(s: Statements, origin: Origin, network: string): AddressRecord[] {
  return sound(s, s.addresses.all({ origin, network }), isSoundAddress, origin);
}

/** What other machines shared under a key; null: nothing. */
export function sharedOf(s: Statements, key: string): SharedRecord | null {
  const row = s.shared.get(key);
  return row !== undefined && isSoundShared(row) ? row : null;
}

/** A browser's own history with an origin under a site on a network. */
export function useOf(
  s: Statements,
  browser: Browser,
  origin: Origin,
  site: string,
  network: string,
): UseRecord | null {
  const id = recordId(origin, network, browser, site);
  return sound(s, s.use.all(id, origin, site, browser, network), isSoundUse, origin)[0] ?? null;
}

/** Stores a browser's use of an origin; `old`: the record it replaces, null if there is none. */
export function keepUse(s: Statements, use: UseRecord, old: UseRecord | null): void {
  const { browser, origin, site, network } = use;
  if (old === null) s.count.run('rows', 1);
  s.putUse.run({ ...(use as unknown as Row), id: recordId(origin, network, browser, site) });
}

/** Whether any browser's use of an origin is stored, under any site. */
export function isUsed(s: Statements, origin: Origin): boolean {
  const { first, last } = idsOf(origin);
  return s.usedBy.get(first, last, origin) !== undefined;
}

function isKnown(s: Statements, origin: Origin): boolean {
  return s.anyOf.get({ ...idsOf(origin), origin }) !== undefined;
}

/** Deletes everything about an origin; returns whether there was anything. */
export function forgetOrigin(s: Statements, origin: Origin): boolean {
  const counted = isKnown(s, origin);
  const { changes } = s.forgetOrigin.run({ ...idsOf(origin), origin });
  s.forgetAddresses.run(origin);
  if (counted) s.count.run('origins', -1);
  s.count.run('rows', -Number(changes));
  return Number(changes) > 0;
}

/** Stores a record; `old`: the one it replaces, null if there is none. Updates the count of origins. */
export function keepHost(s: Statements, host: HostRecord, old: HostRecord | null): void {
  if (old === null && !isKnown(s, host.origin)) s.count.run('origins', 1);
  if (old === null) s.count.run('rows', 1);
  s.putHost.run({ ...(host as unknown as Row), id: recordId(host.origin, host.network) });
}

/** Alternatives with `persist=1` are stored a second time, under `ANY_NETWORK`. */
export function keepPersistent(
  s: Statements,
  { origin, altSvc, known }: { origin: Origin; altSvc: AltSvc; known: HostRecord | null },
  receipt: Receipt,
): void {
  // Its persistent part would be the `clear` of a header that names none.
  if (isUnreadable(altSvc)) return;
  const lasting = persistentPart(altSvc);
  if (known === null && lasting.clear) return;
  const next = foldAltSvc(known ?? newHost(origin, ANY_NETWORK, receipt.atMs), lasting, receipt);
  keepHost(s, { ...next, updatedAtMs: receipt.atMs }, known);
}

/** The addresses that answered in a race; if there are too many, only the newest are kept. */
export function keepAddresses(s: Statements, race: Omit<OriginRace, 'verdict'>, nowMs: number): void {
  const { origin, network } = race;
  const known = new Map(addressesOf(s, origin, network).map((record) => [record.address, record]));
  const used = foldAddresses(known, race, nowMs);
  for (const record of used) s.putAddress.run(record as unknown as Row);
  if (used.length > 0) s.trimAddresses.run({ origin, network });
}

/** Deletes a batch of expired records, and every shared outcome that is too old to be used. */
export function expire(s: Statements, nowMs: number): void {
  const gone = s.expireHosts.all(nowMs - RETENTION_MS) as unknown as { origin: Origin }[];
  for (const origin of new Set(gone.map((row) => row.origin)))
    if (!isKnown(s, origin)) s.count.run('origins', -1);
  const uses = s.expireUses.run(nowMs - RETENTION_MS).changes;
  const rows = gone.length + Number(uses);
  if (rows > 0) s.count.run('rows', -rows);
  s.expireAddresses.run(nowMs - MEASURED_FRESH_MS);
  s.expireShared.run(nowMs - SHARED_FRESH_MS);
  const folded = Number(s.expireFolded.run(nowMs - FOLDED_ID_LIFE_MS).changes);
  if (folded > 0) s.count.run('folded', -folded);
}

/** The stored counters by name. */
export function countersOf(s: Statements): Map<string, number> {
  const rows = s.counters.all().map((row) => Object.values(row) as [string, number]);
  return new Map(rows.filter(([, value]) => Number.isSafeInteger(value) && value >= 0));
}
