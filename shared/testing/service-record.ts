// An HTTPS record as resolvers give it, for tests.
import type { ServiceRecord } from '../race/discovered.ts';

/** ServiceMode, for the name itself and without parameters unless said. */
export function serviceRecord(name: string, over: Partial<ServiceRecord> = {}): ServiceRecord {
  return {
    owner: name,
    priority: 1,
    target: name,
    alpn: [],
    noDefaultAlpn: false,
    port: null,
    ipv4Hints: [],
    ipv6Hints: [],
    ech: false,
    incompatible: false,
    ttlSeconds: 300,
    ...over,
  };
}
