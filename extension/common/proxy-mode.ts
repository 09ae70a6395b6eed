// The browser's proxy setting. Races bypass any proxy, so races that nobody clicked for require that there is none.
// Firefox reports it per request (`proxyInfo`); Chromium only as a setting, through the `proxy` permission, which it
// does not accept as an optional one (measured on 156) and which adds no warning to our others.
import * as v from 'valibot';

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
 * Whether a setting leads every request through a proxy, or none; null: it does not say, because the operating system, a
 * script or the network decides, or because the browser reports it with each request.
 */
export function proxiedBy(mode: ProxyMode | null): boolean | null {
  if (mode === 'direct') return false;
  return mode === 'fixed_servers' ? true : null;
}

/** Calls `listen` with the mode after each change of the setting. */
export function onProxyMode(listen: (mode: ProxyMode | null) => void): void {
  chrome.proxy?.settings.onChange.addListener(() => void proxyMode().then(listen));
}
