// What distinguishes networks, and the key derived from it for records: HTTP/3 may work at home and be blocked at work.
// Addresses alone are the same in every home; the digest is salted so that a key reveals no location.
import { OFFLINE_NETWORK } from '@photofinish/shared/web/network-name';
import { siphash } from './siphash.ts';

/** The network's name without a route. */
export const NO_NETWORK = OFFLINE_NETWORK;
/** Key of a network that cannot be distinguished from others; nothing is ever recorded under it. */
export const UNIDENTIFIED = 'unidentified';

/** Whether the machine can return to this network: having none is not a place, and `unidentified` may be any. */
export function mayBeNamed(key: string): boolean {
  return key !== NO_NETWORK && key !== UNIDENTIFIED;
}

/** `other`: a route through a tunnel without visible hardware beneath, or a modem that looks like one. */
export type InterfaceKind = 'wired' | 'wireless' | 'other';

export interface NetworkFacts {
  /** IP address of the default gateway, beneath a tunnel if there is one; empty: the route has none. */
  readonly gateway: string;
  /** The same gateway's link-layer address; null if unknown. */
  readonly linkLayer: string | null;
  /** The kind of the interface that leads to that gateway. */
  readonly kind: InterfaceKind;
  /** The wireless network's name, empty if there is none or it cannot be read. */
  readonly ssid: string;
  /** Whether the default route uses a tunnel. */
  readonly tunnel: boolean;
}

/** The key of a network: a salted digest, or the constant for none. */
export function networkKey(facts: NetworkFacts | null, salt: Uint8Array): string {
  if (facts === null) return NO_NETWORK;
  const { gateway, linkLayer, kind, ssid, tunnel } = facts;
  const identity = JSON.stringify([linkLayer ?? gateway, kind, ssid, tunnel]);
  return `net-${siphash(salt, new TextEncoder().encode(identity))}`;
}

/** A MAC address in the form used for comparisons: six pairs of lower-case digits with colons; null if invalid. */
export function linkLayerAddress(text: string): string | null {
  const parts = text.toLowerCase().split(/[:-]/);
  if (parts.length !== 6 || !parts.every((part) => /^[0-9a-f]{1,2}$/.test(part))) return null;
  const address = parts.map((part) => part.padStart(2, '0')).join(':');
  return address === '00:00:00:00:00:00' ? null : address;
}

/** What is known about a network, in words that do not reveal its location. */
export function networkWords({ gateway, linkLayer, kind, ssid, tunnel }: NetworkFacts): string {
  const kinds = { wired: 'wired', wireless: 'wireless', other: 'of no known kind' } as const;
  const by =
    linkLayer !== null
      ? 'its gateway known by its link-layer address'
      : gateway === ''
        ? 'without a gateway'
        : 'its gateway known by its IP address only';
  const name = kind !== 'wireless' ? [] : [ssid === '' ? 'its name may not be read' : 'its name was read'];
  const through = tunnel ? ['a tunnel holds the default route'] : [];
  return [kinds[kind], by, ...name, ...through].join(', ');
}
