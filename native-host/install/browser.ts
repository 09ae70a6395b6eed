// A browser that can start the helper, as every room of the installation sees it: its names, its places, its ids.
import { CHROMIUM_EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import type { Platform } from './machine.ts';

export const BROWSER_NAMES = ['chromium', 'chrome', 'edge', 'brave', 'firefox'] as const;
export type BrowserName = (typeof BROWSER_NAMES)[number];
export type BrowserFamily = 'chromium' | 'firefox';

/** The names people know. */
export const TITLES: Record<BrowserName, string> = {
  chromium: 'Chromium',
  chrome: 'Google Chrome',
  edge: 'Microsoft Edge',
  brave: 'Brave',
  firefox: 'Firefox',
};

/** The user's directories. */
export interface UserDirectories {
  readonly platform: Platform;
  readonly home: string;
  /** Below which programs keep their settings: `$XDG_CONFIG_HOME`, `~/Library/Application Support`, `%APPDATA%`. */
  readonly configHome: string;
  /** Below which they keep what they make: `$XDG_DATA_HOME`, `~/Library/Application Support`, `%LOCALAPPDATA%`. */
  readonly dataHome: string;
  /** The directories of `PATH`, relative ones left out. */
  readonly searchPath: readonly string[];
}

export interface Browser {
  readonly name: BrowserName;
  readonly title: string;
  readonly family: BrowserFamily;
  /** One of these exists once the browser has run for this user. */
  readonly profileDirectories: readonly string[];
  /** Its programs: a name is looked for on the `PATH`, a path stands for itself. */
  readonly programs: readonly string[];
  /** The native messaging manifest that is for this browser. */
  readonly manifest: string;
  /** The registry key that names the manifest; null where the browser finds it by its place. */
  readonly registryKey: string | null;
  /** Profiles of packages whose sandbox keeps them from starting programs outside. */
  readonly sandboxes: readonly Sandbox[];
}

export interface Sandbox {
  readonly kind: 'Snap' | 'Flatpak';
  /** Where the package keeps this user's data. */
  readonly directory: string;
  /** What the shell starts it by. Distributions put a script of the browser's own name before it. */
  readonly program: string;
}

/** Chromium's spelling of an id: 128 bits, each hex digit written as a letter from a to p. */
export function isChromiumExtensionId(text: string): boolean {
  return /^[a-p]{32}$/.test(text);
}

/**
 * The ids whose extensions may start the helper: the one that our own key gives, and others of the same extension, for
 * a store gives its edition another one. Firefox's is written in the extension's manifest and is the same everywhere.
 */
export function allowedExtensions(family: BrowserFamily, others: readonly string[]): readonly string[] {
  return family === 'chromium' ? [...new Set([CHROMIUM_EXTENSION_ID, ...others])] : [FIREFOX_EXTENSION_ID];
}
