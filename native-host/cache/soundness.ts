// Whether a row is one that we could have written. Disks flip bits, and SQLite checks the structure of pages, not their
// content: an impossible row is dropped before it becomes a forecast or affects a race.
import { ATTEMPT_ERROR_CODES } from '@photofinish/shared/race/terms';
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';
import {
  type AddressRecord,
  HOST_FORECAST_COLUMNS,
  type HostRecord,
  newHost,
  newUse,
  type SharedRecord,
  USE_FORECAST_COLUMNS,
  type UseRecord,
} from './record.ts';

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
