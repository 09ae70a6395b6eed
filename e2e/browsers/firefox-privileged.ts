// What Firefox does for its own window and for no page: scripts that run in the window of the browser itself, as
// Mozilla's tests do it. Needs `--remote-allow-system-access`.
import { basename } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import type { SeenRequest } from './running.ts';
import { type Download, type Media, until } from './tab.ts';

/** The part of the connection that Puppeteer keeps to itself: plain BiDi commands. */
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
  /** Of the add-on's pages. */
  readonly host: string;
  /** The tab's own page unless said. */
  readonly frameUrl?: string | undefined;
  readonly expression: string;
}

/** What a browsing context shows, and the process that it is in. */
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

// Firefox's own interfaces, as far as they are used here; nobody publishes their types.
declare const ChromeUtils: {
  importESModule(url: string): {
    readonly NavigableManager: {
      getBrowsingContextById(id: string): {
        prefersColorSchemeOverride: string;
        readonly currentWindowGlobal: ShownWindow;
        getAllBrowsingContextsInSubtree(): { readonly currentWindowGlobal: ShownWindow | null }[];
        /** What shows it in a window of the browser's. */
        readonly embedderElement: {
          readonly ownerDocument: { readonly defaultView: { readonly gBrowser: TabBrowser } };
        };
      };
    };
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
/** What Firefox keeps for one way to one host, as about:networking shows it. */
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
    /** In the browser's own window only. */
    seenRequests?: SeenRequest[];
  }
}

const DOWNLOAD_TIMEOUT_MS = 45_000;
const INSTALL_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 5000;

/** Runs a self-contained function in the browser's own window; argument and result travel as JSON. */
type Run = <Result, Argument = null>(
  script: (argument: Argument) => Result | Promise<Result>,
  argument?: Argument,
) => Promise<Result>;

function runIn(connection: Connection, context: string): Run {
  return async (script, argument) => {
    const answer = await connection.send('script.callFunction', {
      functionDeclaration: `async (json) => JSON.stringify(await (${script})(JSON.parse(json))) ?? 'null'`,
      arguments: [{ type: 'string', value: JSON.stringify(argument ?? null) }],
      target: { context },
      awaitPromise: true,
    });
    const outcome = answer.result as ScriptResult;
    if (outcome.type === 'exception') throw new Error(outcome.exceptionDetails.text);
    return JSON.parse(String(outcome.result.value));
  };
}

/** In the browser's window: notes every request from now on. */
function watchRequests(): void {
  const seen: SeenRequest[] = [];
  window.seenRequests = seen;
  const observe = (subject: HttpChannel) => {
    const { URI, loadInfo } = subject.QueryInterface(Ci.nsIHttpChannel);
    seen.push({ url: URI.spec, byExtension: loadInfo.triggeringPrincipal.addonPolicy !== null });
  };
  Services.obs.addObserver({ observe }, 'http-on-opening-request');
}

/** In the browser's window: the files of the downloads that are whole, in the order they were started. */
async function downloadedFiles(): Promise<(string | null)[]> {
  const { Downloads } = ChromeUtils.importESModule('resource://gre/modules/Downloads.sys.mjs');
  const all = await (await Downloads.getList(Downloads.ALL)).getAll();
  return all.map(({ succeeded, target }) => (succeeded ? target.path : null));
}

/** In the browser's window. */
function openConnections(): Promise<number> {
  const dashboard = Cc['@mozilla.org/network/dashboard;1'].getService(Ci.nsIDashboard);
  return new Promise((resolve) => {
    dashboard.requestHttpConnections(({ connections }) => {
      resolve(connections.reduce((sum, { active, idle }) => sum + active.length + idle.length, 0));
    });
  });
}

/** A place in the browser's own window. */
export class PrivilegedContext {
  readonly #connection: Connection;
  readonly #run: ReturnType<typeof runIn>;

  private constructor(connection: Connection, run: ReturnType<typeof runIn>) {
    this.#connection = connection;
    this.#run = run;
  }

  static async open(browser: Browser): Promise<PrivilegedContext> {
    const { connection } = browser as unknown as { readonly connection: Connection };
    const tree = await connection.send('browsingContext.getTree', { 'moz:scope': 'chrome' });
    const [own] = (tree.result as ContextTree).contexts;
    if (own === undefined) throw new Error('Firefox shows no window of its own');
    const run = runIn(connection, own.context);
    await run(watchRequests);
    return new PrivilegedContext(connection, run);
  }

  /** The number that BiDi knows a tab by. */
  contextOf(page: Page): string {
    return (page.mainFrame() as unknown as { readonly _id: string })._id;
  }

  /** Sends a tab to an address without waiting for its arrival. */
  async navigate(context: string, url: string): Promise<void> {
    await this.#connection.send('browsingContext.navigate', { context, url, wait: 'none' });
  }

  emulateMedia(context: string, { colorScheme }: Media): Promise<void> {
    return this.#run(
      ([id, scheme]) => {
        const remote = 'chrome://remote/content/shared/NavigableManager.sys.mjs';
        const { NavigableManager } = ChromeUtils.importESModule(remote);
        NavigableManager.getBrowsingContextById(id).prefersColorSchemeOverride = scheme;
      },
      [context, colorScheme] as const,
    );
  }

  openDeveloperTools(context: string): Promise<void> {
    return this.#run(async (id) => {
      const { importESModule } = ChromeUtils;
      const { NavigableManager } = importESModule('chrome://remote/content/shared/NavigableManager.sys.mjs');
      const { require } = importESModule('resource://devtools/shared/loader/Loader.sys.mjs');
      const { gDevTools } = require('devtools/client/framework/devtools');
      const { embedderElement } = NavigableManager.getBrowsingContextById(id);
      await gDevTools.showToolboxForTab(gBrowser.getTabForBrowser(embedderElement), {
        toolId: 'netmonitor',
      });
    }, context);
  }

  /** Runs an expression in the world of an add-on's content script, as `InContentScript` says. */
  inContentScript({ context, host, frameUrl, expression }: ContentExpression): Promise<unknown> {
    return this.#run(
      async ([id, ownHost, frame, code]) => {
        const remote = 'chrome://remote/content/shared/NavigableManager.sys.mjs';
        const { NavigableManager } = ChromeUtils.importESModule(remote);
        const top = NavigableManager.getBrowsingContextById(id);
        const shown = frame === null ? [top] : top.getAllBrowsingContextsInSubtree();
        const found = shown
          .map(({ currentWindowGlobal }) => currentWindowGlobal)
          .find((each) => frame === null || each?.documentURI.spec === frame);
        if (!found) throw new Error(`no frame shows ${frame}`);
        // As `tabs.executeScript` does it, which takes a permission that the add-on has not.
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
        const asked = found.domProcess
          .getActor('ExtensionContent')
          .sendQuery('Execute', { windows, options });
        const [result] = await asked.catch(({ message }) => {
          throw new Error(message);
        });
        return result;
      },
      [context, host, frameUrl ?? null, expression] as const,
    );
  }

  /** The number that extensions know a tab by. */
  tabIdOf(context: string): Promise<number> {
    return this.#run((id) => {
      const { importESModule } = ChromeUtils;
      const { NavigableManager } = importESModule('chrome://remote/content/shared/NavigableManager.sys.mjs');
      const { ExtensionParent } = importESModule('resource://gre/modules/ExtensionParent.sys.mjs');
      const { embedderElement } = NavigableManager.getBrowsingContextById(id);
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
        // As an authority for websites, in the notation of NSS's certutil.
        certificates.addCertFromBase64(base64, 'C,,');
      },
      pem.replace(/-----[^-]+-----|\s/g, ''),
    );
  }

  /** From now on that host is at this address, whatever DNS says. */
  resolve(host: string, address: string): Promise<void> {
    return this.#run(
      ([name, at]) => {
        const overrides = Cc['@mozilla.org/network/native-dns-override;1'];
        overrides.getService(Ci.nsINativeDNSResolverOverride).addIPOverride(name, at);
      },
      [host, address] as const,
    );
  }

  /** Closes every connection over HTTP; resolves once none is left. What they have taught is kept. */
  async closeConnections(): Promise<void> {
    await this.#run(() => Services.obs.notifyObservers(null, 'net:cancel-all-connections'));
    if ((await until(async () => (await this.#run(openConnections)) === 0, CLOSE_TIMEOUT_MS)) === null)
      throw new Error(`Firefox did not close its connections within ${CLOSE_TIMEOUT_MS} ms`);
  }

  /** How many downloads have been started. */
  async downloads(): Promise<number> {
    return (await this.#run(downloadedFiles)).length;
  }

  /** The first download beyond so many, once it is whole. */
  async downloadAfter(count: number): Promise<Download> {
    const file = await until(async () => (await this.#run(downloadedFiles))[count], DOWNLOAD_TIMEOUT_MS);
    if (file === null) throw new Error(`nothing was downloaded within ${DOWNLOAD_TIMEOUT_MS} ms`);
    return { file, name: basename(file) };
  }

  /** Ends the add-on's background at once, as Firefox does when it is idle, whatever keeps it busy. */
  stopBackground(addOn: string): Promise<void> {
    return this.#run(async (id) => {
      const options = { ignoreDevToolsAttached: true, disableResetIdleForTest: true };
      await WebExtensionPolicy.getByID(id)?.extension.terminateBackground(options);
    }, addOn);
  }

  /** Lets the add-on run in private windows, and starts it anew, as its page in about:addons does. */
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

  /** Uninstalls an add-on, and with it all that it has stored and was allowed. */
  uninstall(addOn: string): Promise<void> {
    return this.#run(async (id) => {
      const { AddonManager } = ChromeUtils.importESModule('resource://gre/modules/AddonManager.sys.mjs');
      await (await AddonManager.getAddonByID(id)).uninstall();
    }, addOn);
  }

  /** Closes every tab and window of the user, but for one empty tab. */
  closeTabs(): Promise<void> {
    return this.#run(() => {
      for (const other of Services.wm.getEnumerator('navigator:browser')) if (other !== window) other.close();
      const empty = gBrowser.addTrustedTab('about:blank');
      gBrowser.selectedTab = empty;
      gBrowser.removeAllTabsBut(empty, { animate: false, skipWarnAboutClosingTabs: true });
    });
  }

  /** The host that this profile gave to the add-on's pages, once it is installed. */
  async hostOf(addOn: string): Promise<string> {
    const host = () => this.#run((id) => WebExtensionPolicy.getByID(id)?.mozExtensionHostname, addOn);
    const found = await until(host, INSTALL_TIMEOUT_MS);
    if (found === null) throw new Error(`Firefox did not take ${addOn}`);
    return found;
  }

  /** Every request over HTTP since this place was taken, or since they were forgotten. */
  requests(): Promise<readonly SeenRequest[]> {
    return this.#run(() => window.seenRequests ?? []);
  }

  forgetRequests(): Promise<void> {
    return this.#run(() => {
      window.seenRequests?.splice(0);
    });
  }
}
