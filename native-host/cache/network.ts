// Which network the machine is on, as a key for records: HTTP/3 may work at home and be blocked at work. Addresses alone
// are the same in every home, so it is the gateway's link-layer address, salted so that the key betrays no place.
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateDirectory } from '../private-directory.ts';
import type { Clock } from '../race/clock.ts';
import { siphash } from './siphash.ts';

/** The network's name while no route leads out. */
export const NO_NETWORK = 'offline';
/** A change of network is noticed within this time; asking costs three small reads. */
const RECHECK_MS = 2000;
const SALT_BYTES = 32;

export type InterfaceKind = 'wired' | 'wireless' | 'tunnel';

export interface NetworkFacts {
  /** Link-layer address of the default gateway, its IP address where that is unknown, empty on a tunnel. */
  readonly gateway: string;
  /** The kind of the interface that holds the default route. */
  readonly kind: InterfaceKind;
}

export interface Route {
  readonly device: string;
  /** Dotted or colon-hexadecimal; null: the interface itself leads out, as tunnels do. */
  readonly gateway: string | null;
  readonly metric: number;
}

/** Flags of include/uapi/linux/route.h. */
const RTF_UP = 0x1;
const RTF_GATEWAY = 0x2;
/** Reject routes stand in the IPv6 table of every machine without IPv6. */
const RTF_REJECT = 0x200;

function fields(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((parts) => parts.length > 1);
}

/** The default routes of `/proc/net/route`, best first. A VPN's two halves (0/1 and 128/1) count as one. */
export function defaultRoutes(procNetRoute: string): Route[] {
  const routes: (Route & { readonly prefixBits: number })[] = [];
  for (const [device, destination, gateway, flags, , , metric, mask] of fields(procNetRoute).slice(1)) {
    if (device === undefined || gateway === undefined || mask === undefined) continue;
    const bits = Number.parseInt(flags ?? '0', 16);
    // Both columns are hexadecimal in the host's byte order, which is little-endian wherever browsers run.
    const whole = destination === '00000000' && mask === '00000000';
    const half = mask === '00000080' && (destination === '00000000' || destination === '00000080');
    if ((bits & RTF_UP) === 0 || (bits & RTF_REJECT) !== 0 || !(whole || half)) continue;
    const address = [6, 4, 2, 0].map((at) => Number.parseInt(gateway.slice(at, at + 2), 16)).join('.');
    routes.push({
      device,
      gateway: (bits & RTF_GATEWAY) === 0 ? null : address,
      metric: Number(metric),
      prefixBits: half ? 1 : 0,
    });
  }
  return routes
    .toSorted((a, b) => b.prefixBits - a.prefixBits || a.metric - b.metric)
    .map(({ device, gateway, metric }) => ({ device, gateway, metric }));
}

/** The same of `/proc/net/ipv6_route`. */
export function defaultRoutes6(procNetIpv6Route: string): Route[] {
  const routes: Route[] = [];
  for (const parts of fields(procNetIpv6Route)) {
    const [destination, prefix, , , nextHop, metric, , , flags, device] = parts;
    if (device === undefined || nextHop === undefined || device === 'lo') continue;
    const bits = Number.parseInt(flags ?? '0', 16);
    if (destination !== '0'.repeat(32) || prefix !== '00') continue;
    if ((bits & RTF_UP) === 0 || (bits & RTF_REJECT) !== 0) continue;
    const gateway = (bits & RTF_GATEWAY) === 0 ? null : (nextHop.match(/.{4}/g) ?? []).join(':');
    routes.push({ device, gateway, metric: Number.parseInt(metric ?? '0', 16) });
  }
  return routes.toSorted((a, b) => a.metric - b.metric);
}

/** The link-layer address that `/proc/net/arp` holds for a gateway; null while it is not resolved. */
export function linkAddress(procNetArp: string, route: Route): string | null {
  for (const [ip, , flags, mac, , device] of fields(procNetArp).slice(1)) {
    const resolved = Number.parseInt(flags ?? '0', 16) !== 0 && mac !== '00:00:00:00:00:00';
    if (ip === route.gateway && device === route.device && resolved) return mac ?? null;
  }
  return null;
}

/** Values of include/uapi/linux/if_arp.h that tunnels have: PPP, IP-in-IP, SIT, GRE, and none at all (WireGuard). */
const TUNNEL_TYPES = new Set(['512', '768', '769', '776', '778', '823', '65534']);

export interface NetworkSources {
  /** A file's text, empty where there is none. */
  read(path: string): string;
  exists(path: string): boolean;
}

const SYSTEM_SOURCES: NetworkSources = {
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  },
  exists: existsSync,
};

function kindOf(device: string, sources: NetworkSources): InterfaceKind {
  const folder = `/sys/class/net/${device}`;
  if (sources.exists(`${folder}/tun_flags`)) return 'tunnel';
  if (TUNNEL_TYPES.has(sources.read(`${folder}/type`).trim())) return 'tunnel';
  return sources.exists(`${folder}/wireless`) || sources.exists(`${folder}/phy80211`) ? 'wireless' : 'wired';
}

/** What identifies the network now; null: no route leads out. Linux only; elsewhere nothing is found. */
export function networkFacts(sources: NetworkSources): NetworkFacts | null {
  const [route4] = defaultRoutes(sources.read('/proc/net/route'));
  // The IPv6 table names every local address as well: on most machines it need not be read.
  const route = route4 ?? defaultRoutes6(sources.read('/proc/net/ipv6_route'))[0];
  if (route === undefined) return null;
  const mac = linkAddress(sources.read('/proc/net/arp'), route);
  return { gateway: mac ?? route.gateway ?? '', kind: kindOf(route.device, sources) };
}

/** The key of a network: a salted digest, or the constant for none. */
export function networkKey(facts: NetworkFacts | null, salt: Uint8Array): string {
  if (facts === null) return NO_NETWORK;
  return `net-${siphash(salt, new TextEncoder().encode(`${facts.kind}\n${facts.gateway}`))}`;
}

function keptSalt(path: string): Uint8Array | null {
  try {
    const salt = readFileSync(path);
    return salt.length === SALT_BYTES ? salt : null;
  } catch {
    return null;
  }
}

/**
 * The salt beside the cache, made at first use; helpers that start together agree on one. Where no file can be had the
 * salt lives as long as the process.
 */
export function readSalt(path: string): Uint8Array {
  const kept = keptSalt(path);
  if (kept !== null) return kept;
  // Only a first start pays for loading this.
  const fresh = process.getBuiltinModule('node:crypto').randomBytes(SALT_BYTES);
  const draft = `${path}.${fresh.toString('hex', 0, 6)}`;
  try {
    makePrivateDirectory(dirname(path));
    writeFileSync(draft, fresh, { mode: 0o600, flag: 'wx' });
    try {
      // A link appears whole and never replaces another's, unlike writing or renaming.
      linkSync(draft, path);
    } finally {
      rmSync(draft);
    }
  } catch {
    // Another helper was first, or nothing can be kept here.
  }
  return keptSalt(path) ?? fresh;
}

/** Where the salt lives. */
export function saltPath(cachePath: string): string {
  return `${cachePath}.salt`;
}

export interface NetworkOptions {
  readonly salt: Uint8Array;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** A name given by the user stands for whatever network it is. */
  readonly label?: string | undefined;
  readonly sources?: NetworkSources;
}

/** Gives the key of the network the machine is on, looked at anew every two seconds at most. */
export function watchNetwork(options: NetworkOptions): () => string {
  const { label, clock, salt } = options;
  if (label !== undefined) return () => label;
  const sources = options.sources ?? SYSTEM_SOURCES;
  let key: string | null = null;
  let checkedMs = 0;
  return () => {
    const nowMs = clock.epochMs();
    // A clock that was set back must not put the next look off.
    if (key === null || Math.abs(nowMs - checkedMs) >= RECHECK_MS) {
      key = networkKey(networkFacts(sources), salt);
      checkedMs = nowMs;
    }
    return key;
  };
}
