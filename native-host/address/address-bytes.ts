// Addresses as bytes in network order, for comparing prefixes and for parsing and synthesising NAT64 addresses.
import { isIP } from 'node:net';

export type Family = 'ipv6' | 'ipv4';

export function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

const COLON = 58;
const DOT = 46;

/** Reads decimal bytes from `at` into `bytes` (also allowed at the end of IPv6 addresses, RFC 4291 section 2.2). */
function readDotted(text: string, at: number, bytes: number[]): void {
  let value = 0;
  for (let i = at; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      bytes.push(value);
      value = 0;
    } else value = value * 10 + code - 48;
  }
  bytes.push(value);
}

function hexDigit(code: number): number {
  return code < COLON ? code - 48 : (code | 0x20) - 87;
}

/** Parses a valid IPv6 address in one pass; the gap `::` is filled at the end. */
function ipv6Bytes(text: string): number[] {
  const bytes: number[] = [];
  let gap = -1;
  let at = 0;
  while (at < text.length) {
    if (text.charCodeAt(at) === COLON) {
      at += 1;
      if (text.charCodeAt(at) === COLON) {
        gap = bytes.length;
        at += 1;
      }
      continue;
    }
    let value = 0;
    let end = at;
    let code = text.charCodeAt(end);
    while (end < text.length && code !== COLON && code !== DOT) {
      value = value * 16 + hexDigit(code);
      end += 1;
      code = text.charCodeAt(end);
    }
    if (code === DOT) {
      readDotted(text, at, bytes);
      break;
    }
    bytes.push(value >> 8, value & 0xff);
    at = end;
  }
  if (gap !== -1) bytes.splice(gap, 0, ...new Array<number>(16 - bytes.length).fill(0));
  return bytes;
}

/** An address literal without its zone (RFC 4007 section 11), which names an interface of this machine. */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? address;
}

/** 4 or 16 bytes of an address literal, without its zone. Throws a TypeError for anything else. */
export function addressBytes(address: string): readonly number[] {
  const bare = withoutZone(address);
  const version = isIP(bare);
  if (version === 0) throw new TypeError(`not an address: ${address}`);
  if (version === 6) return ipv6Bytes(bare);
  const bytes: number[] = [];
  readDotted(bare, 0, bytes);
  return bytes;
}

/** The canonical form (RFC 5952) of 4 or 16 bytes. */
export function addressText(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Number of leading bits that two addresses of one family have in common. */
export function commonPrefixBits(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i += 1) {
    const difference = (a[i] ?? 0) ^ (b[i] ?? 0);
    if (difference !== 0) return i * 8 + Math.clz32(difference) - 24;
  }
  return a.length * 8;
}

/** The bytes of an address that name its /24 or /48. */
export function prefixBytes(bytes: readonly number[]): readonly number[] {
  return bytes.slice(0, bytes.length === 4 ? 3 : 6);
}

/** `192.0.2.0/24` or `2001:db8:1::/48`; null: the text is no address. */
export function addressPrefix(address: string): string | null {
  if (isIP(withoutZone(address)) === 0) return null;
  const bytes = addressBytes(address);
  const kept = prefixBytes(bytes).length;
  return `${addressText(bytes.map((byte, i) => (i < kept ? byte : 0)))}/${kept * 8}`;
}
