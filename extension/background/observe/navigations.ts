// Navigations of both browsers in one shape: begun, committed to a document, failed. Firefox has had document ids since
// 153, the oldest version that the manifest allows; whatever else it lacks is derived here.
import { printable } from '@photofinish/shared/web/untrusted';
import { dropOldest } from '../../common/drop-oldest.ts';
import { BROWSER } from '../../common/edition.ts';

export interface CommittedDocument {
  readonly documentId: string;
  readonly tabId: number;
  readonly frameId: number;
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** The same when the navigation to it was begun, before any request; null: not seen. Only outermost pages have one. */
  readonly begunAtMs: number | null;
  /** Null: it is the tab's outermost page. */
  readonly parentDocumentId: string | null;
  readonly prerender: boolean;
  /** A page navigated there, for example by a clicked link; false: the user asked the browser for it. */
  readonly byPage: boolean;
}

/** A navigation that failed. */
export interface Failure {
  /** The document of the browser's error page; null if the browser does not name it. */
  readonly errorPage: string | null;
  /** The browser's own name for the error, such as `net::ERR_CONNECTION_REFUSED`; null if it gives none. */
  readonly error: string | null;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

export interface NavigationSink {
  /** A tab's outermost page is about to be requested over https. */
  begun(tabId: number, frameId: number, url: string): void;
  committed(document: CommittedDocument): void;
  /** A tab's navigation failed or was cancelled. */
  failed(tabId: number, frameId: number, failure: Failure): void;
  /** The browser unloaded a tab's page; in Chromium another tab, its successor, takes its place. */
  unloaded(tabId: number, successorId: number | null): void;
}

interface FrameDetails {
  readonly frameType?: string;
  readonly frameId: number;
}

/** Firefox commits an error page under the address that failed; once loaded it has one of these addresses. */
const ERROR_PAGE = /^about:(?:neterror|certerror|blocked|httpsonlyerror|tabcrashed|framecrashed)\b/;

/** Whether it is a tab's outermost page; Firefox, which does not prerender, has no frame types. */
function isOutermost({ frameType, frameId }: FrameDetails): boolean {
  return frameType === undefined ? frameId === 0 : frameType === 'outermost_frame';
}

/** Also what other programs and extensions open is called a link. */
const BY_PAGE = ['link', 'form_submit', 'auto_subframe', 'manual_subframe'];

function isByPage(details: chrome.webNavigation.WebNavigationTransitionCallbackDetails): boolean {
  const { transitionType, transitionQualifiers } = details;
  return BY_PAGE.includes(transitionType) || transitionQualifiers.includes('client_redirect');
}

/** Firefox only: other changes, such as titles, then do not wake the background. */
interface FilteredUpdates {
  addListener(
    listen: (tabId: number, change: chrome.tabs.OnUpdatedInfo) => void,
    filter: { readonly properties: readonly ['discarded'] },
  ): void;
}

/** Navigations under way that are remembered: those that never commit are not reported in every browser. */
const MAX_BEGUN = 200;

/** Starts listening; must be called synchronously when the background starts, or events are lost. */
export function observeNavigations(sink: NavigationSink): void {
  const { onBeforeNavigate, onCommitted, onErrorOccurred, onDOMContentLoaded } = chrome.webNavigation;
  const begun = new Map<string, number>();

  onBeforeNavigate.addListener(
    (details) => {
      if (!isOutermost(details)) return;
      const { tabId, frameId, url, timeStamp } = details;
      begun.set(`${tabId}:${frameId}`, timeStamp);
      dropOldest(begun, MAX_BEGUN);
      if (url.startsWith('https:')) sink.begun(tabId, frameId, url);
    },
    // A page over http may redirect to one over https.
    { url: [{ schemes: ['http', 'https'] }] },
  );

  onCommitted.addListener((details) => {
    const { documentId, tabId, frameId, url, timeStamp, documentLifecycle } = details;
    const parentDocumentId = isOutermost(details) ? null : details.parentDocumentId;
    if (parentDocumentId === undefined) return;
    const navigation = `${tabId}:${frameId}`;
    const begunAtMs = parentDocumentId === null ? (begun.get(navigation) ?? null) : null;
    begun.delete(navigation);
    const prerender = documentLifecycle === 'prerender';
    sink.committed({
      documentId,
      tabId,
      frameId,
      url,
      atMs: timeStamp,
      begunAtMs,
      parentDocumentId,
      prerender,
      byPage: isByPage(details),
    });
  });

  // Firefox also reports a navigation as failed when it continues it in another process.
  if (BROWSER === 'firefox') {
    onDOMContentLoaded.addListener(
      (details) => {
        if (isOutermost(details) && ERROR_PAGE.test(details.url))
          sink.failed(details.tabId, details.frameId, {
            errorPage: details.documentId,
            error: printable(new URL(details.url).searchParams.get('e') ?? '') || null,
            atMs: details.timeStamp,
          });
      },
      { url: [{ schemes: ['about'] }] },
    );
    (chrome.tabs.onUpdated as FilteredUpdates).addListener(
      (tabId, { discarded }) => {
        if (discarded === true) sink.unloaded(tabId, null);
      },
      { properties: ['discarded'] },
    );
  } else {
    chrome.tabs.onReplaced.addListener((successorId, tabId) => sink.unloaded(tabId, successorId));
    onErrorOccurred.addListener((details) => {
      if (isOutermost(details))
        sink.failed(details.tabId, details.frameId, {
          errorPage: null,
          error: details.error,
          atMs: details.timeStamp,
        });
    });
  }
}
