// Determines by the browser's arguments who started the helper. The manifest already restricts it to one extension;
// this prevents other callers from using the helper as an ordinary program.
import { CHROMIUM_CALLER, FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';

/** Splits `[--config FILE] -- BROWSER...`, the launcher's command line. */
export function helperArguments(argv: readonly string[]) {
  const at = argv.indexOf('--');
  const own = at === -1 ? [] : argv.slice(0, at);
  return { config: own[0] === '--config' ? (own[1] ?? null) : null, browser: argv.slice(at + 1) };
}

/** The browser extension that talks to this helper. */
export interface Caller {
  readonly extension: string;
  /** The manifest by which the browser found the helper; null if it does not say. */
  readonly manifest: string | null;
}

/** Chromium passes the extension's origin first; Firefox the manifest's path and the add-on id. Null: nobody we know. */
export function callerOf([first = '', second]: readonly string[]): Caller | null {
  const chromium = CHROMIUM_CALLER.exec(first)?.[1];
  if (chromium !== undefined) return { extension: chromium, manifest: null };
  const isFirefox = first.endsWith('.json') && second === FIREFOX_EXTENSION_ID;
  return isFirefox ? { extension: second, manifest: first } : null;
}
