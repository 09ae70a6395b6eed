// What the extension's page in the developer tools sends to the background about a tab's requests, and what of that the
// background passes on to a watching page.
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import { MAX_URL_CHARS } from '../timing.ts';
import type { InspectedRequest } from './har.ts';

export const DEVTOOLS_PORT = 'devtools';
/** The maximum number of requests in one message of the tools; they must split longer lists. */
export const MAX_INSPECTED_AT_ONCE = 500;

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));
const ms = v.pipe(v.number(), v.finite(), v.minValue(0));
const tabId = v.pipe(v.number(), v.integer(), v.minValue(0));

const inspectedSchema = v.object({
  url: v.pipe(v.string(), v.startsWith('https://'), v.maxLength(MAX_URL_CHARS)),
  method: v.pipe(v.string(), v.maxLength(16)),
  status: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(999)),
  protocol: v.nullable(v.picklist(KNOWN_PROTOCOLS)),
  delivery: v.picklist(['network', 'http-cache', 'service-worker', 'prefetch']),
  startMs: ms,
  tookMs: ms,
  bytes: v.nullable(count),
});

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
