// Whether a server lets a page see the timings of its answer, and with them the protocol. Asked of every answer, so it
// does the least possible.

const TIMING_ALLOW_ORIGIN = 'timing-allow-origin';

/** Who asked, and which way the request went. */
export interface TimingRequest {
  /** Origin of who asked, as it is sent (`null` for an opaque one); null when the browser names none. */
  readonly by: string | null;
  /** Where the redirect chain began; `url` itself when there was none. */
  readonly firstUrl: string;
  readonly url: string;
}

const isAt = (url: string, origin: string): boolean => url.startsWith(`${origin}/`);

/** Whoever is led from a foreign server to yet another is nobody's origin any more (Fetch: redirect-tainted). */
function originSent({ by, firstUrl, url }: TimingRequest): string | null {
  if (by === null || firstUrl === url || isAt(firstUrl, by)) return by;
  return isAt(url, new URL(firstUrl).origin) ? by : 'null';
}

/**
 * The TAO check of the Fetch standard (section 4.10). Null when the browser tells no header field at all: Chromium strips
 * an opaque answer that it cut off of all of them.
 */
export function timingAllowed(
  headers: chrome.webRequest.HttpHeader[] | undefined,
  asked: TimingRequest,
): boolean | null {
  if (headers === undefined || headers.length === 0) return null;
  const { by, firstUrl, url } = asked;
  // A chain that has left the asker's origin and comes back needs leave all the same.
  if (by !== null && isAt(url, by) && isAt(firstUrl, by)) return true;
  const fields = headers.filter(
    ({ name }) => name.length === TIMING_ALLOW_ORIGIN.length && name.toLowerCase() === TIMING_ALLOW_ORIGIN,
  );
  if (fields.length === 0) return false;
  const allowed = fields.flatMap(({ value = '' }) => value.split(',').map((each) => each.trim()));
  if (allowed.includes('*')) return true;
  const sent = originSent(asked);
  return sent !== null && allowed.includes(sent);
}
