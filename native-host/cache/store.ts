// The host cache: the single owner of what is known about hosts, read before every navigation and updated by every race
// and observation. Reads go straight to SQLite (about 5 us); a map in front of it would become stale with several
// helpers.
import { existsSync, rmSync } from 'node:fs';
import type { StatementSync } from 'node:sqlite';
import type { Forecast, Stats } from '@photofinish/shared/port/wire';
import type { CacheUse, NetworkEvidence, OriginRace } from '@photofinish/shared/race/outcome';
import { countHosts, type Witness } from '@photofinish/shared/verdict/evidence';
import type { Browser, Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { isNear } from '../address/guard.ts';
import type { Clock } from '../clock.ts';
import { readSalt, saltPath } from '../network/key.ts';
import { asideFiles } from '../paths.ts';
import { CacheUnavailable, Database, isDiskFull } from './database.ts';
import { type CacheLimits, LIMITS, trim } from './limits.ts';
import { forecastOf, type PriorKnowledge, recallOf } from './policy.ts';
import {
  type AddressRecord,
  type HostRecord,
  idsOf,
  isSoundAddress,
  isSoundHost,
  isSoundUse,
  SHARED_REFUSALS,
  type SharedRecord,
  type SharedRefusal,
  type SharedRefusals,
  type UseRecord,
} from './record.ts';
import { recordObservations, recordRace, recordShared, type SharedChange } from './recording.ts';
import {
  addressesOf,
  countersOf,
  dropUnsound,
  expire,
  forecastRowsOf,
  forgetOrigin,
  knownOf,
  prepareStatements,
  type Statements,
  sharedOf,
} from './rows.ts';
import { onlyNumber, whyForeign } from './schema.ts';

/** A network is judged by what happened on it within this time. */
const EVIDENCE_MS = 24 * 3_600_000;

interface ForecastQuery {
  readonly network: string;
  readonly browser: Browser;
  readonly site: string;
  readonly origins: readonly Origin[];
  /** False: only from this machine's own evidence; absent: also from what is shared. */
  readonly shared?: boolean;
}

/** The cache's part of the port's `stats`; without the network, which the cache does not know. */
type CacheStats = {
  readonly [Name in Exclude<keyof Stats, 'id' | 'type' | 'network'>]-?: Exclude<Stats[Name], undefined>;
};

/** The local copy of the fleet cache. */
export interface SharedStats {
  readonly outcomes: number;
  /** The hour of the newest; null: there is none. */
  readonly newestAtMs: number | null;
  readonly refused: SharedRefusals;
}

export interface OriginRecords {
  readonly hosts: readonly HostRecord[];
  readonly uses: readonly UseRecord[];
  readonly addresses: readonly AddressRecord[];
}

export interface NetworkRecord {
  readonly network: string;
  readonly origins: number;
  readonly updatedAtMs: number;
}

export interface HostCache {
  /** One forecast per origin, in the given order. Counts every lookup and hit. */
  forecast(query: ForecastQuery): Forecast[];
  /**
   * Folds in a browser's observations in one transaction, durable on return. Returns how many were new: an id seen
   * before changes nothing. Throws `CacheUnavailable` when the file cannot be written; then nothing was stored.
   */
  observe(network: string, browser: Browser, observations: readonly Observation[]): number;
  /** Folds in a finished race under the network it names. Throws `CacheUnavailable`. */
  recordRace(race: Omit<OriginRace, 'verdict'>): void;
  /** What a race may know beforehand; null when nothing fresh is known at all. */
  recall(network: string, origin: Origin): PriorKnowledge | null;
  /** What the organisation's machines share about an origin; null: nothing, or nothing is shared. */
  shared(origin: Origin): SharedRecord | null;
  /** Stores what the organisation's machines share, and counts what was not accepted. Throws `CacheUnavailable`. */
  recordShared(changes: readonly SharedChange[], refused: SharedRefusals): void;
  sharedStats(): SharedStats;
  /**
   * How other hosts fared over UDP on a network within the last day, each kind counted up to 100. Those that failed
   * advertise HTTP/3; of those reached, no later evidence contradicts it. Hosts on the local network are evidence about
   * each other only.
   */
  udpEvidence(network: string, except: Origin): NetworkEvidence;
  /** Every record about hosts, by origin and network. */
  list(): HostRecord[];
  /** Everything about one origin. */
  show(origin: Origin): OriginRecords;
  /**
   * Deletes everything about one origin, and the counts of sites of which nothing else is stored; the bytes are
   * overwritten. Returns whether there was anything. Throws `CacheUnavailable`.
   */
  forget(origin: Origin): boolean;
  /** The networks with any records, the most recently used first. */
  networks(): NetworkRecord[];
  /** The user's names for networks by key, sorted by name. */
  networkNames(): ReadonlyMap<string, string>;
  /** Names a network; null removes its name. Throws `CacheUnavailable`. */
  nameNetwork(network: string, name: string | null): void;
  stats(): CacheStats;
  /** The part of `stats` that needs no look at the file: for every message and on opening. */
  store(): Pick<CacheStats, 'store' | 'storeReason'>;
  /**
   * Deletes every record, network names, counters and files set aside; the bytes are overwritten. Returns the number of
   * origins deleted. Throws `CacheUnavailable` if anything may be left.
   */
  wipe(): number;
  /**
   * Writes only the counters, for a process that is about to end. `close` may wait a second for the disk while it
   * checkpoints the journal; acknowledged data is just as safe in the journal.
   */
  save(): void;
  close(): void;
}

export interface HostCacheOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Called with a message when the file is set aside, left alone or cannot be used, and when that trouble is over. */
  readonly log?: (message: string, isTrouble: boolean) => void;
  /** Called instead of `log` when a damaged file is set aside, or damaged records are dropped. */
  readonly damaged?: (message: string) => void;
  /** Smaller ones in tests. */
  readonly limits?: CacheLimits;
  /** Under which key other machines share what they know of an origin; null, or absent: nothing is shared. */
  readonly sharedKey?: (origin: Origin) => string | null;
}

/**
 * The salt of a cache's networks, created beside its file if necessary. Beside another program's file nothing is written:
 * the salt then lives as long as the process. `log` receives messages for the user.
 */
export function cacheSalt(cachePath: string, log: (message: string) => void = () => {}): Uint8Array {
  const file = saltPath(cachePath);
  return readSalt(file, { log, isKept: () => whyForeign(cachePath) === null });
}

/** Opens the cache; it always works, while necessary in memory (`store()` says so). */
export function openHostCache(options: HostCacheOptions): HostCache {
  const { clock, path, log = () => {}, limits = LIMITS, sharedKey = () => null } = options;
  const { damaged = (message: string) => log(message, true) } = options;
  const database = new Database<Statements>({ path, clock, prepare: prepareStatements, log, damaged });
  const pending = { ...NOTHING_COUNTED };
  const c: OpenCache = { database, clock, path, damaged, limits, sharedKey, pending, unsaved: [] };
  return {
    forecast: (query) => forecast(c, query),
    observe: (network, browser, observations) =>
      write(c, (s, nowMs) => recordObservations(s, { network, browser }, observations, { nowMs, limits })),
    recordRace(race) {
      countRace(c, race);
      const atMs = write(c, (s, nowMs) => {
        recordRace(s, race, nowMs);
        return nowMs;
      });
      if (database.store().store === 'memory') c.unsaved = [...c.unsaved, { race, atMs }].slice(-MAX_UNSAVED);
    },
    recall: (network, origin) =>
      database.read((s) => {
        const { here, anywhere } = knownOf(s, origin, network);
        const addresses = addressesOf(s, origin, network);
        return recallOf(here, anywhere, addresses, clock.epochMs(), readShared(c, s, origin));
      }),
    shared: (origin) => database.read((s) => readShared(c, s, origin)),
    recordShared: (changes, refused) =>
      write(c, (s, nowMs) => {
        recordShared(s, changes, nowMs);
        for (const [reason, n] of Object.entries(refused)) s.count.run(refusalCounter(reason), n);
      }),
    sharedStats: () => database.read(sharedStatsOf),
    udpEvidence: (network, except) => udpEvidence(c, network, except),
    list: () => database.read((s) => s.list.all().filter((row) => isSoundHost(row))),
    show: (origin) => database.read((s) => recordsOf(s, origin)),
    forget(origin) {
      const known = write(c, (s) => {
        // Before its records, which name the sites. Eviction keeps these counts, because it is based on them.
        s.forgetNewcomers.run({ ...idsOf(origin), origin });
        return forgetOrigin(s, origin);
      });
      if (known) emptyJournal(c);
      return known;
    },
    networks: () =>
      database
        .read((s) => s.networks.all() as unknown as NetworkRecord[])
        .toSorted((a, b) => b.updatedAtMs - a.updatedAtMs),
    networkNames: () =>
      database.read(
        (s) => new Map(s.networkNames.all().map((row) => [String(row.network), String(row.name)])),
      ),
    nameNetwork: (network, name) =>
      write(c, (s) => {
        if (name === null) s.dropNetworkName.run(network);
        else s.putNetworkName.run(network, name);
      }),
    stats: () => database.read((s) => statsOf(c, s)),
    store: () => storeOf(c),
    wipe: () => wipe(c),
    save: () => save(c),
    close() {
      save(c);
      database.close();
    },
  };
}

/** Initial values of the counters. */
const NOTHING_COUNTED = {
  lookups: 0,
  hits: 0,
  races: 0,
  raceLookups: 0,
  raceHits: 0,
  raceScored: 0,
  raceRight: 0,
};
/** A race whose mode does not use remembered decisions. */
const NOT_ASKED: CacheUse = { lookups: 0, hits: 0, scored: 0, right: 0 };
/** More races than anybody starts while a disk is repaired. */
const MAX_UNSAVED = 200;
const COUNTERS = Object.keys(NOTHING_COUNTED) as (keyof typeof NOTHING_COUNTED)[];

/** An open cache and its counters. */
interface OpenCache extends Required<Omit<HostCacheOptions, 'log'>> {
  readonly database: Database<Statements>;
  /** Counted here and written with the next transaction: a forecast itself never writes. */
  readonly pending: { -readonly [Name in keyof typeof NOTHING_COUNTED]: number };
  /** Races that were recorded in memory only; the file gets them as soon as it can be used. */
  unsaved: readonly { readonly race: Omit<OriginRace, 'verdict'>; readonly atMs: number }[];
}

function write<T>(c: OpenCache, run: (s: Statements, nowMs: number) => T): T {
  const nowMs = c.clock.epochMs();
  const counted = { ...c.pending };
  let dropped = 0;
  const isKept = (): boolean => c.database.store().store === 'sqlite';
  const result = c.database.write((s) => {
    if (isKept()) for (const { race, atMs } of c.unsaved) recordRace(s, race, nowMs, atMs);
    dropped = dropUnsound(s);
    if (dropped > 0) s.count.run('unsound', dropped);
    const value = run(s, nowMs);
    // In memory they stay pending, for the file.
    if (isKept()) for (const [name, n] of Object.entries(counted)) if (n > 0) s.count.run(name, n);
    expire(s, nowMs);
    trim(s, nowMs, c.limits);
    return value;
  });
  if (isKept()) {
    c.unsaved = [];
    for (const name of COUNTERS) c.pending[name] -= counted[name];
  }
  if (dropped > 0)
    c.damaged(`${dropped} damaged ${dropped === 1 ? 'record' : 'records'} of the host cache dropped`);
  return result;
}

function countRace(c: OpenCache, race: Omit<OriginRace, 'verdict'>): void {
  c.pending.races += 1;
  const { lookups, hits, scored, right } = race.summary.cache ?? NOT_ASKED;
  c.pending.raceLookups += lookups;
  c.pending.raceHits += hits;
  c.pending.raceScored += scored;
  c.pending.raceRight += right;
}

function save(c: OpenCache): void {
  if (c.pending.lookups + c.pending.races === 0) return;
  try {
    // The next process that writes checkpoints the journal.
    c.database.maintain((db) => db.exec('PRAGMA wal_autocheckpoint = 0'));
    write(c, () => undefined);
  } catch {
    // Only counters are lost, and failed writes have been reported.
  }
}

function readShared(c: OpenCache, s: Statements, origin: Origin): SharedRecord | null {
  const key = c.sharedKey(origin);
  return key === null ? null : sharedOf(s, key);
}

function forecast(c: OpenCache, query: ForecastQuery): Forecast[] {
  const nowMs = c.clock.epochMs();
  const forecasts = c.database.read((s) =>
    query.origins.map((origin) => {
      const rows = forecastRowsOf(s, origin, query);
      const shared = query.shared === false ? {} : { shared: () => readShared(c, s, origin) };
      return forecastOf(origin, { ...rows, ...shared }, nowMs);
    }),
  );
  c.pending.lookups += forecasts.length;
  c.pending.hits += forecasts.filter((f) => f.hit).length;
  return forecasts;
}

function recordsOf(s: Statements, origin: Origin): OriginRecords {
  const about = { ...idsOf(origin), origin };
  return {
    hosts: s.hostsOf.all(about).filter((row) => isSoundHost(row)),
    uses: s.usesOf.all(about).filter((row) => isSoundUse(row)),
    addresses: s.addressesOf.all(origin).filter((row) => isSoundAddress(row)),
  };
}

function udpEvidence(c: OpenCache, network: string, except: Origin): NetworkEvidence {
  const nowMs = c.clock.epochMs();
  const parameters = { network, except, nowMs, sinceMs: nowMs - EVIDENCE_MS };
  return c.database.read((s) => {
    const own = addressesOf(s, except, network).map(({ address }) => address);
    const near = isNear(own);
    const seen = (statement: StatementSync): (Witness & { readonly atMs: number })[] =>
      statement
        .all(parameters)
        .map((row) => ({
          host: String(row.host),
          atMs: Number(row.atMs),
          addresses: row.addresses === null ? [] : String(row.addresses).split(' '),
        }))
        // Those on the local network show nothing about paths beyond it, nor the other way round.
        .filter(({ addresses }) => near === null || (isNear(addresses) ?? near) === near);
    const [failed, reached, answered] = [seen(s.udpFailed), seen(s.udpReached), seen(s.udpAnswered)];
    const names = (witnesses: readonly Witness[]): number => new Set(witnesses.map(({ host }) => host)).size;
    return {
      failedHosts: countHosts(failed, own),
      reachedHosts: names(reached),
      answeredHosts: names(answered),
      reachedLater: (reached[0]?.atMs ?? 0) > (failed[0]?.atMs ?? 0),
    };
  });
}

function storeOf({ database }: OpenCache): Pick<CacheStats, 'store' | 'storeReason'> {
  const { store, reason } = database.store();
  return { store, storeReason: reason };
}

function statsOf(c: OpenCache, s: Statements): CacheStats {
  const kept = countersOf(s);
  const counted = COUNTERS.map((name) => [name, (kept.get(name) ?? 0) + c.pending[name]]);
  return {
    ...storeOf(c),
    origins: kept.get('origins') ?? 0,
    unsound: kept.get('unsound') ?? 0,
    refused: kept.get('refused') ?? 0,
    shared: onlyNumber(s.sharedCount),
    sharedRefused: refusalsIn(kept).reduce((sum, [, n]) => sum + n, 0),
    ...(Object.fromEntries(counted) as typeof NOTHING_COUNTED),
  };
}

const refusalCounter = (reason: string): string => `sharedRefused ${reason}`;

function refusalsIn(kept: ReadonlyMap<string, number>): [SharedRefusal, number][] {
  return SHARED_REFUSALS.map((reason) => [reason, kept.get(refusalCounter(reason)) ?? 0]);
}

function sharedStatsOf(s: Statements): SharedStats {
  const refused = refusalsIn(countersOf(s)).filter(([, n]) => n > 0);
  const outcomes = onlyNumber(s.sharedCount);
  return {
    outcomes,
    newestAtMs: outcomes === 0 ? null : onlyNumber(s.sharedNewest),
    refused: Object.fromEntries(refused),
  };
}

/** The journal still contains what was deleted. */
function emptyJournal(c: OpenCache): void {
  c.database.maintain((db) => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
}

function wipeRows(c: OpenCache): number {
  try {
    return c.database.write((s) => {
      const origins = countersOf(s).get('origins') ?? 0;
      for (const statement of s.wipe) statement.run();
      return origins;
    });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    // Overwriting first needs space in the journal; a full disk has none, but deletion must still work.
    const origins = c.database.read((s) => countersOf(s).get('origins') ?? 0);
    c.database.discard();
    return origins;
  }
}

function wipe(c: OpenCache): number {
  const wiped = wipeRows(c);
  emptyJournal(c);
  Object.assign(c.pending, NOTHING_COUNTED);
  c.unsaved = [];
  const { store, reason } = c.database.store();
  if (store === 'memory' && existsSync(c.path))
    throw new CacheUnavailable(`only what was in memory is wiped, ${c.path} is left alone: ${reason}`);
  removeAside(c.path);
  return wiped;
}

/** Files set aside as corrupt are browsing history too; other files with a similar name are not touched. */
function removeAside(path: string): void {
  for (const file of asideFiles(path))
    try {
      rmSync(file);
    } catch {
      // The others must still be removed.
    }
}
