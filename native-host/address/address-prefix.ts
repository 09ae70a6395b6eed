// The prefix that stands for an address's network where addresses are counted or budgeted together.
import { isIP } from 'node:net';
import { addressBytes, addressText, withoutZone } from './address-bytes.ts';

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
