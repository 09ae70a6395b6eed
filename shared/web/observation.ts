// One Observation is what the browser did once, for one request: created and validated where it enters, folded into the
// ledger and the helper's host cache, and never reinterpreted. Also the modes in which observations are made, and how
// figures say what those of light mode lack.
import * as v from 'valibot';
import { formatNumber, getMessage } from '../language/catalog.ts';
import { originSchema, siteSchema } from './origin.ts';
import { deliverySchema, protocolSchema, unknownReasonSchema } from './protocol.ts';
import { count, MAX_ALT_SVC_CHARS, ms } from './untrusted.ts';

/** Browsers that differ in how they choose a protocol; Chrome, Edge and Brave behave like Chromium. */
export const BROWSERS = ['chromium', 'firefox'] as const;
export type Browser = (typeof BROWSERS)[number];
export const browserSchema = v.picklist(BROWSERS);

/**
 * How requests are observed: `full` joins what pages report with `webRequest` events, `light` has only the pages'
 * timings and `webNavigation`. Figures say by which of them they were counted.
 */
export const OBSERVATION_MODES = ['full', 'light'] as const;
export type ObservationMode = (typeof OBSERVATION_MODES)[number];

/** The modes that figures were counted by, in the order of OBSERVATION_MODES, each once; empty if nothing was counted. */
export const observationModesSchema = v.pipe(
  v.array(v.picklist(OBSERVATION_MODES)),
  v.maxLength(OBSERVATION_MODES.length),
  v.check(
    (modes) => modes.every((mode, i) => i === 0 || (modes[i - 1] ?? mode) < mode),
    'modes must be sorted, each once',
  ),
  v.readonly(),
);
export type ObservationModes = v.InferOutput<typeof observationModesSchema>;

/** The modes of figures that do not say: they are from before there was a second mode. */
export const ONLY_FULL: ObservationModes = ['full'];

/** The modes of figures that were added up; `a` itself if `b` adds none. Those that do not say are full. */
export function unitedModes(
  a: ObservationModes = ONLY_FULL,
  b: ObservationModes = ONLY_FULL,
): ObservationModes {
  if (b.every((mode) => a.includes(mode))) return a;
  return OBSERVATION_MODES.filter((mode) => a.includes(mode) || b.includes(mode));
}

/**
 * Whether hidden counts are an upper bound: without `webRequest`, an opaque answer from another origin may have come
 * from a cache.
 */
function isUpperBound(modes: ObservationModes): boolean {
  return modes.includes('light');
}

/** Whether an origin's advertisement may have gone unseen: without `webRequest`, other origins' headers are not read. */
export function missesAdvertisements(modes: ObservationModes = ONLY_FULL): boolean {
  return modes.includes('light') && !modes.includes('full');
}

/** A browser may miss HTTP/3 once or twice while it learns; staying on TCP after that is a choice. */
export const VISITS_BEFORE_CHOICE = 3;

const requestSchema = {
  /** Unique per request and stable across retries, so that a batch sent twice counts once. */
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
  origin: originSchema,
  site: siteSchema,
  kind: v.picklist(['navigation', 'resource']),
  delivery: deliverySchema,
  /** Milliseconds since the epoch, by the browser's clock. */
  atMs: ms,
  /** Bytes over the network, header included; null when the site hides them. */
  bytes: v.nullable(count),
  /** The peer's address as reported by the browser. */
  address: v.optional(v.pipe(v.string(), v.maxLength(64))),
  /** The Alt-Svc header value as received (RFC 7838 section 3). */
  altSvc: v.optional(v.pipe(v.string(), v.maxLength(MAX_ALT_SVC_CHARS))),
  /** In light mode: the stored response was read, so without `altSvc` it has no such header. */
  altSvcRead: v.optional(v.literal(true)),
};

/** Unknown always comes with its reason, and a known protocol never does. */
export const observationSchema = v.pipe(
  v.object({
    ...requestSchema,
    protocol: protocolSchema,
    reason: v.optional(unknownReasonSchema),
  }),
  v.check(
    (o) => (o.protocol === 'unknown') === (o.reason !== undefined),
    'unknown needs a reason, a known protocol none',
  ),
);

export type Observation = v.InferOutput<typeof observationSchema>;

/** How many are hidden, or at most how many, if some were counted in light mode. */
export function hiddenCountText(hidden: number, modes: ObservationModes): string {
  return atMostText(formatNumber(hidden), hidden, modes);
}

/** A figure, such as a share, that counts `hidden` answers in words: as it is, or as an upper bound. */
export function atMostText(figure: string, hidden: number, modes: ObservationModes): string {
  return hidden > 0 && isUpperBound(modes) ? getMessage('atMost', { figure }) : figure;
}

const NAMES = { full: 'observationFull', light: 'observationLight' } as const;

/** `full + light`. */
export function modesText(modes: ObservationModes = ONLY_FULL): string {
  return modes.map((mode) => getMessage(NAMES[mode])).join(' + ');
}

/** That figures were counted in light mode, and what they lack; null: none were. */
export function lightNote(modes: ObservationModes): string | null {
  if (!isUpperBound(modes)) return null;
  const which = getMessage(modes.length > 1 ? 'countedLightPartly' : 'countedLight');
  return `${which} ${getMessage('lightLimits')}`;
}
