// What distinguishes networks, and the key derived from it for records: HTTP/3 may work at home and be blocked at work.
// Addresses alone are the same in every home; the digest is salted, so that a key reveals no location. The salt is
// stored beside the cache and hashes names of hosts as well: without it, old digests reveal nothing and match nothing.

import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { OFFLINE_NETWORK, UNIDENTIFIED } from '@photofinish/shared/web/network-name';
import { asidePath, insecureFile, insecurePath, makePrivateDirectory, openRegular } from '../paths.ts';

/** SipHash calculates with words of 64 bits. */
const MASK = 0xffff_ffff_ffff_ffffn;

/** Whether the machine can return to this network: without one there is none, and `unidentified` may be any. */
export function mayBeNamed(key: string): boolean {
  return key !== OFFLINE_NETWORK && key !== UNIDENTIFIED;
}

/** `other`: a route through a tunnel without visible hardware beneath, or a modem that looks like one. */
export type InterfaceKind = 'wired' | 'wireless' | 'other';

export interface NetworkFacts {
  /** IP address of the default gateway, beneath a tunnel if there is one; empty: the route has none. */
  readonly gateway: string;
  /** The same gateway's link-layer address; null if unknown. */
  readonly linkLayer: string | null;
  /** The kind of the interface that leads to that gateway. */
  readonly kind: InterfaceKind;
  /** The wireless network's name, empty if there is none or it cannot be read. */
  readonly ssid: string;
  /** Whether the default route uses a tunnel. */
  readonly tunnel: boolean;
}

/**
 * Link-layer addresses of virtual routers: VRRP for IPv4 and IPv6 (RFC 5798 section 7.3), and HSRP. They only consist of
 * a group's number, which many networks share.
 */
const VIRTUAL_ROUTERS = ['00:00:5e:00:01:', '00:00:5e:00:02:', '00:00:0c:07:ac:', '00:00:0c:9f:f'];

function routerOf({ gateway, linkLayer }: NetworkFacts): string | readonly string[] {
  if (linkLayer === null) return gateway;
  const isVirtual = VIRTUAL_ROUTERS.some((prefix) => linkLayer.startsWith(prefix));
  return isVirtual ? [linkLayer, gateway] : linkLayer;
}

/** The key of a network: a salted digest, or the constant for none. */
export function networkKey(facts: NetworkFacts | null, salt: Uint8Array): string {
  if (facts === null) return OFFLINE_NETWORK;
  const { kind, ssid, tunnel } = facts;
  const identity = JSON.stringify([routerOf(facts), kind, ssid, tunnel]);
  return `net-${siphash(salt, new TextEncoder().encode(identity))}`;
}

/** A MAC address in the form used for comparisons: six pairs of lower-case digits with colons; null if invalid. */
export function linkLayerAddress(text: string): string | null {
  const parts = text.toLowerCase().split(/[:-]/);
  if (parts.length !== 6 || !parts.every((part) => /^[0-9a-f]{1,2}$/.test(part))) return null;
  const address = parts.map((part) => part.padStart(2, '0')).join(':');
  return address === '00:00:00:00:00:00' ? null : address;
}

/** What is known about a network, in words that do not reveal its location. */
export function networkText({ gateway, linkLayer, kind, ssid, tunnel }: NetworkFacts): string {
  const kinds = { wired: 'wired', wireless: 'wireless', other: 'of no known kind' } as const;
  const by =
    linkLayer !== null
      ? 'its gateway known by its link-layer address'
      : gateway === ''
        ? 'without a gateway'
        : 'its gateway known by its IP address only';
  const name = kind !== 'wireless' ? [] : [ssid === '' ? 'its name may not be read' : 'its name was read'];
  const through = tunnel ? ['a tunnel holds the default route'] : [];
  return [kinds[kind], by, ...name, ...through].join(', ');
}

function rotated(x: bigint, bits: bigint): bigint {
  return ((x << bits) | (x >> (64n - bits))) & MASK;
}

function littleEndian(bytes: Uint8Array, at: number): bigint {
  let word = 0n;
  for (let i = 7; i >= 0; i -= 1) word = (word << 8n) | BigInt(bytes[at + i] ?? 0);
  return word;
}

/**
 * The 64-bit hash of `data` under the first 16 bytes of `key`, as 16 hexadecimal digits: SipHash-2-4 (Aumasson and
 * Bernstein, 2012), a keyed hash for short inputs, sufficient for a network's key. The first forecast needs the key, and
 * loading node:crypto takes 4 ms of the 5 by which a helper may start later than a bare Node; caching old keys instead
 * would mean storing gateways' addresses in the clear.
 */
export function siphash(key: Uint8Array, data: Uint8Array): string {
  const [k0, k1] = [littleEndian(key, 0), littleEndian(key, 8)];
  // The paper's constants: "somepseudorandomlygeneratedbytes".
  let v0 = k0 ^ 0x736f_6d65_7073_6575n;
  let v1 = k1 ^ 0x646f_7261_6e64_6f6dn;
  let v2 = k0 ^ 0x6c79_6765_6e65_7261n;
  let v3 = k1 ^ 0x7465_6462_7974_6573n;

  function rounds(count: number): void {
    for (let i = 0; i < count; i += 1) {
      v0 = (v0 + v1) & MASK;
      v1 = rotated(v1, 13n) ^ v0;
      v0 = rotated(v0, 32n);
      v2 = (v2 + v3) & MASK;
      v3 = rotated(v3, 16n) ^ v2;
      v0 = (v0 + v3) & MASK;
      v3 = rotated(v3, 21n) ^ v0;
      v2 = (v2 + v1) & MASK;
      v1 = rotated(v1, 17n) ^ v2;
      v2 = rotated(v2, 32n);
    }
  }

  const whole = data.length - (data.length % 8);
  for (let at = 0; at <= whole; at += 8) {
    // The last word has the length in its highest byte; missing bytes are zero.
    const length = at === whole ? BigInt(data.length & 0xff) << 56n : 0n;
    const word = littleEndian(data, at) | length;
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  v2 ^= 0xffn;
  rounds(4);
  return (v0 ^ v1 ^ v2 ^ v3).toString(16).padStart(16, '0');
}

const SALT_BYTES = 32;

/** Where the salt lives. */
export function saltPath(cachePath: string): string {
  return `${cachePath}.salt`;
}

/** State of the salt's file: the salt, not there yet, or unusable with the reason. */
type KeptSalt =
  | { readonly state: 'kept'; readonly salt: Uint8Array }
  | { readonly state: 'none' }
  /** `mendable`: a file that may be replaced. */
  | { readonly state: 'unusable'; readonly reason: string; readonly mendable: boolean };

/** Reads the salt's file and changes nothing. */
export function keptSalt(path: string): KeptSalt {
  const wrong = (reason: string, mendable: boolean): KeptSalt => ({ state: 'unusable', reason, mendable });
  const insecure = insecurePath(path);
  if (insecure !== null) return wrong(insecure, false);
  let fd: number;
  try {
    fd = openRegular(path, constants.O_RDONLY);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { state: 'none' } : wrong(message, false);
  }
  try {
    const others = insecureFile(fstatSync(fd));
    if (others !== null) return wrong(others, true);
    // One byte more shows that the file is too long, without reading all of it.
    const salt = Buffer.alloc(SALT_BYTES + 1);
    const length = readSync(fd, salt, 0, SALT_BYTES + 1, 0);
    if (length !== SALT_BYTES) return wrong(`it has not ${SALT_BYTES} bytes`, true);
    return { state: 'kept', salt: salt.subarray(0, SALT_BYTES) };
  } catch (error) {
    return wrong((error as Error).message, false);
  } finally {
    closeSync(fd);
  }
}

/** Stores a new salt, after moving an unusable one out of the way like the cache's corrupt files. */
function storeSalt(path: string, fresh: Buffer, aside: string | null): void {
  const draft = `${path}.${fresh.toString('hex', 0, 6)}`;
  try {
    makePrivateDirectory(dirname(path));
    writeFileSync(draft, fresh, { mode: 0o600, flag: 'wx' });
    try {
      // Another helper may have replaced it in the meantime.
      if (aside !== null && keptSalt(path).state === 'unusable') renameSync(path, aside);
      // A link appears atomically and never replaces another file, unlike writing or renaming.
      linkSync(draft, path);
    } finally {
      rmSync(draft);
    }
  } catch {
    // Another helper was first, or nothing can be stored here.
  }
}

interface SaltOptions {
  readonly log?: (message: string) => void;
  /** Asked only if there is no salt that can be used. */
  readonly isKept?: () => boolean;
}

/**
 * The salt beside the cache, created at first use; helpers that start concurrently use the same one. A damaged salt, or
 * one that others could have written, is set aside and replaced. If no file can be used, the salt lives as long as the
 * process, and where `isKept` says that nothing may be written. `log` receives messages for the user.
 */
export function readSalt(
  path: string,
  { log = () => {}, isKept = () => true }: SaltOptions = {},
): Uint8Array {
  const kept = keptSalt(path);
  if (kept.state === 'kept') return kept.salt;
  // Only a first start needs to load this.
  const fresh = process.getBuiltinModule('node:crypto').randomBytes(SALT_BYTES);
  if (!isKept()) return fresh;
  if (kept.state === 'unusable' && !kept.mendable) {
    log(`the salt ${path} cannot be used (${kept.reason}); another is used for this run`);
    return fresh;
  }
  const aside = kept.state === 'unusable' ? asidePath(path, Date.now()) : null;
  if (kept.state === 'unusable')
    log(`the salt ${path} was replaced (${kept.reason}); every network counts as a new one from now on`);
  storeSalt(path, fresh, aside);
  const made = keptSalt(path);
  return made.state === 'kept' ? made.salt : fresh;
}
