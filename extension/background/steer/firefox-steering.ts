// Steering in Firefox: on its real WebExtensions APIs, and on the answers that it reports. Chromium supports none of it.

import { originOfUrl } from '@photofinish/shared/web/origin';
import type { EndedRequest } from '../observe/requests.ts';
import { isLikeOurs } from './rule.ts';
import { openSteering, type SteerDeps, type Steering } from './steering.ts';
import type { SteeredAnswer } from './steering-state.ts';

export const STEER_ALARM = 'steering';
/** Rules outlive the background, so an alarm removes those that have expired. */
const LOOK_MINUTES = 5;

async function keepAlarm(steering: boolean): Promise<void> {
  if (!steering) await chrome.alarms.clear(STEER_ALARM);
  else if ((await chrome.alarms.get(STEER_ALARM)) === undefined)
    await chrome.alarms.create(STEER_ALARM, { periodInMinutes: LOOK_MINUTES });
}

/** Rejects when the store or rules fail. */
export async function openBrowserSteering({
  onChange,
  ...deps
}: Pick<SteerDeps, 'advertised' | 'nowMs' | 'onChange' | 'store'>): Promise<Steering> {
  return openSteering({
    ...deps,
    rules: {
      getDynamicRules: () => chrome.declarativeNetRequest.getDynamicRules(),
      updateDynamicRules: (change) =>
        chrome.declarativeNetRequest.updateDynamicRules(
          change as unknown as chrome.declarativeNetRequest.UpdateRuleOptions,
        ),
    },
    onChange(steering) {
      keepAlarm(steering).catch(console.error);
      onChange(steering);
    },
  });
}

// Answers of a steered browser as their servers sent them: the header that steering set does not come from the server,
// so only steering itself may see it. Pure.

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
