// The page that lives, unseen, as long as the developer tools of a tab are open: adds the panel, keeps the list of the
// tab's requests, and tells it to the background, again whenever that was ended and started anew.
import '../words.ts';
import { type KeptPort, keepPort } from '../ui/keep-port.ts';
import { say } from '../words.ts';
import type { HarEntry } from './har.ts';
import { DEVTOOLS_PORT, type DevtoolsWord, MAX_INSPECTED_AT_ONCE } from './inspection.ts';
import { createLog, entryName, type Logged, loggedEntry } from './log.ts';

/** Requests of a moment travel together. */
const BATCH_MS = 100;

const { tabId } = chrome.devtools.inspectedWindow;
const log = createLog();
/** The newest of the list that the background has not heard of. */
let waiting: Logged[] = [];
let due = false;
/** Entries of the log as it was found; each is told once more if it was not complete. */
const found = new Set<string>();

type Port = KeptPort<DevtoolsWord>;

// What is sent over a port that just broke is told again over the next one.
function tell(over: Port, logged: readonly Logged[], again: boolean): void {
  for (let start = 0; start < logged.length; start += MAX_INSPECTED_AT_ONCE) {
    const requests = logged.slice(start, start + MAX_INSPECTED_AT_ONCE).map(({ request }) => request);
    over.send({ type: 'requests', tabId, requests, again });
  }
}

function tellAll(over: Port): void {
  over.send({ type: 'begin', tabId });
  const heard = log.list.filter((logged) => !waiting.includes(logged));
  tell(over, heard, true);
}

const port: Port = keepPort(DEVTOOLS_PORT, { onOpen: tellAll });

function flush(): void {
  due = false;
  const logged = waiting;
  waiting = [];
  tell(port, logged, false);
}

function add(entry: HarEntry): void {
  const logged = loggedEntry(entry);
  if (logged === null || found.delete(entryName(entry))) return;
  log.add([logged]);
  waiting.push(logged);
  if (due) return;
  due = true;
  setTimeout(flush, BATCH_MS);
}

chrome.devtools.panels.create(say('devtoolsPanel'), '/icons/photofinish-32.png', '/panel/panel.html');

chrome.devtools.network.onRequestFinished.addListener((request) => add(request as HarEntry));

chrome.devtools.network.onNavigated.addListener((url) => {
  flush();
  log.navigated(url);
  tellAll(port);
});

// Empty unless the extension came later than the tools.
chrome.devtools.network.getHAR((har) => {
  const entries = har.entries as unknown as HarEntry[];
  for (const entry of entries) found.add(entryName(entry));
  const before = entries.flatMap((entry) => loggedEntry(entry) ?? []);
  if (before.length === 0) return;
  log.add(before);
  tellAll(port);
});
