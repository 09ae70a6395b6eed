// An HTTPS record as returned by resolvers, for tests.
import type { ServiceRecord } from '../race/discovered.ts';

/** By default in ServiceMode, for the name itself and without parameters. */
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
