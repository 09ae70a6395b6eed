// Who started the helper, by the arguments that browsers pass. The manifest already names the one extension that may;
// this keeps everything else from taking the helper for a program of its own.
import { FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';

export interface HelperArguments {
  /** The settings file the launcher names. */
  readonly config: string | undefined;
  /** What the browser passed. */
  readonly caller: readonly string[];
}

/** Splits `[--config FILE] -- BROWSER...`, which is how the launcher calls. */
export function helperArguments(argv: readonly string[]): HelperArguments {
  const at = argv.indexOf('--');
  const own = at === -1 ? [] : argv.slice(0, at);
  return {
    config: own[0] === '--config' ? own[1] : undefined,
    caller: argv.slice(at + 1),
  };
}

/** The browser's extension that talks to this helper. */
export interface Caller {
  readonly extension: string;
  /** The manifest that led the browser here; null where it does not say. */
  readonly manifest: string | null;
}

/** Who a known caller is, by what the browser passed. */
export function callerOf([first = '', second = '']: readonly string[]): Caller {
  const chromium = /^chrome-extension:\/\/([a-p]{32})\/$/.exec(first)?.[1];
  return chromium === undefined
    ? { extension: second, manifest: first }
    : { extension: chromium, manifest: null };
}

/** Chromium passes the extension's origin first; Firefox the manifest's path and the add-on id. */
export function isKnownCaller([first = '', second]: readonly string[]): boolean {
  if (/^chrome-extension:\/\/[a-p]{32}\/$/.test(first)) return true;
  return first.endsWith('.json') && second === FIREFOX_EXTENSION_ID;
}
