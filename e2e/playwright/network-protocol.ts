// What Playwright's `response.httpVersion()` is evidence of. For a response from a cache, and for a stored one that the
// server confirmed, browsers repeat the protocol of the response that was stored; where Playwright knows no version, it
// says HTTP/1.1. Pure: the facts of one response go in.
import {
  type Delivery,
  type KnownProtocol,
  type Protocol,
  protocolFromAlpn,
} from '@photofinish/shared/web/protocol';

export interface ResponseFacts {
  readonly browserName: string;
  /** As `httpVersion` returns it. */
  readonly httpVersion: string;
  readonly status: number;
  readonly fromServiceWorker: boolean;
  /** A redirect that the browser followed. */
  readonly redirects: boolean;
  /** The names of the request's fields, in lower case. */
  readonly requestFields: readonly string[];
  /** Head and content, as `request.sizes()` returns them. */
  readonly responseBytes: number;
  /** `requestStart` of `request.timing()`: negative if it does not apply. */
  readonly requestStartMs: number;
}

export interface SeenResponse {
  /** Null: Playwright does not tell. */
  readonly delivery: Extract<Delivery, 'network' | 'http-cache' | 'service-worker'> | null;
  readonly protocol: Protocol;
}

const CONDITIONS: readonly string[] = ['if-none-match', 'if-modified-since', 'if-range'];

/** The protocol that `httpVersion` names: by ALPN name, or as in the start line of HTTP/1.1. */
function named(httpVersion: string): KnownProtocol | null {
  return httpVersion === 'HTTP/2.0' ? 'h2' : protocolFromAlpn(httpVersion);
}

/** A stored response that the server confirmed (RFC 9110 section 13.1) is shown with its old status and protocol. */
function maybeConfirmed({ status, requestFields }: ResponseFacts): boolean {
  return status !== 304 && requestFields.some((name) => CONDITIONS.includes(name));
}

function deliveryOf({
  browserName,
  fromServiceWorker,
  redirects,
  responseBytes,
  requestStartMs,
}: ResponseFacts): SeenResponse['delivery'] {
  if (fromServiceWorker) return 'service-worker';
  // Only Chromium gives timings to cached responses, and only the others give no size to responses that have one.
  if (browserName !== 'chromium') return requestStartMs < 0 ? 'http-cache' : 'network';
  if (redirects) return null;
  return responseBytes <= 0 ? 'http-cache' : 'network';
}

/** What is known about one response. */
export function seenResponse(facts: ResponseFacts): SeenResponse {
  const delivery = deliveryOf(facts);
  if (delivery !== 'network' || maybeConfirmed(facts)) return { delivery, protocol: 'unknown' };
  return { delivery, protocol: named(facts.httpVersion) ?? 'unknown' };
}
