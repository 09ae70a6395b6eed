// What a failing IndexedDB means for the user, in words: the browser's own errors name causes, not consequences.
import { getMessage, type MessageKey } from '../common/catalog.ts';

const REMEDIES: Record<string, MessageKey> = {
  VersionError: 'popupStorageNewer',
  QuotaExceededError: 'popupStorageFull',
  // Chromium's error for a full disk, and for one that it cannot read.
  UnknownError: 'popupStorageMaybeFull',
};

/** What failed and what to do, for any error that the ledger rejects with. */
export function troubleWords(error: unknown): string {
  const name = error instanceof Error || error instanceof DOMException ? error.name : 'Error';
  return getMessage('popupStorageFails', { name, remedy: getMessage(REMEDIES[name] ?? 'popupStorageOther') });
}
