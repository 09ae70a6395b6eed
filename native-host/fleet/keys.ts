// The keys of the bucket: whoever does not have the organisation's secret can neither read which origins its machines
// raced nor try names against them.
import { createHmac } from 'node:crypto';
import { closeSync, constants, fstatSync, readFileSync } from 'node:fs';
import type { Origin } from '@photofinish/shared/web/origin';
import { insecureFile, insecurePath, openRegular } from '../secure-path.ts';

const LEAST_SALT_BYTES = 16;
const MOST_SALT_BYTES = 4096;
/** 64 bits distinguish the labels of an organisation. */
const LABEL_DIGITS = 16;
const ORIGIN_KEY = /^[0-9a-f]{64}$/;

export interface FleetKeys {
  /** The keys of every origin under this label, as a subject filter. */
  readonly filter: string;
  keyOf(origin: Origin): string;
  /** Whether it is a key under this label. */
  isOwn(key: string): boolean;
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
  };
}

/** The organisation's secret. Throws with the reason when others could have replaced it, or when it is too short. */
export function readFleetSalt(path: string): Uint8Array {
  const fd = openRegular(path, constants.O_RDONLY);
  try {
    const reason = insecureFile(fstatSync(fd)) ?? insecurePath(path);
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
