// The toolbar button of a tab: the mark, the badge text and the verdict as a tooltip. Text and shape both show it,
// because not everyone can see the colour.
import { type Protocol, protocolName } from '@photofinish/shared/web/protocol';
import { getMessage } from '../common/catalog.ts';

const MARKS: Record<Protocol, { readonly icon: string; readonly badge: string }> = {
  h3: { icon: 'h3', badge: 'H3' },
  h2: { icon: 'h2', badge: 'H2' },
  'http/1.1': { icon: 'h1', badge: 'H1' },
  'http/1.0': { icon: 'h1', badge: 'H1' },
  unknown: { icon: 'unknown', badge: '?' },
};

/** Shows a protocol on a tab's button, with the verdict as its tooltip. A tab that no longer exists is not an error. */
export async function setToolbar(tabId: number, protocol: Protocol, verdict: string | null): Promise<void> {
  const { icon, badge } = MARKS[protocol];
  const title = verdict ?? getMessage('popupToolbarProtocol', { protocol: protocolName(protocol) });
  const path = { 16: `/icons/${icon}-16.png`, 32: `/icons/${icon}-32.png` };
  await Promise.allSettled([
    chrome.action.setIcon({ tabId, path }),
    chrome.action.setBadgeText({ tabId, text: badge }),
    chrome.action.setTitle({ tabId, title }),
  ]);
}
