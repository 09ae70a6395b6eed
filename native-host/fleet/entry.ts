// An entry of the fleet cache: a key and the outcome of a race, without origin, network or any time finer than an hour.
// Without the organisation's secret nobody can read the key or make the value, which is validated like any file. The
// server, and whoever may read the bucket, still learns when it was published, and the server by which machines.
import { createHmac } from 'node:crypto';
import { closeSync, constants, fstatSync, readFileSync } from 'node:fs';
import { isAllDisturbed, soundTrials } from '@photofinish/shared/race/conclusive';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { ATTEMPT_ERROR_CODES } from '@photofinish/shared/race/terms';
import { blocksUdp } from '@photofinish/shared/verdict/verdict';
import type { Origin } from '@photofinish/shared/web/origin';
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import { isLasting, LOSSY_RATE } from '../cache/back-off.ts';
import { foldRace } from '../cache/fold.ts';
import { SHARED_FRESH_MS } from '../cache/policy.ts';
import { type HostRecord, newHost, type SharedRecord, type SharedRefusal } from '../cache/record.ts';
import { exposedSecret, insecurePath, openRegular } from '../paths.ts';

const MIN_SALT_BYTES = 16;
const MAX_SALT_BYTES = 4096;
/** 64 bits distinguish the labels of an organisation. */
const LABEL_DIGITS = 16;
/** 128 bits: too many to guess. */
const SIGNATURE_DIGITS = 32;
const ORIGIN_KEY = /^[0-9a-f]{64}$/;

type Sign = (key: string, text: string) => string;

export interface FleetKeys {
  /** The keys of every origin under this label, as a subject filter. */
  readonly filter: string;
  keyOf(origin: Origin): string;
  /** Whether it is a key under this label. */
  isOwn(key: string): boolean;
  /** Authenticates a text as the value of that key and no other (HMAC-SHA256, truncated as RFC 2104 section 5 allows). */
  readonly sign: Sign;
}

/**
 * The keys under a network label: an origin has another one for each label, and for each organisation's salt
 * (HMAC-SHA256, RFC 2104).
 */
export function fleetKeys(salt: Uint8Array, network: string): FleetKeys {
  const digest = (...parts: readonly string[]): string =>
    createHmac('sha256', salt).update(JSON.stringify(parts)).digest('hex');
  const label = `${digest('network', network).slice(0, LABEL_DIGITS)}.`;
  return {
    filter: `${label}*`,
    keyOf: (origin) => label + digest('origin', network, origin),
    isOwn: (key) => key.startsWith(label) && ORIGIN_KEY.test(key.slice(label.length)),
    sign: (key, text) => digest('value', key, text).slice(0, SIGNATURE_DIGITS),
  };
}

/**
 * The organisation's secret. Throws with the reason when others can read it or could have replaced it, or when it is too
 * short or too long.
 */
export function readFleetSalt(path: string): Uint8Array {
  const fd = openRegular(path, constants.O_RDONLY);
  try {
    const reason = exposedSecret(fstatSync(fd)) ?? insecurePath(path);
    if (reason !== null) throw new Error(`${path} is refused: ${reason}`);
    if (fstatSync(fd).size > MAX_SALT_BYTES)
      throw new Error(`${path} is refused: it has more than ${MAX_SALT_BYTES} bytes`);
    const salt = readFileSync(fd);
    if (salt.length < MIN_SALT_BYTES)
      throw new Error(`${path} is refused: it has less than ${MIN_SALT_BYTES} bytes`);
    return salt;
  } finally {
    closeSync(fd);
  }
}

export const FLEET_SCHEMA = 'photofinish.fleet/1';
export const HOUR_MS = 3_600_000;
/** About twice the longest value by its schema. */
const MAX_VALUE_BYTES = 512;

const KNOWN_TCP = KNOWN_PROTOCOLS.filter((protocol) => protocol !== 'h3');
const LASTING_FAILURES = ATTEMPT_ERROR_CODES.filter(isLasting);

const common = {
  schema: v.literal(FLEET_SCHEMA),
  /** The hour of the race, milliseconds since the epoch. */
  atMs: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(8.64e15), v.multipleOf(HOUR_MS)),
  /** Says that a machine with the organisation's secret published this under this key. */
  mac: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
};

// Strict: what is not in it cannot be sent by mistake, and is not accepted from others.
const outcomeSchema = v.variant('h3', [
  v.strictObject({
    ...common,
    h3: v.literal('works'),
    /** Null: not reached, or not tried. */
    tcp: v.nullable(v.picklist(KNOWN_TCP)),
  }),
  v.strictObject({
    ...common,
    h3: v.literal('failed'),
    failure: v.picklist(LASTING_FAILURES),
    /** HTTP/3 has failed only where TCP worked: otherwise it may have been the network. */
    tcp: v.picklist(KNOWN_TCP),
  }),
]);
type FleetOutcome = v.InferOutput<typeof outcomeSchema>;
const valueSchema = v.pipe(v.string(), v.parseJson(), outcomeSchema);

function macOf({ key, atMs, h3Failure, tcpProtocol }: SharedRecord, sign: Sign): string {
  return sign(key, JSON.stringify([FLEET_SCHEMA, atMs, h3Failure, tcpProtocol]));
}

/** The value of an outcome. */
export function writeOutcome(record: SharedRecord, sign: Sign): string {
  const { atMs, h3Failure, tcpProtocol } = record;
  const common = { schema: FLEET_SCHEMA, atMs, tcp: tcpProtocol, mac: macOf(record, sign) };
  const outcome: object =
    h3Failure === null ? { ...common, h3: 'works' } : { ...common, h3: 'failed', failure: h3Failure };
  return JSON.stringify(v.parse(outcomeSchema, outcome));
}

function parse(bytes: Uint8Array): FleetOutcome | null {
  if (bytes.length > MAX_VALUE_BYTES) return null;
  const parsed = v.safeParse(valueSchema, new TextDecoder().decode(bytes), { abortEarly: true });
  return parsed.success ? parsed.output : null;
}

/** The outcome in a value, or why it is refused. */
export function readOutcome(
  key: string,
  bytes: Uint8Array,
  nowMs: number,
  sign: Sign,
): SharedRecord | SharedRefusal {
  const outcome = parse(bytes);
  if (outcome === null) return 'malformed';
  const { atMs, tcp } = outcome;
  const h3Failure = outcome.h3 === 'failed' ? outcome.failure : null;
  const record: SharedRecord = { key, atMs, h3Failure, tcpProtocol: tcp };
  if (outcome.mac !== macOf(record, sign)) return 'unauthenticated';
  if (atMs > nowMs) return 'ahead';
  return nowMs - atMs < SHARED_FRESH_MS ? record : 'outdated';
}

function failureOf({ h3Failure, h3LossRate }: HostRecord): SharedRecord['h3Failure'] {
  if (h3Failure === null || !isLasting(h3Failure)) return null;
  // On such a path silence may be chance.
  return (h3LossRate ?? 0) >= LOSSY_RATE ? null : h3Failure;
}

/**
 * The outcome to share under `key`; null if the race proves nothing about HTTP/3, or nothing that will still hold in an
 * hour.
 */
export function outcomeOf(key: string, race: OriginRace, nowMs: number): SharedRecord | null {
  if (race.memory === 'none' || race.error !== undefined || isAllDisturbed(race.trials)) return null;
  const sound = { ...race, trials: [...soundTrials(race.trials)] };
  const host = foldRace(newHost(race.origin, race.network, nowMs), { race: sound, received: null }, nowMs);
  const { h3AtMs, tcpProtocol } = host;
  const failure = h3AtMs === null ? failureOf(host) : null;
  if (h3AtMs === null && failure === null) return null;
  // Then it is this machine's network that fails, not the host.
  if (failure !== null && race.otherHosts !== undefined && blocksUdp(race.otherHosts)) return null;
  const tcp = tcpProtocol === 'h3' ? null : tcpProtocol;
  return { key, atMs: nowMs - (nowMs % HOUR_MS), h3Failure: failure, tcpProtocol: tcp };
}
