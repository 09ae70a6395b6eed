// What a failing IndexedDB means for the user, in words: the browser's own errors name causes, not consequences.

const CAUSES: Record<string, string> = {
  VersionError: 'A newer Photofinish wrote it: update the extension.',
  QuotaExceededError: 'The disk is full: free some space on it.',
};
const ANY_CAUSE = 'Restart the browser; if that does not help, remove the extension and load it again.';

/** What failed and what to do, for any error that the ledger rejects with. */
export function troubleWords(error: unknown): string {
  const name = error instanceof Error || error instanceof DOMException ? error.name : 'Error';
  return `The browser's storage for Photofinish fails (${name}), so nothing is being recorded. ${CAUSES[name] ?? ANY_CAUSE}`;
}
