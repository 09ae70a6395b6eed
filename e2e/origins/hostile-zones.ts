// Malicious zones: thousands of addresses, services with thousands more, endless aliases. All addresses are in the
// loopback range.
import type { HostScript, HttpsRecord } from './dns.ts';

export type Zone = Readonly<Record<string, HostScript>>;

export const ZONE_HOST = 'zone.test';

/** `count` distinct addresses of 127.NET.0.0/16. */
export function addresses(count: number, net: number): string[] {
  return Array.from({ length: count }, (_, i) => `127.${net}.${i >> 8}.${i & 0xff}`);
}

/** The owner name of the host's HTTPS records for a port other than 443 (RFC 9460 section 9.1). */
const serviceName = (port: number): string => `_${port}._https.${ZONE_HOST}`;

/** 4,000 addresses for the host, and 32 services with as many each. */
export function manyTargets(port: number): Zone {
  const targets = Array.from({ length: 32 }, (_, i) => `t${i}.test`);
  const HTTPS = targets.map((target, i): HttpsRecord => ({ priority: i + 1, target, alpn: ['h3', 'h2'] }));
  return {
    [ZONE_HOST]: { A: addresses(4000, 40) },
    [serviceName(port)]: { HTTPS },
    ...Object.fromEntries(targets.map((target, i) => [target, { A: addresses(4000, 50 + i) }])),
  };
}

/** A chain of aliases; the last one points to `end`. */
function chain(count: number, end: string): Zone {
  const names = Array.from({ length: count }, (_, i) => `c${i}.test`);
  return Object.fromEntries(names.map((name, i) => [name, { CNAME: names[i + 1] ?? end }]));
}

/** By name, for an origin of the host on this port. */
export const HOSTILE_ZONES: Readonly<Record<string, (port: number) => Zone>> = {
  'one name of 4,000 addresses': () => ({ [ZONE_HOST]: { A: addresses(4000, 40) } }),
  '32 services of 4,000 addresses each': manyTargets,
  'hints by the thousand': (port) => ({
    [ZONE_HOST]: { A: addresses(1, 40) },
    [serviceName(port)]: {
      HTTPS: [{ priority: 1, target: '.', alpn: ['h3'], hints: addresses(4000, 41) }],
    },
  }),
  'a loop of AliasMode records': (port) => ({
    [ZONE_HOST]: { A: addresses(2, 40) },
    [serviceName(port)]: { HTTPS: [{ priority: 0, target: 'one.test' }] },
    'one.test': { A: addresses(2000, 42), HTTPS: [{ priority: 0, target: 'two.test' }] },
    'two.test': { A: addresses(2000, 43), HTTPS: [{ priority: 0, target: 'one.test' }] },
  }),
  'a chain of 200 CNAMEs': () => ({ [ZONE_HOST]: { CNAME: 'c0.test' }, ...chain(200, 'end.test') }),
  'a loop of CNAMEs': () => ({ [ZONE_HOST]: { CNAME: 'c0.test' }, ...chain(3, 'c0.test') }),
};
