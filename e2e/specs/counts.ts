// Requests as the popup counts them, by which specs wait for a page to be known whole: rows, and each number in them,
// come one after the other.
import type { Popup } from '../browsers/popup.ts';

/** Patience with them: an answer that its page's timings did not tell of is counted 20 s later. */
export const COUNTED = { timeout: 60_000 };

/** Requests by origin in the popup's table. */
export async function shownCounts(popup: Popup): Promise<Record<string, number>> {
  return Object.fromEntries((await popup.origins()).map(({ origin, requests }) => [origin, requests]));
}
