// The prefix that stands for an address's network where addresses are counted or budgeted together.
import { isIP } from 'node:net';
import { addressBytes, addressText } from './address-bytes.ts';

/** `192.0.2.0/24` or `2001:db8:1::/48`; null: the text is no address. */
export function addressPrefix(address: string): string | null {
  if (isIP(address.replace(/%.*$/, '')) === 0) return null;
  const bytes = addressBytes(address);
  const kept = bytes.length === 4 ? 3 : 6;
  return `${addressText(bytes.map((byte, i) => (i < kept ? byte : 0)))}/${kept * 8}`;
}
