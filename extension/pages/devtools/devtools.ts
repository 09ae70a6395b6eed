// The invisible page that lives as long as the developer tools of a tab are open: adds the panel, keeps the list of the
// tab's requests, and sends it to the background, again whenever the background has been restarted.
import '../../common/catalog.ts';
import { soon } from '../../common/browser.ts';
import { getMessage } from '../../common/catalog.ts';
import {
  DEVTOOLS_PORT,
  type DevtoolsMessage,
  type HarEntry,
  MAX_INSPECTED_AT_ONCE,
} from '../../common/inspected-request.ts';
import { type KeptPort, keepPort } from '../ui/background-port.ts';
import { createLog, entryName, type LogEntry, loggedEntry } from './log.ts';

/** Requests within this interval are sent together. */
const BATCH_MS = 100;

const { tabId } = chrome.devtools.inspectedWindow;
const log = createLog();
/** The newest entries that the background has not received. */
let waiting: LogEntry[] = [];
/**
 * Entries of the log that existed at startup, by name: one that was still arriving is reported again, then complete.
 */
const existing = new Map<string, LogEntry>();
/** Names of entries reported before the existing log was read; null from then on. */
let early: Set<string> | null = new Set();

type Port = KeptPort<DevtoolsMessage>;

// What is sent over a port that just broke is sent again over the next one.
function sendRequests(over: Port, logged: readonly LogEntry[], again: boolean): void {
  for (let start = 0; start < logged.length; start += MAX_INSPECTED_AT_ONCE) {
    const requests = logged.slice(start, start + MAX_INSPECTED_AT_ONCE).map(({ request }) => request);
    over.send({ type: 'requests', tabId, requests, again });
  }
}

function sendAll(over: Port): void {
  over.send({ type: 'begin', tabId });
  const sent = log.list.filter((logged) => !waiting.includes(logged));
  sendRequests(over, sent, true);
}

const port: Port = keepPort(DEVTOOLS_PORT, { onOpen: sendAll });

function flush(): void {
  const logged = waiting;
  waiting = [];
  sendRequests(port, logged, false);
}

const flushSoon = soon(BATCH_MS, flush);

function add(entry: HarEntry): void {
  const logged = loggedEntry(entry);
  if (logged === null) return;
  const name = entryName(entry);
  early?.add(name);
  const partial = existing.get(name);
  existing.delete(name);
  log.add([logged]);
  waiting.push(logged);
  if (partial !== undefined) {
    log.drop(partial);
    sendAll(port);
  }
  flushSoon();
}

chrome.devtools.panels.create(getMessage('devtoolsPanel'), '/icons/photofinish-32.png', '/panel/panel.html');

chrome.devtools.network.onRequestFinished.addListener((request) => add(request as HarEntry));

chrome.devtools.network.onNavigated.addListener((url) => {
  flush();
  log.navigated(url);
  sendAll(port);
});

// Empty unless the tools were open before the extension, or a page is loading just now.
chrome.devtools.network.getHAR((har) => {
  for (const entry of har.entries as unknown as HarEntry[]) {
    const name = entryName(entry);
    const logged = loggedEntry(entry);
    // An entry without a response is reported once it has one.
    if (logged !== null && early?.has(name) !== true) existing.set(name, logged);
  }
  early = null;
  if (existing.size === 0) return;
  log.add([...existing.values()]);
  sendAll(port);
});
