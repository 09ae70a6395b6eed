// Requests as the popup counts them, by which specs wait for a page to be known whole: rows, and each number in them,
// come one after the other.
import type { Popup } from '../browsers/popup.ts';

/** Requests by origin in the popup's table. */
export async function shownCounts(popup: Popup): Promise<Record<string, number>> {
  return Object.fromEntries((await popup.origins()).map(({ origin, requests }) => [origin, requests]));
}
