// What the host cache stores, as plain records with the column names as property names, where a record is in the file,
// and whether a row is one that we could have written: disks flip bits, and SQLite checks only the structure of pages.
import type { SharedOutcome } from '@photofinish/shared/race/outcome';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode } from '@photofinish/shared/race/terms';
import type { Browser } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { KNOWN_PROTOCOLS, type KnownProtocol } from '@photofinish/shared/web/protocol';
import { FNV_BASIS, fnv1a } from '../fnv.ts';

/** How a success became known: by a race of ours, or by a browser that used HTTP/3. */
export type Basis = 'raced' | 'observed';
/** Who received the answer with an Alt-Svc header. */
export type AltSvcReceiver = 'browser' | 'race';

/**
 * One origin on one network. What is *advertised* and what is *reachable* are stored separately; so are the two
 * transports (`tcp` stands for TCP and TLS, whatever ALPN selected). Times are milliseconds, since the epoch if named
 * `At` or `Until`; null: never happened.
 */
export interface HostRecord {
  readonly origin: Origin;
  readonly network: string;
  /** The protocol adopted by the newest race. */
  readonly adopted: KnownProtocol | null;
  readonly h3AtMs: number | null;
  readonly h3UntilMs: number | null;
  readonly h3Basis: Basis | null;
  /** Time to established without loss. */
  readonly h3HandshakeMs: number | null;
  /** Smoothed round-trip time and its variance (RFC 6298 section 2), and when they were last measured. */
  readonly h3RttMs: number | null;
  readonly h3RttVarMs: number | null;
  readonly h3RttAtMs: number | null;
  /** Smoothed share of packets lost, from 0 to 1. */
  readonly h3LossRate: number | null;
  readonly h3FailedAtMs: number | null;
  readonly h3Failure: AttemptErrorCode | null;
  /** Consecutive failures, each while TCP worked; a success halves the count. */
  readonly h3Failures: number;
  readonly h3BackOffUntilMs: number | null;
  readonly tcpProtocol: KnownProtocol | null;
  readonly tcpAtMs: number | null;
  readonly tcpHandshakeMs: number | null;
  readonly tcpRttMs: number | null;
  readonly tcpRttVarMs: number | null;
  readonly tcpRttAtMs: number | null;
  readonly tcpFailedAtMs: number | null;
  readonly tcpFailure: AttemptErrorCode | null;
  /** The newest Alt-Svc header value, when and by whom it was received, and the lifetime of its HTTP/3 alternatives. */
  readonly altSvc: string | null;
  readonly altSvcAtMs: number | null;
  readonly altSvcUntilMs: number | null;
  readonly altSvcBy: AltSvcReceiver | null;
  /** What HTTPS records offer, written as a header value, and their lifetime (RFC 9460). */
  readonly service: string | null;
  readonly serviceAtMs: number | null;
  readonly serviceUntilMs: number | null;
  /** `host:port` of the alternative that responded with 421 last, and until when it is ignored in advertisements. */
  readonly misdirected: string | null;
  readonly misdirectedUntilMs: number | null;
  /** 1: the chain ends in a publicly known root; 0: it does not. */
  readonly knownRoot: 0 | 1 | null;
  readonly races: number;
  readonly updatedAtMs: number;
}

/** What one browser did with one origin under one top-level site on one network. */
export interface UseRecord {
  readonly browser: Browser;
  readonly origin: Origin;
  readonly site: string;
  readonly network: string;
  /** The last protocol it used over the network, and when. */
  readonly protocol: KnownProtocol | null;
  readonly protocolAtMs: number | null;
  /** The last one over TCP, used as its fallback. */
  readonly tcpProtocol: KnownProtocol | null;
  /** Since when, and until when, this browser knows of an HTTP/3 alternative here. */
  readonly advertisedAtMs: number | null;
  readonly advertisedUntilMs: number | null;
  /** Consecutive visits over TCP although HTTP/3 was advertised. */
  readonly stays: number;
  /** The newest network answer, over any protocol. */
  readonly seenAtMs: number;
}

/** One address of an origin on one network: the history by which Happy Eyeballs sorts (draft, section 5.3). */
export interface AddressRecord {
  readonly origin: Origin;
  readonly network: string;
  /** A literal. */
  readonly address: string;
  readonly srttMs: number;
  readonly usedAtMs: number;
}

/** The newest outcome of a race that a machine of the same organisation shared; see fleet/entry.ts. */
export interface SharedRecord extends Readonly<SharedOutcome> {
  /** The keyed hash of the origin, so that the table names no origin that this machine has not asked about. */
  readonly key: string;
}

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

/** The record of an origin about which nothing is known yet. */
export function newHost(origin: Origin, network: string, nowMs: number): HostRecord {
  return {
    origin,
    network,
    adopted: null,
    h3AtMs: null,
    h3UntilMs: null,
    h3Basis: null,
    h3HandshakeMs: null,
    h3RttMs: null,
    h3RttVarMs: null,
    h3RttAtMs: null,
    h3LossRate: null,
    h3FailedAtMs: null,
    h3Failure: null,
    h3Failures: 0,
    h3BackOffUntilMs: null,
    tcpProtocol: null,
    tcpAtMs: null,
    tcpHandshakeMs: null,
    tcpRttMs: null,
    tcpRttVarMs: null,
    tcpRttAtMs: null,
    tcpFailedAtMs: null,
    tcpFailure: null,
    altSvc: null,
    altSvcAtMs: null,
    altSvcUntilMs: null,
    altSvcBy: null,
    service: null,
    serviceAtMs: null,
    serviceUntilMs: null,
    misdirected: null,
    misdirectedUntilMs: null,
    knownRoot: null,
    races: 0,
    updatedAtMs: nowMs,
  };
}

/** The record of an origin that the browser has not used yet on this site and network. */
export function newUse(browser: Browser, origin: Origin, site: string, network: string): UseRecord {
  return {
    browser,
    origin,
    site,
    network,
    protocol: null,
    protocolAtMs: null,
    tcpProtocol: null,
    advertisedAtMs: null,
    advertisedUntilMs: null,
    stays: 0,
    seenAtMs: 0,
  };
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

type Check = (value: unknown) => boolean;
type Row = Readonly<Record<string, unknown>>;

/** The latest instant of a `Date`, in milliseconds since the epoch. */
const LAST_INSTANT_MS = 8.64e15;
/** No trial lasts longer than a day, and neither does any time within one. */
const LONGEST_MS = 24 * 3_600_000;
/** HTTPS records are stored as received; nothing in a row is longer than a DNS message. */
const MAX_TEXT_CHARS = 65_535;

const ADDRESS_LITERAL = /^[0-9A-Fa-f.:]{2,45}(%[\w.-]{1,16})?$/;

const within =
  (max: number): Check =>
  (value) =>
    typeof value === 'number' && value >= 0 && value <= max;
const whole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const text: Check = (value) => typeof value === 'string' && value.length <= MAX_TEXT_CHARS;
const oneOf = (values: readonly unknown[]): Check => {
  const known = new Set(values);
  return (value) => known.has(value);
};
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const instant = within(LAST_INSTANT_MS);
const duration = orNull(within(LONGEST_MS));
const at = orNull(instant);
const protocol = oneOf([...KNOWN_PROTOCOLS, null]);
const failure = oneOf([...ATTEMPT_ERROR_CODES, null]);

const HOST: { readonly [K in keyof HostRecord]: Check } = {
  origin: text,
  network: text,
  adopted: protocol,
  h3AtMs: at,
  h3UntilMs: at,
  h3Basis: oneOf(['raced', 'observed', null]),
  h3HandshakeMs: duration,
  h3RttMs: duration,
  h3RttVarMs: duration,
  h3RttAtMs: at,
  h3LossRate: orNull(within(1)),
  h3FailedAtMs: at,
  h3Failure: failure,
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
  altSvc: orNull(text),
  altSvcAtMs: at,
  altSvcUntilMs: at,
  altSvcBy: oneOf(['browser', 'race', null]),
  service: orNull(text),
  serviceAtMs: at,
  serviceUntilMs: at,
  misdirected: orNull(text),
  misdirectedUntilMs: at,
  knownRoot: oneOf([0, 1, null]),
  races: whole,
  updatedAtMs: instant,
};

const USE: { readonly [K in keyof UseRecord]: Check } = {
  browser: oneOf(['chromium', 'firefox']),
  origin: text,
  site: text,
  network: text,
  protocol,
  protocolAtMs: at,
  tcpProtocol: protocol,
  advertisedAtMs: at,
  advertisedUntilMs: at,
  stays: whole,
  seenAtMs: instant,
};

const ADDRESS: { readonly [K in keyof AddressRecord]: Check } = {
  origin: text,
  network: text,
  // A string that is no address matches none, and loading `node:net` to validate it would cost a tenth of the start-up
  // time.
  address: (value) => typeof value === 'string' && ADDRESS_LITERAL.test(value),
  srttMs: within(LONGEST_MS),
  usedAtMs: instant,
};

const SHARED: { readonly [K in keyof SharedRecord]: Check } = {
  key: text,
  atMs: instant,
  h3Failure: failure,
  tcpProtocol: protocol,
};

type Checks = readonly (readonly [column: string, check: Check])[];

const checksOf = (columns: readonly string[], checks: object): Checks =>
  columns.map((column) => [column, (checks as Record<string, Check>)[column] as Check]);

const HOST_CHECKS = checksOf(Object.keys(newHost('' as HostRecord['origin'], '', 0)), HOST);
const USE_CHECKS = checksOf(Object.keys(newUse('chromium', '' as HostRecord['origin'], '', '')), USE);
const HOST_FORECAST_CHECKS = checksOf(HOST_FORECAST_COLUMNS, HOST);
const USE_FORECAST_CHECKS = checksOf(USE_FORECAST_COLUMNS, USE);
const ADDRESS_CHECKS = checksOf(Object.keys(ADDRESS), ADDRESS);
const SHARED_CHECKS = checksOf(Object.keys(SHARED), SHARED);

function passes(row: unknown, checks: Checks): boolean {
  for (const [column, check] of checks) if (!check((row as Row)[column])) return false;
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
