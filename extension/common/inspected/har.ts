// Reduces one entry of the developer tools' network log (HAR 1.2, with the browsers' own underscored fields) to what we
// keep. With the tools open, the protocol of every request is known, even if its site hides it from pages.

import type { Delivery, KnownProtocol } from '@photofinish/shared/web/protocol';
import { comparableUrl } from '../timing.ts';

/** A request as reported by the developer tools. */
export interface InspectedRequest {
  /** Without fragment, truncated as on the other side of the join. */
  readonly url: string;
  readonly method: string;
  readonly status: number;
  /** Null if no protocol carried it (answered by a cache or a worker), or if the browser repeats an older one. */
  readonly protocol: KnownProtocol | null;
  readonly delivery: Delivery;
  /** When it began, milliseconds since the epoch; `durationMs` includes queueing. */
  readonly startMs: number;
  readonly tookMs: number;
  /** Bytes over the network, header included; null if the browser does not say. */
  readonly bytes: number | null;
}

/** The part of an entry that is read. Browsers may add or omit anything else. */
export interface HarEntry {
  readonly startedDateTime: string | Date;
  readonly time: number;
  readonly request: { readonly method: string; readonly url: string };
  readonly response: {
    readonly status: number;
    readonly httpVersion: string;
    readonly redirectURL?: string;
    /** Chromium. */
    readonly _transferSize?: number | null;
    /** Chromium; the version is then `http/1.1`, whatever the worker did. */
    readonly _fetchedViaServiceWorker?: boolean;
    /** Firefox: everything that crossed the network, despite its name. */
    readonly bodySize?: number;
  };
  /** Firefox: absent if no server answered. */
  readonly serverIPAddress?: string;
  /** Chromium: `memory` or `disk`; the version is then that of the answer when it was stored. */
  readonly _fromCache?: string | null;
  /** Chromium: `document` for pages and frames. */
  readonly _resourceType?: string;
}

/** For HTTP/1.1 Chromium gives the status line's spelling, or its own in lower case. */
const BY_VERSION: ReadonlyMap<string, KnownProtocol> = new Map([
  ['h3', 'h3'],
  ['http/3', 'h3'],
  ['http/3.0', 'h3'],
  ['h2', 'h2'],
  ['http/2', 'h2'],
  ['http/2.0', 'h2'],
  ['http/1.1', 'http/1.1'],
  ['http/1.0', 'http/1.0'],
]);

/** The protocol named by an entry's `httpVersion`, in either browser's spelling; null if it names none. */
export function protocolOfVersion(version: string): KnownProtocol | null {
  return BY_VERSION.get(version.toLowerCase().replace(/^h3-.*/, 'h3')) ?? null;
}

function deliveryOf({ response, serverIPAddress, _fromCache }: HarEntry): Delivery {
  if (response._fetchedViaServiceWorker) return 'service-worker';
  // Firefox marks neither caches nor workers, but then names no server; its version is an older answer's, or made up.
  const stored = response._transferSize === undefined ? !serverIPAddress : Boolean(_fromCache);
  return stored ? 'http-cache' : 'network';
}

/** The entry as a request; null if it is not https, or never had an answer. */
export function inspectedRequest(entry: HarEntry): InspectedRequest | null {
  const { request, response } = entry;
  const startMs = new Date(entry.startedDateTime).getTime();
  if (!request.url.startsWith('https://') || response.status === 0 || Number.isNaN(startMs)) return null;
  const delivery = deliveryOf(entry);
  // For a revalidated copy (304) browsers report the stored answer's version.
  const told = delivery === 'network' && response.status !== 304;
  const bytes = response._transferSize ?? response.bodySize;
  return {
    url: comparableUrl(request.url),
    method: request.method.slice(0, 16),
    status: response.status,
    protocol: told ? protocolOfVersion(response.httpVersion) : null,
    delivery,
    startMs,
    tookMs: Math.max(0, entry.time),
    bytes: delivery === 'network' && typeof bytes === 'number' && bytes > 0 ? Math.round(bytes) : null,
  };
}
