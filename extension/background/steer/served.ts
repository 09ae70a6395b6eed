// Answers of a steered browser as their servers sent them: the header that steering set does not come from the server,
// so only steering itself may see it. Pure.
import { originOfUrl } from '@photofinish/shared/web/origin';
import type { EndedRequest } from '../observe/requests.ts';
import { isLikeOurs } from './rule.ts';
import type { Steering } from './steering.ts';
import type { SteeredAnswer } from './steering-state.ts';

/** What steering learns from an answer; null: nothing, because it did not come over the network now. */
export function answerOf(request: EndedRequest): SteeredAnswer | null {
  const { url, altSvc, protocol, kind, hop, fromCache, atMs } = request;
  if (fromCache || protocol === null) return null;
  const origin = originOfUrl(url)?.origin;
  return origin === undefined
    ? null
    : { origin, h3: protocol === 'h3', document: kind === 'navigation' && !hop, altSvc, atMs };
}

/** The request without our own header; `steering` is null until its state is loaded. */
export function asServed(request: EndedRequest, steering: Pick<Steering, 'isOurs'> | null): EndedRequest {
  const { altSvc, fromCache, url } = request;
  if (altSvc === null) return request;
  // A stored answer repeats its original header, from a time when its origin may still have been steered.
  if (fromCache) return { ...request, altSvc: null };
  const origin = originOfUrl(url)?.origin;
  if (origin === undefined) return request;
  // Until the state is loaded, the header may be ours or the server's; ignoring one once does no harm.
  const own = steering === null ? isLikeOurs(origin, altSvc) : steering.isOurs(origin, altSvc);
  return own ? { ...request, altSvc: null } : request;
}
