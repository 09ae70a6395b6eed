// What is said of a name without an address: a family that this machine cannot use is not queried (Happy Eyeballs v3
// draft, section 4.1), so whether the name has addresses of it is unknown.
import type { Family } from '../address/address-bytes.ts';

const FAMILY_NAMES = { ipv6: 'IPv6', ipv4: 'IPv4' } as const;
const RECORDS = { ipv6: 'AAAA', ipv4: 'A' } as const;

/** The error of a name for which the queries of these families, at least one, all had negative answers. */
export function noAddress(host: string, families: readonly Family[]) {
  const unusable = (['ipv6', 'ipv4'] as const).find((family) => !families.includes(family));
  const [queried] = families;
  const message =
    unusable === undefined || queried === undefined
      ? `${host} has no address`
      : `${host} has no ${RECORDS[queried]} record, and this machine cannot use ${FAMILY_NAMES[unusable]}`;
  return { code: 'no-address', message } as const;
}
