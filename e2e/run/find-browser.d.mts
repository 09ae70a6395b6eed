// Type declarations for find-browser.mjs.
export type BrowserKind = 'chromium' | 'firefox';

export const BROWSERS: Readonly<
  Record<
    BrowserKind,
    { readonly variable: string; readonly names: readonly string[]; readonly elsewhere: string }
  >
>;

/** The executable with this name; null if it is not on the path. */
export function onPath(name: string): string | null;

/** The browser named by its environment variable, otherwise the one on the path; null if there is none. */
export function findBrowser(kind: BrowserKind): string | null;

/** Paths of usrsctp's programs, and a message for their absence. */
export const USRSCTP: Readonly<Record<'client' | 'server' | 'missing', string>>;
