// What the host cache stores, as plain records with the column names as property names, where a record is in the file,
// and whether a row is one that we could have written: disks flip bits, and SQLite checks only the structure of pages.
import { ATTEMPT_ERROR_CODES } from '@photofinish/shared/race/terms';
import { FNV_BASIS, fnv1a } from '@photofinish/shared/web/fnv';
import { BROWSERS, type Browser } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';

/** How a success became known: by a race of ours, or by a browser that used HTTP/3. */
export type Basis = 'raced' | 'observed';
/** Who received the answer with an Alt-Svc header. */
export type AltSvcReceiver = 'browser' | 'race';

/** Whether a column of a row that was read contains what we write there. */
type Check<Value> = (value: unknown) => value is Value;
type Columns = Readonly<Record<string, Check<unknown>>>;
type RecordOf<C extends Columns> = {
  readonly [Column in keyof C]: C[Column] extends Check<infer Value> ? Value : never;
};

/** The latest instant of a `Date`, in milliseconds since the epoch. */
const LAST_INSTANT_MS = 8.64e15;
/** No trial lasts longer than a day, and neither does any time within one. */
const LONGEST_MS = 24 * 3_600_000;
/** HTTPS records are stored as received; nothing in a row is longer than a DNS message. */
const MAX_TEXT_CHARS = 65_535;

const ADDRESS_LITERAL = /^[0-9A-Fa-f.:]{2,45}(%[\w.-]{1,16})?$/;

const within =
  (max: number): Check<number> =>
  (value): value is number =>
    typeof value === 'number' && value >= 0 && value <= max;
const whole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const text = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TEXT_CHARS;
const oneOf = <const Value>(values: readonly Value[]): Check<Value> => {
  const known = new Set<unknown>(values);
  return (value): value is Value => known.has(value);
};
const orNull =
  <Value>(check: Check<Value>): Check<Value | null> =>
  (value): value is Value | null =>
    value === null || check(value);

const origin = text as Check<Origin>;
const instant = within(LAST_INSTANT_MS);
const duration = orNull(within(LONGEST_MS));
const at = orNull(instant);
const protocol = oneOf([...KNOWN_PROTOCOLS, null]);
const failure = oneOf([...ATTEMPT_ERROR_CODES, null]);

/**
 * One origin on one network. What is *advertised* and what is *reachable* are stored separately; so are the two
 * transports (`tcp` stands for TCP and TLS, whatever ALPN selected). Times are milliseconds, since the epoch if named
 * `At` or `Until`; null: never happened.
 */
const HOST = {
  origin,
  network: text,
  /** The protocol adopted by the newest race. */
  adopted: protocol,
  h3AtMs: at,
  h3UntilMs: at,
  h3Basis: oneOf<Basis | null>(['raced', 'observed', null]),
  /** Time to established without loss. */
  h3HandshakeMs: duration,
  /** Smoothed round-trip time and its variance (RFC 6298 section 2), and when they were last measured. */
  h3RttMs: duration,
  h3RttVarMs: duration,
  h3RttAtMs: at,
  /** Smoothed share of packets lost, from 0 to 1. */
  h3LossRate: orNull(within(1)),
  h3FailedAtMs: at,
  h3Failure: failure,
  /** Consecutive failures, each while TCP worked; a success halves the count. */
  h3Failures: whole,
  h3BackOffUntilMs: at,
  tcpProtocol: protocol,
  tcpAtMs: at,
  tcpHandshakeMs: duration,
  tcpRttMs: duration,
  tcpRttVarMs: duration,
  tcpRttAtMs: at,
  tcpFailedAtMs: at,
  tcpFailure: failure,
  /** The newest Alt-Svc header value, when and by whom it was received, and the lifetime of its HTTP/3 alternatives. */
  altSvc: orNull(text),
  altSvcAtMs: at,
  altSvcUntilMs: at,
  altSvcBy: oneOf<AltSvcReceiver | null>(['browser', 'race', null]),
  /** What HTTPS records offer, written as a header value, and their lifetime (RFC 9460). */
  service: orNull(text),
  serviceAtMs: at,
  serviceUntilMs: at,
  /** `host:port` of the alternative that responded with 421 last, and until when it is ignored in advertisements. */
  misdirected: orNull(text),
  misdirectedUntilMs: at,
  /** 1: the chain ends in a publicly known root; 0: it does not. */
  knownRoot: oneOf([0, 1, null]),
  races: whole,
  updatedAtMs: instant,
};
export type HostRecord = RecordOf<typeof HOST>;

/** What one browser did with one origin under one top-level site on one network. */
const USE = {
  browser: oneOf(BROWSERS),
  origin,
  site: text,
  network: text,
  /** The last protocol it used over the network, and when. */
  protocol,
  protocolAtMs: at,
  /** The last one over TCP, used as its fallback. */
  tcpProtocol: protocol,
  /** Since when, and until when, this browser knows of an HTTP/3 alternative here. */
  advertisedAtMs: at,
  advertisedUntilMs: at,
  /** Consecutive visits over TCP although HTTP/3 was advertised. */
  stays: whole,
  /** The newest network answer, over any protocol. */
  seenAtMs: instant,
};
export type UseRecord = RecordOf<typeof USE>;

/** One address of an origin on one network: the history by which Happy Eyeballs sorts (draft, section 5.3). */
const ADDRESS = {
  origin,
  network: text,
  /**
   * A literal. A string that is no address matches none, and loading `node:net` to validate it would cost a tenth of the
   * start-up time.
   */
  address: (value: unknown): value is string => typeof value === 'string' && ADDRESS_LITERAL.test(value),
  srttMs: within(LONGEST_MS),
  usedAtMs: instant,
};
export type AddressRecord = RecordOf<typeof ADDRESS>;

/** The newest outcome of a race that a machine of the same organisation shared; see fleet/entry.ts. */
const SHARED = {
  /** The keyed hash of the origin, so that the table names no origin that this machine has not asked about. */
  key: text,
  atMs: instant,
  h3Failure: failure,
  tcpProtocol: protocol,
};
export type SharedRecord = RecordOf<typeof SHARED>;

/** The columns of each record, in the order of its table. */
export const HOST_COLUMNS = Object.keys(HOST);
export const USE_COLUMNS = Object.keys(USE);
export const ADDRESS_COLUMNS = Object.keys(ADDRESS);
export const SHARED_COLUMNS = Object.keys(SHARED);

/**
 * Why a value of the fleet cache is refused: it is no outcome, was not made with the organisation's secret for its key, is
 * a day old, or ahead of this machine's clock.
 */
export const SHARED_REFUSALS = ['malformed', 'unauthenticated', 'outdated', 'ahead'] as const;
export type SharedRefusal = (typeof SHARED_REFUSALS)[number];
/** How many values were refused, by reason. */
export type SharedRefusals = Readonly<Partial<Record<SharedRefusal, number>>>;

/**
 * The columns that a forecast reads of a host's record and of a browser's use, because reading a column costs as much
 * as evaluating it.
 */
export const HOST_FORECAST_COLUMNS = [
  'h3AtMs',
  'h3UntilMs',
  'h3Basis',
  'h3FailedAtMs',
  'h3BackOffUntilMs',
  'tcpProtocol',
  'altSvcAtMs',
  'altSvcUntilMs',
  'serviceAtMs',
  'serviceUntilMs',
] as const satisfies readonly (keyof HostRecord)[];
export const USE_FORECAST_COLUMNS = [
  'protocol',
  'tcpProtocol',
  'advertisedUntilMs',
  'stays',
  'seenAtMs',
] as const satisfies readonly (keyof UseRecord)[];
export type HostForecastRow = Pick<HostRecord, (typeof HOST_FORECAST_COLUMNS)[number]>;
export type UseForecastRow = Pick<UseRecord, (typeof USE_FORECAST_COLUMNS)[number]>;

/** Network name of records that survive a change of network (Alt-Svc `persist=1`, RFC 7838 section 3.1). */
export const ANY_NETWORK = '*';

function blank(columns: Columns) {
  return Object.fromEntries(Object.keys(columns).map((column) => [column, null]));
}

const NO_HOST = { ...(blank(HOST) as unknown as HostRecord), h3Failures: 0, races: 0 };
const NO_USE = { ...(blank(USE) as unknown as UseRecord), stays: 0, seenAtMs: 0 };

/** The record of an origin about which nothing is known yet. */
export function newHost(origin: Origin, network: string, nowMs: number): HostRecord {
  return { ...NO_HOST, origin, network, updatedAtMs: nowMs };
}

/** The record of an origin that the browser has not used yet on this site and network. */
export function newUse(browser: Browser, origin: Origin, site: string, network: string): UseRecord {
  return { ...NO_USE, browser, origin, site, network };
}

const SECOND_BASIS = 0x9e3779b9;
const PART_BITS = 32n;

/**
 * The first id that an origin's records may have. A forecast from a large cache waits for pages that are in no processor
 * cache, so all records of an origin are adjacent, under an integer key that keeps the B-tree above them small. A row id
 * is signed, so one bit stays unused.
 */
function firstId(origin: Origin): bigint {
  return BigInt(fnv1a(origin, FNV_BASIS) >>> 1) << PART_BITS;
}

/**
 * The row id of a host's record, or of a browser's use of it under a site. Two keys may collide, once in ten million
 * caches of a million origins: the newer record then replaces the older, and readers compare the key.
 */
export function recordId(origin: Origin, network: string, browser: Browser | '' = '', site = ''): bigint {
  return firstId(origin) | BigInt(fnv1a(`${origin}\n${network}\n${browser}\n${site}`, SECOND_BASIS));
}

/** The range of ids that contains all records of an origin, and possibly those of another. */
export function idsOf(origin: Origin): { first: bigint; last: bigint } {
  const first = firstId(origin);
  return { first, last: first | ((1n << PART_BITS) - 1n) };
}

type Checks = readonly (readonly [column: string, check: Check<unknown>])[];

const HOST_CHECKS = Object.entries(HOST);
const USE_CHECKS = Object.entries(USE);
const HOST_FORECAST_CHECKS = HOST_FORECAST_COLUMNS.map((column) => [column, HOST[column]] as const);
const USE_FORECAST_CHECKS = USE_FORECAST_COLUMNS.map((column) => [column, USE[column]] as const);
const ADDRESS_CHECKS = Object.entries(ADDRESS);
const SHARED_CHECKS = Object.entries(SHARED);

function passes(row: unknown, checks: Checks): boolean {
  for (const [column, check] of checks)
    if (!check((row as Readonly<Record<string, unknown>>)[column])) return false;
  return true;
}

/** Whether a row about a host is sound. */
export const isSoundHost = (row: unknown): row is HostRecord => passes(row, HOST_CHECKS);
/** Whether a row about a browser's use is sound. */
export const isSoundUse = (row: unknown): row is UseRecord => passes(row, USE_CHECKS);
/** Whether a row about an address is sound. */
export const isSoundAddress = (row: unknown): row is AddressRecord => passes(row, ADDRESS_CHECKS);
/** Whether an outcome shared by another machine is sound. */
export const isSoundShared = (row: unknown): row is SharedRecord => passes(row, SHARED_CHECKS);
/** Whether the columns read by a forecast are sound; `browser` is empty in a row about a host. */
export const isSoundForecastRow = (row: { readonly browser: string }): boolean =>
  passes(row, row.browser === '' ? HOST_FORECAST_CHECKS : USE_FORECAST_CHECKS);
