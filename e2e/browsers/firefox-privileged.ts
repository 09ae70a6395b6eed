// Firefox's chrome-privileged functions: scripts that run in the browser window, as in Mozilla's own tests. Needs
// `--remote-allow-system-access`.
import { basename } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { type Download, type Media, type SeenRequest, until } from './browser.ts';

/** The part of the connection that Puppeteer does not expose: raw BiDi commands. */
interface Connection {
  send(method: string, parameters: object): Promise<{ result: unknown }>;
}

interface ContextTree {
  readonly contexts: readonly { readonly context: string }[];
}

type ScriptResult =
  | { readonly type: 'success'; readonly result: { readonly value?: unknown } }
  | { readonly type: 'exception'; readonly exceptionDetails: { readonly text: string } };

interface ContentExpression {
  readonly context: string;
  /** The host of the add-on's pages. */
  readonly host: string;
  /** Default: the tab's top-level page. */
  readonly frameUrl?: string | undefined;
  readonly expression: string;
}

/** The document in a browsing context, and its process. */
interface ShownWindow {
  readonly innerWindowId: number;
  readonly documentURI: { readonly spec: string };
  readonly domProcess: {
    getActor(name: 'ExtensionContent'): { sendQuery(message: 'Execute', query: object): Promise<unknown[]> };
  };
}

interface AddOn {
  reload(): Promise<void>;
  uninstall(): Promise<void>;
}

interface FirefoxDownload {
  readonly succeeded: boolean;
  readonly target: { readonly path: string };
}

// Firefox-internal interfaces, as far as they are used here; no types are published for them.
declare const ChromeUtils: {
  importESModule(url: string): {
    require(module: 'devtools/client/framework/devtools'): {
      readonly gDevTools: { showToolboxForTab(tab: unknown, options: { toolId: string }): Promise<unknown> };
    };
    readonly AddonManager: {
      getAddonByID(id: string): Promise<AddOn>;
      getInstallForFile(file: unknown): Promise<{ install(): Promise<unknown> }>;
    };
    readonly ExtensionPermissions: {
      add(id: string, granted: { permissions: string[]; origins: string[] }): Promise<void>;
    };
    readonly ExtensionParent: {
      readonly apiManager: { readonly global: { readonly tabTracker: { getId(tab: unknown): number } } };
    };
    readonly Downloads: {
      readonly ALL: string;
      getList(which: string): Promise<{ getAll(): Promise<FirefoxDownload[]> }>;
    };
  };
};
/** Defined for every script that runs in the browser window. */
declare function browsingContext(id: string): {
  prefersColorSchemeOverride: string;
  readonly currentWindowGlobal: ShownWindow;
  getAllBrowsingContextsInSubtree(): { readonly currentWindowGlobal: ShownWindow | null }[];
  /** The browser element that embeds it. */
  readonly embedderElement: {
    readonly ownerDocument: { readonly defaultView: { readonly gBrowser: TabBrowser } };
  };
};
interface TabBrowser {
  selectedTab: unknown;
  getTabForBrowser(browser: unknown): unknown;
  addTrustedTab(url: string): unknown;
  removeAllTabsBut(tab: unknown, options: { animate: boolean; skipWarnAboutClosingTabs: boolean }): void;
}
declare const gBrowser: TabBrowser;
declare const Cc: {
  readonly '@mozilla.org/file/local;1': {
    createInstance(type: unknown): { initWithPath(path: string): void };
  };
  readonly '@mozilla.org/security/x509certdb;1': {
    getService(type: unknown): { addCertFromBase64(base64: string, trust: string): void };
  };
  readonly '@mozilla.org/network/native-dns-override;1': {
    getService(type: unknown): { addIPOverride(host: string, address: string): void };
  };
  readonly '@mozilla.org/network/dashboard;1': {
    getService(type: unknown): {
      requestHttpConnections(tell: (all: { readonly connections: readonly PoolEntry[] }) => void): void;
    };
  };
};
declare const Ci: {
  readonly nsIDashboard: unknown;
  readonly nsIFile: unknown;
  readonly nsIHttpChannel: unknown;
  readonly nsINativeDNSResolverOverride: unknown;
  readonly nsIX509CertDB: unknown;
};
declare const Services: {
  readonly wm: { getEnumerator(type: string): Iterable<Window> };
  readonly obs: {
    addObserver(observer: { observe(subject: HttpChannel): void }, topic: string): void;
    notifyObservers(subject: null, topic: string): void;
  };
};
declare const WebExtensionPolicy: {
  getByHostname(host: string): { readonly id: string };
  getByID(id: string): {
    readonly mozExtensionHostname: string;
    readonly extension: { terminateBackground(options: object): Promise<void> };
  } | null;
};
/** A connection entry as about:networking shows it. */
interface PoolEntry {
  readonly active: readonly unknown[];
  readonly idle: readonly unknown[];
}
interface HttpChannel {
  QueryInterface(type: unknown): HttpChannel;
  readonly URI: { readonly spec: string };
  readonly loadInfo: { readonly triggeringPrincipal: { readonly addonPolicy: object | null } };
}
declare global {
  interface Window {
    /** Only in the browser window. */
    seenRequests?: SeenRequest[];
  }
}

const DOWNLOAD_TIMEOUT_MS = 45_000;
const INSTALL_TIMEOUT_MS = 45_000;
const CLOSE_TIMEOUT_MS = 20_000;

/** Runs a self-contained function in the browser window; argument and result are passed as JSON. */
type Run = <Result, Argument = null>(
  script: (argument: Argument) => Result | Promise<Result>,
  argument?: Argument,
) => Promise<Result>;

const MODULE = 'chrome://remote/content/shared/NavigableManager.sys.mjs';
const BROWSING_CONTEXT = `ChromeUtils.importESModule('${MODULE}').NavigableManager.getBrowsingContextById(id)`;

function runIn(connection: Connection, context: string): Run {
  return async (script, argument) => {
    const answer = await connection.send('script.callFunction', {
      functionDeclaration: `async (json) => {
        const browsingContext = (id) => ${BROWSING_CONTEXT};
        return JSON.stringify(await (${script})(JSON.parse(json))) ?? 'null';
      }`,
      arguments: [{ type: 'string', value: JSON.stringify(argument ?? null) }],
      target: { context },
      awaitPromise: true,
    });
    const outcome = answer.result as ScriptResult;
    if (outcome.type === 'exception') throw new Error(outcome.exceptionDetails.text);
    return JSON.parse(String(outcome.result.value));
  };
}

/** Runs in the browser window: records every request from now on. */
function watchRequests(): void {
  const seen: SeenRequest[] = [];
  window.seenRequests = seen;
  const observe = (subject: HttpChannel) => {
    const { URI, loadInfo } = subject.QueryInterface(Ci.nsIHttpChannel);
    seen.push({ url: URI.spec, byExtension: loadInfo.triggeringPrincipal.addonPolicy !== null });
  };
  Services.obs.addObserver({ observe }, 'http-on-opening-request');
}

/** Runs in the browser window: the files of finished downloads, in starting order. */
async function downloadedFiles(): Promise<(string | null)[]> {
  const { Downloads } = ChromeUtils.importESModule('resource://gre/modules/Downloads.sys.mjs');
  const all = await (await Downloads.getList(Downloads.ALL)).getAll();
  return all.map(({ succeeded, target }) => (succeeded ? target.path : null));
}

/** Runs in the browser window. */
function openConnections(): Promise<number> {
  const dashboard = Cc['@mozilla.org/network/dashboard;1'].getService(Ci.nsIDashboard);
  return new Promise((resolve) => {
    dashboard.requestHttpConnections(({ connections }) => {
      resolve(connections.reduce((sum, { active, idle }) => sum + active.length + idle.length, 0));
    });
  });
}

/** A browsing context in the browser window. */
export class PrivilegedContext {
  readonly #connection: Connection;
  readonly #run: Run;

  private constructor(connection: Connection, run: Run) {
    this.#connection = connection;
    this.#run = run;
  }

  /** `observesRequests`: whether `requests` is available. */
  static async open(browser: Browser, observesRequests: boolean): Promise<PrivilegedContext> {
    const { connection } = browser as unknown as { readonly connection: Connection };
    const tree = await connection.send('browsingContext.getTree', { 'moz:scope': 'chrome' });
    const [own] = (tree.result as ContextTree).contexts;
    if (own === undefined) throw new Error('Firefox shows no window of its own');
    const run = runIn(connection, own.context);
    if (observesRequests) await run(watchRequests);
    return new PrivilegedContext(connection, run);
  }

  /** BiDi's id of a tab. */
  contextOf(page: Page): string {
    return (page.mainFrame() as unknown as { readonly _id: string })._id;
  }

  /** Navigates a tab without waiting for the navigation to finish. */
  async navigate(context: string, url: string): Promise<void> {
    await this.#connection.send('browsingContext.navigate', { context, url, wait: 'none' });
  }

  emulateMedia(context: string, { colorScheme }: Media): Promise<void> {
    return this.#run(
      ([id, scheme]) => {
        browsingContext(id).prefersColorSchemeOverride = scheme;
      },
      [context, colorScheme] as const,
    );
  }

  openDeveloperTools(context: string): Promise<void> {
    return this.#run(async (id) => {
      const loader = 'resource://devtools/shared/loader/Loader.sys.mjs';
      const { gDevTools } = ChromeUtils.importESModule(loader).require('devtools/client/framework/devtools');
      const tab = gBrowser.getTabForBrowser(browsingContext(id).embedderElement);
      await gDevTools.showToolboxForTab(tab, { toolId: 'netmonitor' });
    }, context);
  }

  /** Evaluates an expression in an add-on's content script context; see `InContentScript`. */
  inContentScript({ context, host, frameUrl, expression }: ContentExpression): Promise<unknown> {
    return this.#run(
      async ([id, ownHost, frame, code]) => {
        const top = browsingContext(id);
        const shown = frame === null ? [top] : top.getAllBrowsingContextsInSubtree();
        const found = shown
          .map(({ currentWindowGlobal }) => currentWindowGlobal)
          .find((each) => frame === null || each?.documentURI.spec === frame);
        if (!found) throw new Error(`no frame shows ${frame}`);
        // As `tabs.executeScript` does, which needs a permission that the add-on lacks.
        const options = {
          extensionId: WebExtensionPolicy.getByHostname(ownHost).id,
          matches: ['https://*/*'],
          jsExecuteScriptSources: [{ code }],
          cssPaths: [],
          runAt: 'document_start',
          cssOrigin: 'author',
          hasActiveTabPermission: false,
          wantReturnValue: true,
        };
        const windows = [found.innerWindowId];
        const query = found.domProcess
          .getActor('ExtensionContent')
          .sendQuery('Execute', { windows, options });
        const [result] = await query.catch(({ message }) => {
          throw new Error(message);
        });
        return result;
      },
      [context, host, frameUrl ?? null, expression] as const,
    );
  }

  /** The WebExtension id of a tab. */
  tabIdOf(context: string): Promise<number> {
    return this.#run((id) => {
      const { ExtensionParent } = ChromeUtils.importESModule(
        'resource://gre/modules/ExtensionParent.sys.mjs',
      );
      const { embedderElement } = browsingContext(id);
      const { gBrowser } = embedderElement.ownerDocument.defaultView;
      const { tabTracker } = ExtensionParent.apiManager.global;
      return tabTracker.getId(gBrowser.getTabForBrowser(embedderElement));
    }, context);
  }

  /** Trusts a certificate authority, given in PEM, for websites. */
  trust(pem: string): Promise<void> {
    return this.#run(
      (base64) => {
        const certificates = Cc['@mozilla.org/security/x509certdb;1'].getService(Ci.nsIX509CertDB);
        // Trust flags in certutil's notation: an authority for websites.
        certificates.addCertFromBase64(base64, 'C,,');
      },
      pem.replace(/-----[^-]+-----|\s/g, ''),
    );
  }

  /** Overrides DNS: the host resolves to this address from now on. */
  resolve(host: string, address: string): Promise<void> {
    return this.#run(
      ([name, at]) => {
        const overrides = Cc['@mozilla.org/network/native-dns-override;1'];
        overrides.getService(Ci.nsINativeDNSResolverOverride).addIPOverride(name, at);
      },
      [host, address] as const,
    );
  }

  /** Closes all HTTP connections; resolves when none is left. What was learnt from them, such as Alt-Svc, is kept. */
  async closeConnections(): Promise<void> {
    await this.#run(() => Services.obs.notifyObservers(null, 'net:cancel-all-connections'));
    if ((await until(async () => (await this.#run(openConnections)) === 0, CLOSE_TIMEOUT_MS)) === null)
      throw new Error(`Firefox did not close its connections within ${CLOSE_TIMEOUT_MS} ms`);
  }

  /**
   * Makes Firefox try HTTP/3 again with every host. Once a QUIC attempt to a host has failed, it tries none with that
   * host, on any port, until the network changes.
   */
  endHttp3Exclusions(): Promise<void> {
    return this.#run(() => Services.obs.notifyObservers(null, 'network:reset-http3-excluded-list'));
  }

  /** The number of downloads started. */
  async downloads(): Promise<number> {
    return (await this.#run(downloadedFiles)).length;
  }

  /** The first download after `count` others, once it has finished. */
  async downloadAfter(count: number): Promise<Download> {
    const file = await until(async () => (await this.#run(downloadedFiles))[count], DOWNLOAD_TIMEOUT_MS);
    if (file === null) throw new Error(`nothing was downloaded within ${DOWNLOAD_TIMEOUT_MS} ms`);
    return { file, name: basename(file) };
  }

  /** Terminates the add-on's background at once, as Firefox does when it is idle, even if it is busy. */
  stopBackground(addOn: string): Promise<void> {
    return this.#run(async (id) => {
      const options = { ignoreDevToolsAttached: true, disableResetIdleForTest: true };
      await WebExtensionPolicy.getByID(id)?.extension.terminateBackground(options);
    }, addOn);
  }

  /** Allows the add-on in private windows and restarts it, as about:addons does. */
  allowPrivateWindows(addOn: string): Promise<void> {
    return this.#run(async (id) => {
      const { importESModule } = ChromeUtils;
      const { ExtensionPermissions } = importESModule('resource://gre/modules/ExtensionPermissions.sys.mjs');
      const { AddonManager } = importESModule('resource://gre/modules/AddonManager.sys.mjs');
      const allowed = { permissions: ['internal:privateBrowsingAllowed'], origins: [] };
      await ExtensionPermissions.add(id, allowed);
      await (await AddonManager.getAddonByID(id)).reload();
    }, addOn);
  }

  /** Installs an add-on from its package. */
  install(file: string): Promise<void> {
    return this.#run(async (path) => {
      const { AddonManager } = ChromeUtils.importESModule('resource://gre/modules/AddonManager.sys.mjs');
      const place = Cc['@mozilla.org/file/local;1'].createInstance(Ci.nsIFile);
      place.initWithPath(path);
      await (await AddonManager.getInstallForFile(place)).install();
    }, file);
  }

  /** Uninstalls an add-on, with its storage and permissions. */
  uninstall(addOn: string): Promise<void> {
    return this.#run(async (id) => {
      const { AddonManager } = ChromeUtils.importESModule('resource://gre/modules/AddonManager.sys.mjs');
      await (await AddonManager.getAddonByID(id)).uninstall();
    }, addOn);
  }

  /** Closes all tabs and windows except for one empty tab. */
  closeTabs(): Promise<void> {
    return this.#run(() => {
      for (const other of Services.wm.getEnumerator('navigator:browser')) if (other !== window) other.close();
      const empty = gBrowser.addTrustedTab('about:blank');
      gBrowser.selectedTab = empty;
      gBrowser.removeAllTabsBut(empty, { animate: false, skipWarnAboutClosingTabs: true });
    });
  }

  /** The host of the add-on's pages in this profile, once it is installed. */
  async hostOf(addOn: string): Promise<string> {
    const host = () => this.#run((id) => WebExtensionPolicy.getByID(id)?.mozExtensionHostname, addOn);
    const found = await until(host, INSTALL_TIMEOUT_MS);
    if (found === null) throw new Error(`Firefox did not take ${addOn}`);
    return found;
  }

  /** Every HTTP request since this context was created, or since they were last cleared. */
  requests(): Promise<readonly SeenRequest[]> {
    return this.#run(() => window.seenRequests ?? []);
  }

  forgetRequests(): Promise<void> {
    return this.#run(() => {
      window.seenRequests?.splice(0);
    });
  }
}
