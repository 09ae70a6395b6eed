// Access to sites. Both browsers let the user take it away, and Firefox may install without it: then nothing can be
// recorded, and the button asks for it.

import { say } from '../../common/words.ts';
import { byId, setText } from '../ui/elements.ts';

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
    setText(byId('access-refused'), given ? '' : say('welcomeAccessRefused'));
  });
  chrome.permissions.onAdded.addListener(() => void show());
  chrome.permissions.onRemoved.addListener(() => void show());
  void show();
}
