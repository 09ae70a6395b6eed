// The protocols of requests, and how much is known about a request's protocol.
import * as v from 'valibot';
import { getMessage } from '../language/catalog.ts';

/** Protocols by their ALPN names (RFC 7301 registry), newest first. */
export const KNOWN_PROTOCOLS = ['h3', 'h2', 'http/1.1', 'http/1.0'] as const;
export type KnownProtocol = (typeof KNOWN_PROTOCOLS)[number];
export const PROTOCOLS = [...KNOWN_PROTOCOLS, 'unknown'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/**
 * Why a protocol is unknown: the site hides it, a service worker answered, no observer saw it, the server confirmed a
 * stored answer (304), whose old protocol browsers then repeat, or the browser reveals nothing about the answer, as for
 * one that it blocked.
 */
export const UNKNOWN_REASONS = [
  'no-timing-allow-origin',
  'service-worker',
  'missed',
  'revalidated',
  'not-exposed',
] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** Where an answer came from. Only `network` counts towards adoption. */
export const DELIVERIES = ['network', 'http-cache', 'service-worker', 'prefetch'] as const;
export type Delivery = (typeof DELIVERIES)[number];

export const knownProtocolSchema = v.picklist(KNOWN_PROTOCOLS);
export const protocolSchema = v.picklist(PROTOCOLS);
export const unknownReasonSchema = v.picklist(UNKNOWN_REASONS);
export const deliverySchema = v.picklist(DELIVERIES);

/**
 * The protocol named by a browser's `nextHopProtocol` (Resource Timing, section 4.3), `null` if it names none we know.
 * Draft names of HTTP/3 (`h3-29`, Chromium's `h3-Q050`) count as `h3`; `h2c` never occurs for https.
 */
export function protocolFromAlpn(alpn: string): KnownProtocol | null {
  const name = alpn.toLowerCase();
  if (name === 'h3' || name.startsWith('h3-')) return 'h3';
  return (KNOWN_PROTOCOLS as readonly string[]).includes(name) ? (name as KnownProtocol) : null;
}

/** Names that are the same in every language. */
export const PROTOCOL_NAMES: Record<KnownProtocol, string> = {
  h3: 'HTTP/3',
  h2: 'HTTP/2',
  'http/1.1': 'HTTP/1.1',
  'http/1.0': 'HTTP/1.0',
};

/** How the protocol is written for people. */
export function protocolName(protocol: Protocol): string {
  return protocol === 'unknown' ? getMessage('protocolUnknown') : PROTOCOL_NAMES[protocol];
}

/** Marks of protocols: they differ by shape and digit first, so that colour is never the only indication. */
export const MARKS = ['h3', 'h2', 'h1', 'unknown'] as const;
export type Mark = (typeof MARKS)[number];

/** The mark of a protocol; both HTTP/1 versions share one. */
export function markOf(protocol: Protocol): Mark {
  if (protocol === 'http/1.1' || protocol === 'http/1.0') return 'h1';
  return protocol;
}

/** The shortest name of a protocol: for the toolbar's badge and the lanes of a drawing. */
export const MARK_LABELS: Record<Mark, string> = { h3: 'H3', h2: 'H2', h1: 'H1', unknown: '?' };
