// Why each permission in the manifest is there, in words, and the access to sites that a user may have withheld. A
// permission without words cannot be added: a test compares.

import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { byId, make, setText } from '../ui/elements.ts';

/** By the names that manifests use; whatever is a pattern of addresses is access to sites. */
export const PERMISSION_WORDS: Readonly<Record<string, MessageKey>> = {
  'https://*/*': 'welcomePermissionSites',
  alarms: 'welcomePermissionAlarms',
  declarativeNetRequest: 'welcomePermissionSteer',
  declarativeNetRequestWithHostAccess: 'welcomePermissionSteer',
  nativeMessaging: 'welcomePermissionHelper',
  proxy: 'welcomePermissionProxy',
  storage: 'welcomePermissionStorage',
  unlimitedStorage: 'welcomePermissionUnlimited',
  webNavigation: 'welcomePermissionNavigation',
  webRequest: 'welcomePermissionRequest',
};

/** Lists the permissions of this edition's manifest with their reasons. */
export function listPermissions(list: HTMLElement): void {
  const { permissions = [], host_permissions: sites = [] } = chrome.runtime.getManifest();
  list.replaceChildren(
    ...[...sites, ...permissions].flatMap((name) => {
      const words = PERMISSION_WORDS[name];
      if (words === undefined) return [];
      const term = make('dt');
      const code = make('bdi', '', name);
      code.dir = 'ltr';
      term.append(code);
      return [term, make('dd', '', getMessage(words))];
    }),
  );
}

// Access to sites. Both browsers let the user take it away, and Firefox may install without it: then nothing can be
// recorded, and the button asks for it.

function sitesWanted(): chrome.permissions.Permissions {
  return { origins: [...(chrome.runtime.getManifest().host_permissions ?? [])] };
}

async function show(): Promise<void> {
  byId('access').hidden = await chrome.permissions.contains(sitesWanted());
}

/** Shows the request while access is missing, and only then. */
export function wireAccess(): void {
  byId('access-ask').addEventListener('click', async () => {
    const given = await chrome.permissions.request(sitesWanted());
    setText(byId('access-refused'), given ? '' : getMessage('welcomeAccessRefused'));
  });
  chrome.permissions.onAdded.addListener(() => void show());
  chrome.permissions.onRemoved.addListener(() => void show());
  void show();
}
