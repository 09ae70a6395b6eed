// What the page that lives with the developer tools tells the background of a tab's requests, and what of it a watching
// page hears.
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import { MAX_URL_CHARS } from '../timing.ts';
import type { InspectedRequest } from './har.ts';

export const DEVTOOLS_PORT = 'devtools';
/** A message of the tools holds at most so many requests; theirs is to split. */
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
    /** Told before, to this background or the one before it. */
    again: v.boolean(),
  }),
]);
/** What the tools may say. */
export type DevtoolsMessage = v.InferOutput<typeof devtoolsMessageSchema>;

/** What a watcher hears of a tab. */
export interface InspectedEvent {
  readonly requests: readonly InspectedRequest[];
  /** The list begins with these. */
  readonly anew: boolean;
  /** Whether the tools are open on the tab, and it is one of which anything may be told. */
  readonly inspected: boolean;
}
export type InspectedListener = (event: InspectedEvent) => void;
