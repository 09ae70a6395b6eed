// Chromium's optional permission to see every request, as background and pages use it. Holding it is not enough: the
// browser reports nothing until it is started again, and only an event proves that it does (`observe/witness.ts`).

const PERMISSION: chrome.permissions.Permissions = { permissions: ['webRequest'] };

/** Set in `storage.session` once an event has arrived since the browser started or the extension was loaded. */
export const WITNESSED_KEY = 'witnessed';

/** Whether these are permissions with that to see every request among them. */
export function seesRequests({ permissions }: chrome.permissions.Permissions): boolean {
  return permissions?.includes('webRequest') === true;
}

/** Whether this edition leaves it to the user. */
export function isOptional(): boolean {
  return chrome.runtime.getManifest().optional_permissions?.includes('webRequest') === true;
}

export function isGranted(): Promise<boolean> {
  return chrome.permissions.contains(PERMISSION);
}

/** Must be called in the handler of a click. Chromium asks nothing more (measured on 156). */
export function grant(): Promise<boolean> {
  return chrome.permissions.request(PERMISSION);
}

export function giveUp(): Promise<boolean> {
  return chrome.permissions.remove(PERMISSION);
}
