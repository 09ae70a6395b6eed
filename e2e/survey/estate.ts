// Thousands of names for a survey's origins, by a rule instead of a list: three servers, one for each way of treating
// HTTP/3, answer for all of them on several networks.
import type { OriginSettings } from '../origins/start.ts';

/** IPv4 of the namespace that they run in. */
export const EVERYWHERE = '0.0.0.0';

/** What is served below each of these names. */
export const SERVERS = {
  advertised: { host: '*.advertised.test', address: EVERYWHERE, h3: true, altSvc: 'auto' },
  silent: { host: '*.silent.test', address: EVERYWHERE, h3: true },
  tcp: { host: '*.tcp.test', address: EVERYWHERE, h3: false },
} as const satisfies Record<string, OriginSettings>;

const KINDS = Object.keys(SERVERS) as (keyof typeof SERVERS)[];
/** All of it is local to the machine in the middle. */
export const ALL_NETWORKS = '10.88.0.0/16';
/** Below .0 and above .254 there are no hosts. */
const HOSTS_PER_NETWORK = 254;

export interface EstateHost {
  readonly name: string;
  readonly server: keyof typeof SERVERS;
  /** The first three octets of its /24. */
  readonly network: string;
  readonly address: string;
}

/** The host of a number from 0, on one of so many networks, at most 255. */
export function estateHost(index: number, networks: number): EstateHost {
  const server = KINDS[index % KINDS.length] ?? 'tcp';
  const network = `10.88.${(index % networks) + 1}`;
  const address = `${network}.${1 + (Math.floor(index / networks) % HOSTS_PER_NETWORK)}`;
  return { name: `o${index}.${server}.test`, server, network, address };
}

/** The number in a host's name. */
export function estateIndex(name: string): number {
  return Number(name.slice(1, name.indexOf('.')));
}
