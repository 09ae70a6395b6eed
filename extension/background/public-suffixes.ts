// The background's public-suffix list: nearly half of its code, which a service worker would read and run at each of its
// starts, although most need no site. So it is a script of its own, imported when the first site is needed.
import type * as tldts from 'tldts';
import { trustedScript } from '../common/trusted-types.ts';

declare const importScripts: (url: string) => void;
declare const publicSuffixList: Pick<typeof tldts, 'getDomain' | 'parse'> | undefined;

function list() {
  if (typeof publicSuffixList === 'undefined')
    importScripts(trustedScript(chrome.runtime.getURL('public-suffix-list.js')));
  return publicSuffixList as NonNullable<typeof publicSuffixList>;
}

// A worker that runs may import only what it imported while it was being installed (Service Workers, section 6.3.2).
addEventListener('install', list);

export const getDomain: typeof tldts.getDomain = (...args) => list().getDomain(...args);
export const parse: typeof tldts.parse = (...args) => list().parse(...args);
