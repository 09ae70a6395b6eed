// Whether a server lets a page see the timings of its answer, and with them the protocol. Runs for every answer, so it
// does as little as possible.

const TIMING_ALLOW_ORIGIN = 'timing-allow-origin';

/** The initiator, and the path of the request. */
export interface TimingRequest {
  /** Origin of the initiator, as it is sent (`null` for an opaque one); null if the browser names none. */
  readonly by: string | null;
  /** Where the redirect chain began; `url` itself if there was none. */
  readonly firstUrl: string;
  readonly url: string;
}

const isAt = (url: string, origin: string): boolean => url.startsWith(`${origin}/`);

/** A request that a foreign server redirects to yet another server has an opaque origin (Fetch: redirect-tainted). */
function originSent({ by, firstUrl, url }: TimingRequest): string | null {
  if (by === null || firstUrl === url || isAt(firstUrl, by)) return by;
  return isAt(url, new URL(firstUrl).origin) ? by : 'null';
}

/**
 * The TAO check of the Fetch standard (section 4.10). Null when the browser reveals no header field at all: Chromium
 * strips all of them from an opaque answer that it cut off.
 */
export function timingAllowed(
  headers: chrome.webRequest.HttpHeader[] | undefined,
  asked: TimingRequest,
): boolean | null {
  if (headers === undefined || headers.length === 0) return null;
  const { by, firstUrl, url } = asked;
  // A chain that has left the initiator's origin and returns to it still needs permission.
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
