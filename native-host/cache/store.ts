// The host cache: the one owner of what is known about hosts, read before every navigation and fed by every race and
// every observation. Reads go straight to SQLite (about 5 us); a map in front would go stale between helpers.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Forecast } from '@photofinish/shared/forecast';
import type { Browser, Observation } from '@photofinish/shared/observation';
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import type { Clock } from '../race/clock.ts';
import { CacheUnavailable, isDiskFull, openDatabase } from './database.ts';
import { foldAltSvc, foldRace, foldSighting, foldUse, persistentPart } from './fold.ts';
import { forecastOf, isRemembered, RETENTION_MS, type Recall, recallOf } from './policy.ts';
import { ANY_NETWORK, type HostRecord, newHost, newUse, type UseRecord } from './record.ts';

/** Deleting is spread over the writes in pieces of this many rows, so that none of them takes long. */
const EXPIRE_ROWS = 64;
/** A batch is sent again within minutes; a week also covers a laptop closed in between. */
const FOLDED_ID_LIFE_MS = 7 * 24 * 3_600_000;

export interface ForecastQuery {
  readonly network: string;
  readonly browser: Browser;
  readonly site: string;
  readonly origins: readonly Origin[];
}

export interface CacheStats {
  readonly store: 'sqlite' | 'memory';
  /** Why it works in memory, or why the last write failed; null when all is well. */
  readonly storeReason: string | null;
  readonly origins: number;
  readonly lookups: number;
  readonly hits: number;
  readonly races: number;
}

export interface OriginRecords {
  readonly hosts: readonly HostRecord[];
  readonly uses: readonly UseRecord[];
}

export interface HostCache {
  /** One forecast per origin, in their order. Counts every lookup and hit. */
  forecast(query: ForecastQuery): Forecast[];
  /**
   * Folds a browser's observations in, in one transaction, durable on return. Gives how many were new: an id seen
   * before changes nothing. Throws `CacheUnavailable` when the file cannot be written; nothing was stored then.
   */
  observe(network: string, browser: Browser, observations: readonly Observation[]): number;
  /** Folds a finished race in, under the network it names. Throws `CacheUnavailable`. */
  recordRace(race: Omit<OriginRace, 'verdict'>): void;
  /** What a race with memory `full` may rely on; null when nothing fresh is known. */
  recall(network: string, origin: Origin): Recall | null;
  /** Every record about hosts, by origin and network. */
  list(): HostRecord[];
  /** Everything about one origin. */
  show(origin: Origin): OriginRecords;
  stats(): CacheStats;
  /**
   * Deletes every record, counters and files set aside; the bytes are overwritten. Gives how many origins went. Throws
   * `CacheUnavailable` when something of them may be left.
   */
  wipe(): number;
  /**
   * Writes the counters and nothing else: for a process that is about to end. `close` may wait a second for the disk,
   * while it folds the journal into the file; what was acknowledged is as safe in the journal.
   */
  save(): void;
  close(): void;
}

export interface HostCacheOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Told in words when the file is set aside, left alone or cannot be used. */
  readonly say?: (message: string) => void;
}

interface Statements {
  readonly host: StatementSync;
  readonly use: StatementSync;
  readonly putHost: StatementSync;
  readonly putUse: StatementSync;
  readonly putFolded: StatementSync;
  readonly count: StatementSync;
  readonly counters: StatementSync;
  readonly origins: StatementSync;
  readonly list: StatementSync;
  readonly hostsOf: StatementSync;
  readonly usesOf: StatementSync;
  readonly expireHosts: StatementSync;
  readonly expireUses: StatementSync;
  readonly expireFolded: StatementSync;
  readonly wipe: readonly StatementSync[];
}

const HOST_COLUMNS = Object.keys(newHost('' as Origin, '', 0));
const USE_COLUMNS = Object.keys(newUse('chromium', '' as Origin, '', ''));

function put(table: string, columns: readonly string[]): string {
  return `INSERT OR REPLACE INTO ${table} (${columns}) VALUES (${columns.map((c) => `:${c}`)})`;
}

function expire(table: string, key: string, age: string): string {
  return `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${age} < ? LIMIT ${EXPIRE_ROWS})`;
}

function prepare(db: DatabaseSync): Statements {
  return {
    host: db.prepare(`SELECT ${HOST_COLUMNS} FROM host WHERE origin = ? AND network = ?`),
    use: db.prepare(
      `SELECT ${USE_COLUMNS} FROM browserUse WHERE origin = ? AND site = ? AND browser = ? AND network = ?`,
    ),
    putHost: db.prepare(put('host', HOST_COLUMNS)),
    putUse: db.prepare(put('browserUse', USE_COLUMNS)),
    putFolded: db.prepare('INSERT INTO folded (id, atMs) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    count: db.prepare(
      'INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
    ),
    counters: db.prepare('SELECT name, value FROM counter'),
    origins: db.prepare('SELECT count(DISTINCT origin) AS n FROM host'),
    list: db.prepare(`SELECT ${HOST_COLUMNS} FROM host ORDER BY origin, network`),
    hostsOf: db.prepare(`SELECT ${HOST_COLUMNS} FROM host WHERE origin = ? ORDER BY network`),
    usesOf: db.prepare(
      `SELECT ${USE_COLUMNS} FROM browserUse WHERE origin = ? ORDER BY site, browser, network`,
    ),
    expireHosts: db.prepare(expire('host', 'origin, network', 'updatedAtMs')),
    expireUses: db.prepare(expire('browserUse', 'origin, site, browser, network', 'seenAtMs')),
    expireFolded: db.prepare(expire('folded', 'id', 'atMs')),
    wipe: ['host', 'browserUse', 'folded', 'counter'].map((table) => db.prepare(`DELETE FROM ${table}`)),
  };
}

type Row = Record<string, SQLInputValue>;

/** The one number that a statement answers with. */
function onlyNumber(statement: StatementSync): number {
  return Number(Object.values(statement.get() ?? {})[0]);
}

function hostOf(s: Statements, origin: Origin, network: string): HostRecord | null {
  return (s.host.get(origin, network) as unknown as HostRecord | undefined) ?? null;
}

function useOf(
  s: Statements,
  browser: Browser,
  origin: Origin,
  site: string,
  network: string,
): UseRecord | null {
  return (s.use.get(origin, site, browser, network) as unknown as UseRecord | undefined) ?? null;
}

/** Alternatives with `persist=1` are kept a second time, under no network. */
function keepPersistent(s: Statements, origin: Origin, altSvc: string, atMs: number): void {
  const lasting = persistentPart(altSvc);
  const known = hostOf(s, origin, ANY_NETWORK);
  if (known === null && lasting === 'clear') return;
  const next = foldAltSvc(known ?? newHost(origin, ANY_NETWORK, atMs), lasting, atMs);
  s.putHost.run({ ...next, updatedAtMs: atMs } as unknown as Row);
}

/** Opens the cache; it always works, if need be in memory (`stats().store`, `stats().storeReason`). */
export function openHostCache(options: HostCacheOptions): HostCache {
  const { clock, path } = options;
  const database = openDatabase<Statements>({
    path,
    epochMs: () => clock.epochMs(),
    prepare,
    say: options.say ?? (() => {}),
  });
  // Counted here and written along with the next transaction: a forecast itself never writes.
  const pending = { lookups: 0, hits: 0, races: 0 };

  function write<T>(run: (s: Statements, nowMs: number) => T): T {
    const nowMs = clock.epochMs();
    const counted = { ...pending };
    const result = database.write((s) => {
      const value = run(s, nowMs);
      for (const [name, n] of Object.entries(counted)) if (n > 0) s.count.run(name, n);
      s.expireHosts.run(nowMs - RETENTION_MS);
      s.expireUses.run(nowMs - RETENTION_MS);
      s.expireFolded.run(nowMs - FOLDED_ID_LIFE_MS);
      return value;
    });
    pending.lookups -= counted.lookups;
    pending.hits -= counted.hits;
    pending.races -= counted.races;
    return result;
  }

  function save(): void {
    if (pending.lookups + pending.races === 0) return;
    try {
      // Whoever writes next folds the journal.
      database.maintain((db) => db.exec('PRAGMA wal_autocheckpoint = 0'));
      write(() => undefined);
    } catch {
      // Only counters are lost, and whoever could not write has been told.
    }
  }

  function observeOne(s: Statements, network: string, browser: Browser, o: Observation, nowMs: number): void {
    // A clock that runs ahead must not make a record that nothing can ever update.
    const atMs = Math.min(o.atMs, nowMs);
    const oldHost = hostOf(s, o.origin, network) ?? newHost(o.origin, network, atMs);
    const host = foldSighting(oldHost, o, atMs);
    if (host !== oldHost) s.putHost.run(host as unknown as Row);
    const oldUse = useOf(s, browser, o.origin, o.site, network) ?? newUse(browser, o.origin, o.site, network);
    const use = foldUse(oldUse, o, atMs);
    if (use !== oldUse) s.putUse.run(use as unknown as Row);
    if (o.altSvc !== undefined && o.delivery === 'network') keepPersistent(s, o.origin, o.altSvc, atMs);
  }

  function wipeRows(): number {
    try {
      return database.write((s) => {
        const origins = onlyNumber(s.origins);
        for (const statement of s.wipe) statement.run();
        return origins;
      });
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      // Overwriting takes room in the journal first; a full disk has none and still has to forget.
      const origins = database.read((s) => onlyNumber(s.origins));
      database.discard();
      return origins;
    }
  }

  return {
    forecast({ network, browser, site, origins }) {
      const nowMs = clock.epochMs();
      const forecasts = database.read((s) =>
        origins.map((origin) => {
          const host = hostOf(s, origin, network);
          const anywhere = hostOf(s, origin, ANY_NETWORK);
          return forecastOf(origin, host, anywhere, useOf(s, browser, origin, site, network), nowMs);
        }),
      );
      pending.lookups += forecasts.length;
      pending.hits += forecasts.filter((f) => f.hit).length;
      return forecasts;
    },
    observe(network, browser, observations) {
      return write((s, nowMs) => {
        let stored = 0;
        for (const o of observations.toSorted((a, b) => a.atMs - b.atMs)) {
          if (s.putFolded.run(`${browser}:${o.id}`, nowMs).changes === 0) continue;
          observeOne(s, network, browser, o, nowMs);
          stored += 1;
        }
        return stored;
      });
    },
    recordRace(race) {
      pending.races += 1;
      write((s, nowMs) => {
        const known = hostOf(s, race.origin, race.network);
        const { altSvc } = race.discovered;
        const remembered =
          altSvc !== null && isRemembered(altSvc, [known, hostOf(s, race.origin, ANY_NETWORK)], nowMs);
        const discovered = { ...race.discovered, altSvc: remembered ? null : altSvc };
        const host = known ?? newHost(race.origin, race.network, nowMs);
        s.putHost.run(foldRace(host, { ...race, discovered }, nowMs) as unknown as Row);
        if (discovered.altSvc !== null) keepPersistent(s, race.origin, discovered.altSvc, nowMs);
      });
    },
    recall(network, origin) {
      return database.read((s) =>
        recallOf(hostOf(s, origin, network), hostOf(s, origin, ANY_NETWORK), clock.epochMs()),
      );
    },
    list: () => database.read((s) => s.list.all() as unknown as HostRecord[]),
    show: (origin) =>
      database.read((s) => ({
        hosts: s.hostsOf.all(origin) as unknown as HostRecord[],
        uses: s.usesOf.all(origin) as unknown as UseRecord[],
      })),
    stats() {
      return database.read((s) => {
        const kept = new Map(s.counters.all().map((row) => Object.values(row) as [string, number]));
        return {
          store: database.store().store,
          storeReason: database.store().reason,
          origins: onlyNumber(s.origins),
          lookups: (kept.get('lookups') ?? 0) + pending.lookups,
          hits: (kept.get('hits') ?? 0) + pending.hits,
          races: (kept.get('races') ?? 0) + pending.races,
        };
      });
    },
    wipe() {
      const wiped = wipeRows();
      // The journal still holds what was deleted.
      database.maintain((db) => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
      Object.assign(pending, { lookups: 0, hits: 0, races: 0 });
      removeAside(path);
      const { store, reason } = database.store();
      if (store === 'memory' && existsSync(path))
        throw new CacheUnavailable(`only what was in memory is wiped, ${path} is left alone: ${reason}`);
      return wiped;
    },
    save,
    close() {
      save();
      database.close();
    },
  };
}

/** Files set aside as corrupt are browsing history too. */
function removeAside(path: string): void {
  const directory = dirname(path);
  const prefix = `${basename(path)}.corrupt-`;
  try {
    for (const name of readdirSync(directory)) if (name.startsWith(prefix)) rmSync(join(directory, name));
  } catch {
    // No directory: the cache is in memory and nothing was ever set aside.
  }
}
