// Hosts whose addresses are known without DNS: pinned by the user, or found earlier in the same race. Questions about
// them are answered locally; their HTTPS answers are empty.
import { hostOfHttpsName, type ServiceRecord } from '@photofinish/shared/race/discovered';
import { hostPort } from '@photofinish/shared/web/origin';
import { familyOf } from '../address/address-bytes.ts';
import type { Answer, QueryKind } from './answer.ts';

/** A day, longer than any race: user settings do not expire. */
const LIFETIME_SECONDS = 86_400;

/** The key of a pin: `host:port`, IPv6 hosts in brackets. */
export function pinName(host: string, port: number): string {
  return hostPort(host, port).toLowerCase();
}

export type KnownHosts = ReturnType<typeof createKnownHosts>;

export interface KnownHostsOptions {
  readonly pins: ReadonlyMap<string, string>;
  /** The origin, then its alternatives. */
  readonly authorities: readonly { readonly host: string; readonly port: number }[];
  /** Addresses found before, by host. */
  readonly found: ReadonlyMap<string, readonly string[]>;
}

/** `found` takes precedence over pins. */
export function createKnownHosts({ pins, authorities, found }: KnownHostsOptions) {
  const known = new Map(found);
  const pinned: (readonly [string, string])[] = [];
  const apart = new Map<string, string>();
  const [origin] = authorities;
  for (const { host, port } of authorities) {
    const pin = pins.get(pinName(host, port));
    if (pin === undefined || found.has(host)) continue;
    // The pin of an alternative's port is none of the origin's own.
    const isOwn = host !== origin?.host || port === origin.port;
    if (isOwn && !known.has(host)) known.set(host, [pin]);
    else if (known.get(host)?.[0] !== pin) apart.set(pinName(host, port), pin);
    if (pinned.every(([other, address]) => other !== host || address !== pin)) pinned.push([host, pin]);
  }
  return {
    /** Hosts of which a port is pinned by the user, with the addresses. */
    pinned,
    /** The address of a port that the user pinned apart from its host, whose other ports are elsewhere; null: it is not. */
    pinAt: (host: string, port: number) => apart.get(pinName(host, port)) ?? null,
    has: (host: string) => known.has(host),
    /** The answer to a question about a known host; null: DNS has to be asked. */
    answer(name: string, kind: QueryKind): Answer | null {
      const addresses = known.get(kind === 'HTTPS' ? hostOfHttpsName(name) : name);
      if (addresses === undefined) return null;
      if (kind === 'HTTPS') return { ok: true, kind, services: [] };
      const family = kind === 'A' ? 'ipv4' : 'ipv6';
      const own = addresses.filter((address) => familyOf(address) === family);
      return {
        ok: true,
        kind,
        addresses: own.map((address) => ({ address, ttlSeconds: LIFETIME_SECONDS })),
      };
    },
    /** Pins apply to the targets of HTTPS records too; returns the hosts that became known, with their addresses. */
    learn(services: readonly ServiceRecord[]): ReadonlyMap<string, string> {
      const learnt = new Map<string, string>();
      for (const { target, port } of services) {
        if (known.has(target)) continue;
        const ports = [...(port === null ? [] : [port]), ...authorities.map((authority) => authority.port)];
        const pin = ports.map((at) => pins.get(pinName(target, at))).find((at) => at !== undefined);
        if (pin === undefined) continue;
        known.set(target, [pin]);
        learnt.set(target, pin);
      }
      return learnt;
    },
  };
}
