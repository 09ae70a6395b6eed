// The script with the background's public-suffix list; `public-suffixes.ts` says why it is one of its own.
import { getDomain, parse } from 'tldts';

Object.assign(globalThis, { publicSuffixList: { getDomain, parse } });
