// What the browser is told about proxies. Races go past any proxy, so those that nobody clicked for need to know that
// there is none. Firefox says it request by request (`proxyInfo`); Chromium only as a setting, by the `proxy`
// permission, which it does not take as an optional one (measured on 156) and which adds no warning to our others.
import * as v from 'valibot';

/** Chromium's `chrome.proxy.Mode`. `system` leaves it to the computer, which tells extensions nothing more. */
export const PROXY_MODES = ['direct', 'system', 'auto_detect', 'pac_script', 'fixed_servers'] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];

const valueSchema = v.object({ mode: v.picklist(PROXY_MODES) });

/** The browser's proxy setting; null where it is not a setting but told with each request, as in Firefox. */
export async function proxyMode(): Promise<ProxyMode | null> {
  if (chrome.proxy === undefined) return null;
  const { value } = await chrome.proxy.settings.get({});
  const setting = v.safeParse(valueSchema, value);
  // A mode from a newer browser is one more that is not known to be direct.
  return setting.success ? setting.output.mode : 'system';
}

/** Calls `listen` with the mode after each change of the setting. */
export function onProxyMode(listen: (mode: ProxyMode | null) => void): void {
  chrome.proxy?.settings.onChange.addListener(() => void proxyMode().then(listen));
}
