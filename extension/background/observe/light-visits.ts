// In light mode, the visits that first-visit races follow: no event reports a document's answer, but a page that came
// over the network reports that itself, and its commit said who navigated there.
import { dropOldest } from '../../common/drop-oldest.ts';
import type { DocumentVisit } from './details.ts';
import type { RecordedObservation } from './devtools-feed.ts';
import type { CommittedDocument } from './navigations.ts';

/** Pages that have been committed and may still report themselves. */
const MAX_PAGES = 500;

export interface LightVisits {
  committed(document: Pick<CommittedDocument, 'documentId' | 'parentDocumentId' | 'byPage'>): void;
  /** A tab's outermost page came over the network. */
  reported(navigation: Pick<RecordedObservation, 'tabId' | 'documentId' | 'url' | 'observation'>): void;
}

export function createLightVisits(onVisited: (visited: DocumentVisit) => void): LightVisits {
  const byPages = new Map<string, boolean>();
  return {
    committed({ documentId, parentDocumentId, byPage }) {
      if (parentDocumentId !== null) return;
      byPages.set(documentId, byPage);
      dropOldest(byPages, MAX_PAGES);
    },
    reported({ tabId, documentId, url, observation: { atMs } }) {
      // Without its commit it may have been navigated to by a page, which is raced more rarely.
      const byPage = documentId === null || byPages.get(documentId) !== false;
      onVisited({ tabId, url, atMs, byPage, privateWindow: null, container: false, proxied: null });
    },
  };
}
