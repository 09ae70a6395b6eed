// The developer tools' list of requests since the last navigation: the tools' page keeps it, so that a background that
// was ended meanwhile has it again. Pure.
import { type HarEntry, type InspectedRequest, inspectedRequest } from './har.ts';

/** More are not kept, here or anywhere after; the oldest give way. */
export const MAX_REQUESTS = 5000;

/** An entry that passed, with where its answer led. */
export interface LogEntry {
  readonly request: InspectedRequest;
  readonly url: string;
  readonly redirectUrl: string | null;
  /** Whether it may be the answer of the page itself, as far as the browser tells. */
  readonly mayBeDocument: boolean;
}

/** Null for what is not kept: no https, or no answer. */
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

/** The redirects in the list that led to `url`, each a step of the way. */
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

export interface Log {
  readonly list: readonly LogEntry[];
  add(logged: readonly LogEntry[]): void;
  /** Takes one out again. */
  drop(logged: LogEntry): void;
  /** The tab shows another document: what is not its own leaves the list. */
  navigated(url: string): void;
}

/**
 * Keeps the list. Browsers tell of a navigation before or after the document's own answer, and Firefox after those of
 * what it loads, too. Told after, the list keeps all since the document's request; told before, it keeps the redirects
 * that led to it, and the document is the next answer of that address.
 */
export function createLog(): Log {
  let list: readonly LogEntry[] = [];
  let awaited: string | null = null;
  /** When the document of the list was asked for. */
  let documentStartMs = Number.NEGATIVE_INFINITY;

  const isOf = (address: string | null) => (each: LogEntry) =>
    each.mayBeDocument && withoutFragment(each.url) === address;

  return {
    get list() {
      return list;
    },
    add(logged) {
      list = [...list, ...logged].slice(-MAX_REQUESTS);
      const document = logged.find(isOf(awaited));
      if (document === undefined) return;
      awaited = null;
      documentStartMs = document.request.startMs;
    },
    drop(logged) {
      list = list.filter((each) => each !== logged);
    },
    navigated(url) {
      const wanted = withoutFragment(url);
      // What led to the document before, or is its answer, may have the same address.
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

/** Names an entry well enough to know it again when it is told twice. */
export function entryName({ startedDateTime, request }: HarEntry): string {
  return `${new Date(startedDateTime).getTime()} ${request.method} ${request.url}`;
}
