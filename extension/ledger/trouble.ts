// What a failing IndexedDB means for the user, in words: the browser's own errors name causes, not consequences.
import { say, type WordKey } from '../common/words.ts';

const REMEDIES: Record<string, WordKey> = {
  VersionError: 'popupStorageNewer',
  QuotaExceededError: 'popupStorageFull',
  // What Chromium says of a full disk, and of one that it cannot read.
  UnknownError: 'popupStorageMaybeFull',
};

/** What failed and what to do, for any error that the ledger rejects with. */
export function troubleWords(error: unknown): string {
  const name = error instanceof Error || error instanceof DOMException ? error.name : 'Error';
  return say('popupStorageFails', { name, remedy: say(REMEDIES[name] ?? 'popupStorageOther') });
}
