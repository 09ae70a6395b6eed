// The extension's messages: the browser's own catalogs, in the language it chose. Everything under `extension/` gets
// its messages here. Imported first by every entry point; where there is no browser (unit tests), the test chooses its
// catalog with `testing/catalogs.ts`.
import {
  type KeysOf,
  messagesOf,
  type SharedMessageKey,
  useCatalog,
} from '@photofinish/shared/language/catalog';
import type { UnknownReason } from '@photofinish/shared/web/protocol';

type SharedCatalog = typeof import('@photofinish/shared/_locales/en/shared.json', { with: { type: 'json' }}) &
  typeof import('@photofinish/shared/_locales/en/codes.json', { with: { type: 'json' }});
type Catalogs = typeof import('../_locales/en/extension.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/helper.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/popup.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/dashboard.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/devtools.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/options.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/welcome.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/steer.json', { with: { type: 'json' }});

/** Every message key that the extension may use, shared ones included. */
export type MessageKey = KeysOf<SharedCatalog> | KeysOf<Catalogs>;

const known = new Map<string, string>();

/** Asks the browser once for each key: a call costs far more than a look-up, and the rows of a table share theirs. */
function lookUp(key: string): string {
  const message = known.get(key) ?? chrome.i18n.getMessage(key);
  // A verdict from a file may name any number of keys that no catalog has.
  if (message !== '') known.set(key, message);
  return message;
}

if (typeof chrome !== 'undefined' && chrome.i18n) useCatalog(lookUp, lookUp('language'));

/** A message in the browser's language. */
export const getMessage = messagesOf<MessageKey>();

/** Text ending in a full stop, whatever it ended in before. */
export function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

/** How a verdict itself says why a protocol is unknown. */
export const WHY_UNKNOWN: Record<UnknownReason, SharedMessageKey> = {
  'no-timing-allow-origin': 'pageNoTimingAllowOrigin',
  'service-worker': 'pageByServiceWorker',
  missed: 'pageMissed',
  revalidated: 'pageRevalidated',
  'not-exposed': 'pageNotExposed',
};
