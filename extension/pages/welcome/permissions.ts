// Why each permission in the manifest is needed, in words, and the access to sites that a user may have withheld. A
// permission without an explanation cannot be added: a test checks that.

import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { EVERY_SITE } from '../../common/permissions.ts';
import { byId, leftToRight, make, setText } from '../ui/elements.ts';

/** By the names used in manifests; every match pattern is access to sites. */
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

/** Lists the permissions of this edition's manifest with their reasons, those that it may request later as the last. */
export function listPermissions(list: HTMLElement): void {
  const manifest = chrome.runtime.getManifest();
  const { permissions = [], host_permissions: sites = [], optional_permissions: optional = [] } = manifest;
  list.replaceChildren(
    ...[...sites, ...permissions, ...optional].flatMap((name) => {
      const words = PERMISSION_WORDS[name];
      if (words === undefined) return [];
      return [make('dt', '', leftToRight(name)), make('dd', '', getMessage(words))];
    }),
  );
}

// Access to sites: without it nothing can be recorded, and the button requests it.

async function show(): Promise<void> {
  byId('access').hidden = await chrome.permissions.contains(EVERY_SITE);
}

/** Shows the request only while access is missing. */
export function wireAccess(): void {
  byId('access-ask').addEventListener('click', async () => {
    const given = await chrome.permissions.request(EVERY_SITE);
    setText(byId('access-refused'), given ? '' : getMessage('welcomeAccessRefused'));
  });
  chrome.permissions.onAdded.addListener(() => void show());
  chrome.permissions.onRemoved.addListener(() => void show());
  void show();
}
