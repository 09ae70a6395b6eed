// What one steering tells the browser: a declarativeNetRequest rule that sets the Alt-Svc header (RFC 7838) of exactly
// one origin. Firefox obeys such a header as if the server had sent it; Chromium does not. Pure.
import { type Origin, originParts } from '@photofinish/shared/web/origin';

/** How long the browser remembers what we advertise; this is all that remains after the extension is removed. */
export const ADVERTISED_MS = 3_600_000;
/** `clear` is valid only as the sole value (RFC 7838 section 3). */
export const CLEAR = 'clear';

/** All types that Firefox distinguishes: an omitted one would let the browser learn what the rule is meant to hide. */
const EVERY_RESOURCE = [
  'main_frame',
  'sub_frame',
  'stylesheet',
  'script',
  'image',
  'imageset',
  'font',
  'object',
  'object_subrequest',
  'xmlhttprequest',
  'xslt',
  'xml_dtd',
  'json',
  'ping',
  'beacon',
  'csp_report',
  'web_manifest',
  'media',
  'websocket',
  'speculative',
  'other',
] as const;

export interface Rule {
  readonly id: number;
  readonly priority: number;
  readonly condition: {
    readonly urlFilter: string;
    readonly resourceTypes: (typeof EVERY_RESOURCE)[number][];
  };
  readonly action: {
    readonly type: 'modifyHeaders';
    readonly responseHeaders: {
      readonly header: string;
      readonly operation: 'set';
      readonly value: string;
    }[];
  };
}

/**
 * The header that names HTTP/3 on the origin's own port, as a server would: pages can read it, but learn nothing about
 * us.
 */
export function advertisement(origin: Origin): string {
  return `h3=":${originParts(origin).port}"; ma=${ADVERTISED_MS / 1000}`;
}

/**
 * Whether a header is one that steering sets on answers of this origin. A server may send the same, so it is ours only
 * where a rule is in force, or may be.
 */
export function isLikeOurs(origin: Origin, altSvc: string): boolean {
  return altSvc === CLEAR || altSvc === advertisement(origin);
}

/** Whether a rule can name exactly this origin: an asterisk, which URLs allow in a host, would match anything. */
export function isNameable(origin: Origin): boolean {
  return !origin.includes('*');
}

/** The rule that sets one header on every answer of one origin. */
export function ruleFor(id: number, origin: Origin, altSvc: string): Rule {
  return {
    id,
    priority: 1,
    // Anchored at the start and terminated by the slash that every URL has: matches neither longer hosts nor other
    // ports.
    condition: { urlFilter: `|${origin}/`, resourceTypes: [...EVERY_RESOURCE] },
    action: {
      type: 'modifyHeaders',
      responseHeaders: [{ header: 'alt-svc', operation: 'set', value: altSvc }],
    },
  };
}
