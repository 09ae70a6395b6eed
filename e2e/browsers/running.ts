// The interface of a running browser, whichever browser and driver it is.
import type { Tab } from './tab.ts';

/** A request the browser was about to send. */
export interface SeenRequest {
  readonly url: string;
  /** Whether the extension made it, from one of its pages or its background. */
  readonly byExtension: boolean;
}

/** What a browser needs to know about local origins; the result of `startOrigins` fits. */
export interface LocalOrigins {
  readonly origins: Readonly<Record<string, { readonly host: string; readonly address?: string }>>;
  /** Digests of the public keys in use, by which Chromium trusts them. */
  readonly spki: readonly string[];
  /** The authority that signed them, by which Firefox trusts them. */
  readonly caPath: string;
  /** The address of all origins, or null to look their names up as usual; default: loopback. */
  readonly address?: string | null;
}

/**
 * The browser's proxy setting: none, or the HTTP proxy on this loopback port. If absent, it uses the system's setting.
 */
export type ProxyChoice = 'none' | number;

/** Installs the extension into the running browser and uninstalls it, using the browser's own functions. */
export interface Installer {
  /** As a user installs it: without data, without permissions not granted earlier, and with its welcome page. */
  install(): Promise<void>;
  /** Closes all tabs and windows except for one empty tab, and uninstalls the extension with all its data. */
  uninstall(): Promise<void>;
}

export interface RunningBrowser {
  readonly version: string;
  /** Null if the extension was installed from the start. */
  readonly installer: Installer | null;
  newTab(): Promise<Tab>;
  /** Opens a tab in a container; null if the browser has no containers. */
  readonly newContainerTab: (() => Promise<Tab>) | null;
  /** The URL of a page of the extension, such as `popup/popup.html`. */
  extensionUrl(page: string): string;
  /**
   * Every request to a host since the browser started or the extension was last installed, as far as the browser
   * reports it.
   */
  requests(): Promise<readonly SeenRequest[]>;
  /** Terminates the extension's background at once, as the browser does when it is idle or memory is short. */
  stopBackground(): Promise<void>;
  /** Allows the extension in private windows, as the user does in the browser's settings, which restarts it. */
  allowPrivateWindows(): Promise<void>;
  /** Resolves when the browser has exited, for whatever reason. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
  /** Kills the browser at any point, as a crash does. */
  kill(): Promise<void>;
  /** Ends the browser when nothing it saves on exit will be read. */
  abandon(): Promise<void>;
}
