// The developer tools' list of requests since the last navigation: the tools' page keeps it, so that a restarted
// background gets it again. Pure.
import { type HarEntry, type InspectedRequest, inspectedRequest } from '../../common/inspected-request.ts';
import { MAX_REQUESTS } from '../../common/messages.ts';

/** An accepted entry, with the target of its response. */
export interface LogEntry {
  readonly request: InspectedRequest;
  readonly url: string;
  readonly redirectUrl: string | null;
  /** Whether it may be the response of the page itself, as far as the browser reveals it. */
  readonly mayBeDocument: boolean;
}

/** Null for what is not kept: not https, or without a response. */
export function loggedEntry(entry: HarEntry): LogEntry | null {
  const request = inspectedRequest(entry);
  if (request === null) return null;
  const { url } = entry.request;
  const to = entry.response.redirectURL;
  const redirectUrl = to && URL.canParse(to, url) ? new URL(to, url).href : null;
  const type = entry._resourceType ?? 'document';
  return { request, url, redirectUrl, mayBeDocument: type === 'document' && redirectUrl === null };
}

const withoutFragment = (url: string): string => url.replace(/#.*/, '');

/** The redirects in the list that led to `url`, hop by hop. */
function hopsTo(url: string, list: readonly LogEntry[]): LogEntry[] {
  const hops: LogEntry[] = [];
  let wanted = withoutFragment(url);
  for (const logged of list.toReversed()) {
    if (logged.redirectUrl === null || withoutFragment(logged.redirectUrl) !== wanted) continue;
    hops.unshift(logged);
    wanted = withoutFragment(logged.url);
  }
  return hops;
}

/**
 * Keeps the list. Browsers report a navigation before or after the document's own response, and Firefox also after
 * those of what it loads. If reported after it, the list keeps everything since the document's request; if before, it
 * keeps the redirects that led to it, and the document is the next response of that address.
 */
export function createLog() {
  let list: readonly LogEntry[] = [];
  let awaited: string | null = null;
  /** When the document of the list was requested. */
  let documentStartMs = Number.NEGATIVE_INFINITY;

  const isOf = (address: string | null) => (each: LogEntry) =>
    each.mayBeDocument && withoutFragment(each.url) === address;

  return {
    get list() {
      return list;
    },
    add(logged: readonly LogEntry[]): void {
      list = [...list, ...logged].slice(-MAX_REQUESTS);
      const document = logged.find(isOf(awaited));
      if (document === undefined) return;
      awaited = null;
      documentStartMs = document.request.startMs;
    },
    /** Removes an entry again. */
    drop(logged: LogEntry): void {
      list = list.filter((each) => each !== logged);
    },
    /** The tab shows another document: what does not belong to it leaves the list. */
    navigated(url: string): void {
      const wanted = withoutFragment(url);
      // What led to the previous document, or is its response, may have the same address.
      const since = list.filter((each) => each.request.startMs > documentStartMs);
      const document = since.findLast(isOf(wanted));
      const hops = hopsTo(url, since);
      awaited = document === undefined ? wanted : null;
      const startMs = document?.request.startMs ?? Number.POSITIVE_INFINITY;
      if (document !== undefined) documentStartMs = startMs;
      list = list.filter((each) => hops.includes(each) || each.request.startMs >= startMs);
    },
  };
}

/** A name that identifies an entry when it is reported twice. */
export function entryName({ startedDateTime, request }: HarEntry): string {
  return `${new Date(startedDateTime).getTime()} ${request.method} ${request.url}`;
}
