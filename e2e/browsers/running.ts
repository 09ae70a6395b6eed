// What every browser is to those who open it, whichever it is and whoever drives it.
import type { Tab } from './tab.ts';

/** A request as the browser was about to make it. */
export interface SeenRequest {
  readonly url: string;
  /** Whether the extension made it: a page of its own, its background. */
  readonly byExtension: boolean;
}

/** What a browser must know of local origins; whatever `startOrigins` gives fits. */
export interface LocalOrigins {
  readonly origins: Readonly<Record<string, { readonly host: string; readonly address?: string }>>;
  /** Digests of the public keys in use, by which Chromium trusts them. */
  readonly spki: readonly string[];
  /** The authority that signed them, by which Firefox trusts them. */
  readonly caPath: string;
  /** Where they all are; loopback unless said. */
  readonly address?: string;
}

/**
 * The proxy that a browser is set to use: none at all, or the HTTP proxy on this port of loopback. Unless one is said, it
 * follows the computer's own setting.
 */
export type ProxyChoice = 'none' | number;

/** The extension, put into a browser that runs and taken out of it again, by the browser's own means. */
export interface Installer {
  /** As a user installs it: it knows nothing, is allowed nothing that was not granted before, and greets. */
  install(): Promise<void>;
  /** Closes every tab and window, but for one empty tab, and uninstalls the extension with all that it has stored. */
  uninstall(): Promise<void>;
}

export interface RunningBrowser {
  readonly version: string;
  /** Null where the extension was there from the start. */
  readonly installer: Installer | null;
  newTab(): Promise<Tab>;
  /** A tab of a container, which keeps an identity of its own; null where the browser has none. */
  readonly newContainerTab: (() => Promise<Tab>) | null;
  /** The address of a page of the extension: `popup/popup.html`. */
  extensionUrl(page: string): string;
  /** Every request to a host since the browser started or the extension was last installed, as far as the browser tells of it. */
  requests(): Promise<readonly SeenRequest[]>;
  /** Ends the extension's background at once, as the browser does when it is idle or the memory is needed. */
  stopBackground(): Promise<void>;
  /** Lets the extension into private windows, as the user does in the browser's own pages. It starts anew for that. */
  allowPrivateWindows(): Promise<void>;
  /** Resolves when the browser has gone, whoever ended it. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
  /** Ends the browser in the middle of whatever it does, as a crash does. */
  kill(): Promise<void>;
  /** Ends the browser where nobody looks any more at what it would store at its end. */
  abandon(): Promise<void>;
}
