// A request as the developer tools report it: reduced from one entry of their network log (HAR 1.2, with the browsers'
// own underscored fields), and sent to the background. With the tools open, the protocol of every request is known, even
// if its site hides it from pages.

import { type Delivery, KNOWN_PROTOCOLS, type KnownProtocol } from '@photofinish/shared/web/protocol';
import { count, ms } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { comparableUrl, MAX_URL_CHARS } from './timing.ts';

const inspectedSchema = v.object({
  /** Without fragment, truncated as on the other side of the join. */
  url: v.pipe(v.string(), v.startsWith('https://'), v.maxLength(MAX_URL_CHARS)),
  method: v.pipe(v.string(), v.maxLength(16)),
  status: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(999)),
  /** Null if no protocol carried it (answered by a cache or a worker), or if the browser repeats an older one. */
  protocol: v.nullable(v.picklist(KNOWN_PROTOCOLS)),
  delivery: v.picklist(['network', 'http-cache', 'service-worker', 'prefetch']),
  /** When it began, milliseconds since the epoch; `tookMs` includes queueing. */
  startMs: ms,
  tookMs: ms,
  /** Bytes over the network, header included; null if the browser does not say. */
  bytes: v.nullable(count),
});
/** A request as reported by the developer tools. */
export type InspectedRequest = Readonly<v.InferOutput<typeof inspectedSchema>>;

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
  /** Chromium: `memory` or `disk`; the version is then that of the response when it was stored. */
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
  // Firefox marks neither caches nor workers, but then names no server; its version is an older response's, or made up.
  const stored = response._transferSize === undefined ? !serverIPAddress : Boolean(_fromCache);
  return stored ? 'http-cache' : 'network';
}

/** The entry as a request; null if it is not https, or never had a response. */
export function inspectedRequest(entry: HarEntry): InspectedRequest | null {
  const { request, response } = entry;
  const startMs = new Date(entry.startedDateTime).getTime();
  if (!request.url.startsWith('https://') || response.status === 0 || Number.isNaN(startMs)) return null;
  const delivery = deliveryOf(entry);
  // For a revalidated copy (304) browsers report the stored response's version.
  const fromNetwork = delivery === 'network' && response.status !== 304;
  const bytes = response._transferSize ?? response.bodySize;
  return {
    url: comparableUrl(request.url),
    method: request.method.slice(0, 16),
    status: response.status,
    protocol: fromNetwork ? protocolOfVersion(response.httpVersion) : null,
    delivery,
    startMs,
    tookMs: Math.max(0, entry.time),
    bytes: delivery === 'network' && typeof bytes === 'number' && bytes > 0 ? Math.round(bytes) : null,
  };
}

// What the extension's page in the developer tools sends to the background about a tab's requests, and what of that the
// background passes on to a watching page.

export const DEVTOOLS_PORT = 'devtools';
/** The maximum number of requests in one message of the tools; they must split longer lists. */
export const MAX_INSPECTED_AT_ONCE = 500;

const tabId = v.pipe(v.number(), v.integer(), v.minValue(0));

export const devtoolsMessageSchema = v.variant('type', [
  /** The tab's list begins, with the tools or with a new document. */
  v.object({ type: v.literal('begin'), tabId }),
  v.object({
    type: v.literal('requests'),
    tabId,
    requests: v.pipe(v.array(inspectedSchema), v.minLength(1), v.maxLength(MAX_INSPECTED_AT_ONCE)),
    /** Sent before, to this background or its predecessor. */
    again: v.boolean(),
  }),
]);
/** What the tools may send. */
export type DevtoolsMessage = v.InferOutput<typeof devtoolsMessageSchema>;

/** What a watcher receives about a tab. */
export interface InspectedEvent {
  readonly requests: readonly InspectedRequest[];
  /** The list begins with these. */
  readonly anew: boolean;
  /** Whether the tools are open on the tab, and the tab may be reported at all. */
  readonly inspected: boolean;
}
export type InspectedListener = (event: InspectedEvent) => void;
