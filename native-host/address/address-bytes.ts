// Addresses as bytes in network order, for comparing prefixes and for parsing and synthesising NAT64 addresses.
import { isIP } from 'node:net';

export type Family = 'ipv6' | 'ipv4';

export function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** The bytes of a group of an IPv6 address, which may be an IPv4 address at its end (RFC 4291 section 2.2). */
function groupBytes(group: string): number[] {
  if (group.includes('.')) return group.split('.').map(Number);
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
}

function ipv6Bytes(text: string): number[] {
  const halves = text.split('::').map((half) => (half === '' ? [] : half.split(':').flatMap(groupBytes)));
  const [before = [], after = []] = halves;
  return [...before, ...new Array<number>(16 - before.length - after.length).fill(0), ...after];
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
  return version === 6 ? ipv6Bytes(bare) : bare.split('.').map(Number);
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
