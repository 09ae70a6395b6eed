// Why each permission in the manifest is there, in words. A permission without words cannot be added: a test compares.

import { say, type WordKey } from '../../common/words.ts';
import { make } from '../ui/elements.ts';

/** By the names that manifests use; whatever is a pattern of addresses is access to sites. */
export const PERMISSION_WORDS: Readonly<Record<string, WordKey>> = {
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
      return [term, make('dd', '', say(words))];
    }),
  );
}
