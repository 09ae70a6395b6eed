// What the browser lets its user decide about this extension, as background and pages use it: to see every request
// (Chromium), to contact the helper (Firefox), and the proxy setting that races depend on.

import * as v from 'valibot';
import { BROWSER } from './edition.ts';

// Chromium's optional permission to see every request. Holding it is not enough: the browser reports nothing until it is
// started again, and only an event proves that it does (`observe/light-mode.ts`).

export const EVERY_REQUEST: chrome.permissions.Permissions = { permissions: ['webRequest'] };

/** Set in `storage.session` once an event has arrived since the browser started or the extension was loaded. */
export const FULL_MODE_KEY = 'witnessed';

/** Whether these are permissions with that to see every request among them. */
export function seesRequests({ permissions }: chrome.permissions.Permissions): boolean {
  return permissions?.includes('webRequest') === true;
}

/** Whether this edition leaves it to the user. */
export function isEveryRequestOptional(): boolean {
  return chrome.runtime.getManifest().optional_permissions?.includes('webRequest') === true;
}

/** Access to every site. Both browsers let the user revoke it, and Firefox may install without it. */
export const EVERY_SITE: chrome.permissions.Permissions = { origins: ['https://*/*'] };

// Whether the extension may contact the helper at all. Firefox treats that as transmitting browsing activity and leaves
// the choice to the user (`data_collection_permissions`); Chromium has no such consent, so the answer there is yes.

// Only Firefox knows this key.
const BROWSING_ACTIVITY = { data_collection: ['browsingActivity'] } as chrome.permissions.Permissions;

/** Whether the user has agreed to the helper. */
export async function hasHelperConsent(): Promise<boolean> {
  return BROWSER === 'chromium' || (await chrome.permissions.contains(BROWSING_ACTIVITY));
}

/**
 * Asks the user, and returns the answer. Must be called synchronously in a click handler, or the browser rejects it.
 */
export async function askHelperConsent(): Promise<boolean> {
  return BROWSER === 'chromium' || (await chrome.permissions.request(BROWSING_ACTIVITY));
}

/** Calls `listen` after the user may have changed the answer, including in the browser's own settings. */
export function onHelperConsent(listen: () => void): void {
  if (BROWSER === 'chromium') return;
  chrome.permissions.onAdded.addListener(listen);
  chrome.permissions.onRemoved.addListener(listen);
}

// The browser's proxy setting. Races bypass any proxy, so races that nobody clicked for require that there is none.
// Firefox reports it per request (`proxyInfo`); Chromium only as a setting, through the `proxy` permission, which it
// does not accept as an optional one (measured on 156) and which adds no warning to our others.

/** Chromium's `chrome.proxy.Mode`. `system` uses the operating system's setting, which extensions cannot read. */
export const PROXY_MODES = ['direct', 'system', 'auto_detect', 'pac_script', 'fixed_servers'] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];

const valueSchema = v.object({ mode: v.picklist(PROXY_MODES) });

/** The browser's proxy setting; null if it is reported with each request instead, as in Firefox. */
export async function proxyMode(): Promise<ProxyMode | null> {
  if (chrome.proxy === undefined) return null;
  const { value } = await chrome.proxy.settings.get({});
  const setting = v.safeParse(valueSchema, value);
  // A mode introduced by a newer browser is not known to be direct.
  return setting.success ? setting.output.mode : 'system';
}

/**
 * Whether requests go through a proxy by this setting; null: it does not say, because the operating system, a script or
 * the network decides, because the rules for fixed proxies may leave out hosts and schemes, or because the browser reports
 * it with each request.
 */
export function proxiedBy(mode: ProxyMode | null): false | null {
  return mode === 'direct' ? false : null;
}

/** Calls `listen` with the mode after each change of the setting. */
export function onProxyMode(listen: (mode: ProxyMode | null) => void): void {
  chrome.proxy?.settings.onChange.addListener(() => void proxyMode().then(listen));
}
