// What rests on the organisation's secret: keys, which nobody without it can read or try names against, and the
// authentication of values, which nobody without it can make.
import { createHmac } from 'node:crypto';
import { closeSync, constants, fstatSync, readFileSync } from 'node:fs';
import type { Origin } from '@photofinish/shared/web/origin';
import { exposedSecret, insecurePath, openRegular } from '../paths.ts';

const LEAST_SALT_BYTES = 16;
const MOST_SALT_BYTES = 4096;
/** 64 bits distinguish the labels of an organisation. */
const LABEL_DIGITS = 16;
/** 128 bits: too many to guess. */
const SIGNATURE_DIGITS = 32;
const ORIGIN_KEY = /^[0-9a-f]{64}$/;

export type Sign = (key: string, text: string) => string;

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
    if (fstatSync(fd).size > MOST_SALT_BYTES)
      throw new Error(`${path} is refused: it has more than ${MOST_SALT_BYTES} bytes`);
    const salt = readFileSync(fd);
    if (salt.length < LEAST_SALT_BYTES)
      throw new Error(`${path} is refused: it has less than ${LEAST_SALT_BYTES} bytes`);
    return salt;
  } finally {
    closeSync(fd);
  }
}
