// Addresses as bytes in network order: what prefixes are compared on, and NAT64 addresses are taken apart and made from.
import { isIP } from 'node:net';

export type Family = 'ipv6' | 'ipv4';

export function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

function ipv4Bytes(text: string): number[] {
  return text.split('.').map(Number);
}

/** The bytes of colon-separated groups, the last of which may be dotted (RFC 4291 section 2.2). */
function groupBytes(text: string): number[] {
  if (text === '') return [];
  const bytes: number[] = [];
  for (const group of text.split(':')) {
    if (group.includes('.')) {
      bytes.push(...ipv4Bytes(group));
    } else {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

/** 4 or 16 bytes of an address literal; a zone is left out. Throws a TypeError for anything else. */
export function addressBytes(address: string): readonly number[] {
  const zone = address.indexOf('%');
  const bare = zone === -1 ? address : address.slice(0, zone);
  const version = isIP(bare);
  if (version === 0) throw new TypeError(`not an address: ${address}`);
  if (version === 4) return ipv4Bytes(bare);
  const gap = bare.indexOf('::');
  if (gap === -1) return groupBytes(bare);
  const head = groupBytes(bare.slice(0, gap));
  const tail = groupBytes(bare.slice(gap + 2));
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** The canonical spelling (RFC 5952) of 4 or 16 bytes. */
export function addressText(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** How many leading bits two addresses of one family have in common. */
export function commonPrefixBits(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i += 1) {
    const difference = (a[i] ?? 0) ^ (b[i] ?? 0);
    if (difference !== 0) return i * 8 + Math.clz32(difference) - 24;
  }
  return a.length * 8;
}
