// The types of find-browser.mjs, for the TypeScript that imports it.
export type BrowserKind = 'chromium' | 'firefox';

export const BROWSERS: Readonly<
  Record<
    BrowserKind,
    { readonly variable: string; readonly names: readonly string[]; readonly elsewhere: string }
  >
>;

/** The executable of this name, null when the path has none. */
export function onPath(name: string): string | null;

/** The browser that its variable names, else the one on the path; null when there is none. */
export function findBrowser(kind: BrowserKind): string | null;
