// Joins the extension's counts of an origin with Playwright's. The extension counts every response, but Chromium tells
// it no protocol where the site hides it; Playwright names those, but knows nothing of some responses. Pure.
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';

/** What Playwright saw of one origin in one document. */
export interface SeenOrigin {
  /** Network responses by protocol. */
  readonly counts: ProtocolCounts;
  /** Each of its requests has a response, and what Playwright tells about it leaves nothing open. */
  readonly complete: boolean;
}

/** Network responses by protocol, by who named it. */
export interface JoinedCounts {
  readonly extension: ProtocolCounts;
  readonly playwright: ProtocolCounts;
}

const total = (counts: ProtocolCounts): number =>
  Object.values(counts).reduce((sum: number, count: number) => sum + count, 0);

/**
 * The responses that the extension counted as unknown are named only if Playwright's responses leave one choice: it saw
 * as many, knows all their protocols, and has each that the extension knows among them. Without the extension (null)
 * everything is Playwright's.
 */
export function joinedCounts(own: ProtocolCounts | null, seen: SeenOrigin | null): JoinedCounts {
  if (own === null) return { extension: NO_REQUESTS, playwright: seen?.counts ?? NO_REQUESTS };
  const apart = { extension: own, playwright: NO_REQUESTS };
  if (seen === null || !seen.complete || own.unknown === 0) return apart;
  const { counts } = seen;
  if (counts.unknown > 0 || total(counts) !== total(own)) return apart;
  if (KNOWN_PROTOCOLS.some((protocol) => counts[protocol] < own[protocol])) return apart;
  const rest = KNOWN_PROTOCOLS.map((protocol) => [protocol, counts[protocol] - own[protocol]]);
  return {
    extension: { ...own, unknown: 0 },
    playwright: { ...NO_REQUESTS, ...Object.fromEntries(rest) },
  };
}
