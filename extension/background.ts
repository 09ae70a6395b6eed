// The background: wires observers, ledger, pages, helper and popup together, and nothing else.
// It lives as a service worker that the browser may end at any moment, so every listener is registered in the first
// turn, waits for `ready` before it touches state, and acknowledges nothing before it is durable.
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import * as v from 'valibot';
import { browserVersion, connectHelper, documentOfTab, preciseNowMs, timers } from './browser.ts';
import { createForecaster, type Navigation } from './forecast/forecaster.ts';
import { comparison, createHelper } from './helper/helper.ts';
import { createHelperPort } from './helper/port.ts';
import { createRaces } from './helper/races.ts';
import { createUpload } from './helper/upload.ts';
import { openLedger } from './ledger/ledger.ts';
import { NETWORK_UNKNOWN } from './ledger/schema.ts';
import { troubleWords } from './ledger/trouble.ts';
import { type HelperState, POPUP_PORT } from './messages.ts';
import { observeChromium } from './observe/chromium.ts';
import { takeLeftBatches } from './observe/left.ts';
import { createRecorder } from './observe/recorder.ts';
import { createRequestTable, SETTLE_MS } from './observe/requests.ts';
import { LEFT_PREFIX, type TimingAck } from './observe/timing.ts';
import { arrivedSchema, timingBatchSchema } from './observe/timing-schema.ts';
import { type Page, withForecasts } from './page/model.ts';
import { createPages } from './page/pages.ts';
import { createPopupServer } from './page/popup-port.ts';
import { createPresenter } from './page/presenter.ts';
import { loadSavedMap } from './page/saved-map.ts';
import { collectReport } from './report/collect.ts';
import { loadSettings } from './settings.ts';
import { setToolbar } from './toolbar.ts';

const BROWSER = 'chromium';
const NETWORK_KEY = 'network';
const PRUNE_ALARM = 'prune';
const PRUNE_MINUTES = 60;
/** Several batches of one page go to the helper together. */
const UPLOAD_DELAY_MS = 1000;
/** A batch that a page left behind is also on its way as a message, which tells more and should come first. */
const LEFT_DELAY_MS = 5000;

const startedMs = Date.now();
const { version } = chrome.runtime.getManifest();
const table = createRequestTable();
/** Where the helper says this is; of the session before, until it says so itself. */
let network = NETWORK_UNKNOWN;
/** Why the newest batch could not be recorded; null: it was. */
let trouble: string | null = null;
let sweeping = false;
let uploading = false;
let takingLeft = false;

const port = createHelperPort({
  connect: connectHelper,
  clock: timers,
  program: `photofinish-extension ${version}`,
  onState: onHelperState,
});
const helper = createHelper(port, BROWSER);

const forecaster = createForecaster({
  ask: helper.forecast,
  originsOfSite: async (site, limit) => (await ready).ledger.originsOfSite(site, limit),
  onArrived: (navigation) => void onForecast(navigation).catch(logged),
  nowMs: preciseNowMs,
});

const races = createRaces({
  race: (order, onProgress) => {
    port.connect();
    return helper.race(order, onProgress);
  },
  onProgress: (origin, progress) => popups.broadcast({ type: 'race-progress', origin, progress }),
  onDone: (race) =>
    void onRace(race).catch((error) => {
      logged(error);
      onRaceFailed(
        race.origin,
        'not-saved',
        `The race was run but could not be kept. ${troubleWords(error)}`,
      );
    }),
  onFailed: onRaceFailed,
});

const helperWatchers = new Set<(helper: HelperState) => void>();

const popups = createPopupServer({
  watchHelper(told) {
    helperWatchers.add(told);
    told(helperState());
    return () => helperWatchers.delete(told);
  },
  doctor: () => helper.doctor().catch(() => null),
  wipe,
  watch: (tabId, watcher) => {
    const end = ready.then(({ presenter }) => presenter.watch(tabId, watcher));
    return () => void end.then((unwatch) => unwatch());
  },
  race: (origin) => races.start(comparison(origin)),
  cancelRace: races.cancel,
  reconnectHelper: port.connect,
  report: async (selection) => {
    const [{ ledger }, browser] = await Promise.all([ready, browserVersion()]);
    const conditions = { browser: { name: BROWSER, version: browser }, network, nowMs: Date.now() } as const;
    return collectReport(ledger, selection, conditions).catch((error) => {
      throw error instanceof DOMException ? new Error(troubleWords(error)) : error;
    });
  },
});

const ready = start();

async function start() {
  const ledger = openLedger();
  const [savedPages, savedShown, saved] = await Promise.all([
    loadSavedMap<Page>(chrome.storage.session, 'page:'),
    loadSavedMap<string>(chrome.storage.session, 'shown:'),
    chrome.storage.session.get(NETWORK_KEY),
  ]);
  if (network === NETWORK_UNKNOWN) network = String(saved[NETWORK_KEY] ?? NETWORK_UNKNOWN);
  const pages = createPages(savedPages, savedShown, (page) => presenter.refresh(page.tabId));
  const presenter = createPresenter({
    ledger,
    shown: pages.shown,
    documentOf: documentOfTab,
    helperState,
    trouble: () => trouble,
    setToolbar,
    later: timers.later,
  });
  const recorder = createRecorder({
    table,
    ledger,
    pages,
    witnessSinceMs: startedMs,
    nowMs: Date.now,
    network: () => network,
    onRecorded: (observations) => {
      for (const { site, origin } of observations) forecaster.remember(site, [origin]);
      uploadSoon();
    },
  });
  const upload = createUpload({ ledger, observed: helper.observed });
  return { ledger, pages, presenter, recorder, upload };
}

function logged(error: unknown): void {
  console.error(error);
}

function helperState(): HelperState {
  return port.state.state === 'ready' ? { ...port.state, network } : port.state;
}

function tellHelperState(): void {
  for (const told of helperWatchers) told(helperState());
}

function onHelperState(state: HelperState): void {
  tellHelperState();
  void ready.then(({ presenter }) => presenter.refreshWatched());
  if (state.state !== 'ready') return;
  uploadSoon();
  helper.network().then(setNetwork, logged);
}

function setNetwork(label: string): void {
  if (label === network) return;
  network = label;
  void chrome.storage.session.set({ [NETWORK_KEY]: label });
  tellHelperState();
  void ready.then(({ presenter }) => presenter.refreshWatched());
}

function setTrouble(words: string | null): void {
  if (words === trouble) return;
  trouble = words;
  void ready.then(({ presenter }) => presenter.refreshWatched());
}

function uploadSoon(): void {
  if (uploading || port.state.state !== 'ready') return;
  uploading = true;
  timers.later(UPLOAD_DELAY_MS, () => {
    uploading = false;
    // What could not be sent stays in the outbox, for the next batch or the next connection.
    ready.then(({ upload }) => upload()).catch(() => {});
  });
}

function sweepSoon(): void {
  if (sweeping) return;
  sweeping = true;
  timers.later(SETTLE_MS / 4, () => {
    sweeping = false;
    ready.then(({ recorder }) => recorder.recordMissed()).catch(logged);
    if (table.size > 0) sweepSoon();
  });
}

function takeLeftSoon(): void {
  if (takingLeft) return;
  takingLeft = true;
  timers.later(LEFT_DELAY_MS, () => {
    takingLeft = false;
    ready.then(({ recorder }) => takeLeftBatches(chrome.storage.local, recorder.recordLeft)).catch(logged);
  });
}

async function onForecast(navigation: Navigation): Promise<void> {
  const { ledger } = await ready;
  const newest = navigation.arrived.at(-1);
  if (newest === undefined) return;
  await attachForecasts(navigation);
  await ledger.countLookups(navigation.origin, navigation.site, newest.forecasts, network, Date.now());
}

async function attachForecasts({ documentId, askedAtMs, arrived }: Navigation): Promise<void> {
  const { pages } = await ready;
  const page = documentId === null ? undefined : pages.get(documentId);
  if (page === undefined) return;
  const asked: Page = { ...page, forecastAskedAtMs: askedAtMs };
  pages.update(arrived.reduce((p, { forecasts, atMs }) => withForecasts(p, forecasts, atMs), asked));
}

function onRaceFailed(origin: Origin, code: string, message: string): void {
  popups.broadcast({ type: 'race-failed', origin, code, message });
}

async function onRace(race: OriginRace): Promise<void> {
  const { ledger, presenter } = await ready;
  await ledger.saveRace(race);
  if (race.network !== '') setNetwork(race.network);
  presenter.refreshWatched();
}

observeChromium({
  ended(request) {
    table.add(request);
    sweepSoon();
  },
  navigationRedirected: (tabId, frameId, url) => forecaster.navigate(tabId, frameId, url),
});

chrome.webNavigation.onBeforeNavigate.addListener(
  ({ frameType, tabId, frameId, url }) => {
    if (frameType === 'outermost_frame') forecaster.navigate(tabId, frameId, url);
  },
  { url: [{ schemes: ['https'] }] },
);

chrome.webNavigation.onCommitted.addListener((details) => {
  const { documentId, documentLifecycle, frameType, parentDocumentId, tabId, frameId, url } = details;
  const outermost = frameType === 'outermost_frame';
  const navigation = outermost ? forecaster.commit(tabId, frameId, documentId) : null;
  ready
    .then(({ pages, presenter }) => {
      if (!outermost) {
        if (parentDocumentId !== undefined) pages.commitFrame(documentId, parentDocumentId);
        return;
      }
      const page = pages.commit({ documentId, tabId, url, startedMs: details.timeStamp });
      // A page rendered ahead of time is shown when it tells so itself, by its first batch.
      if (documentLifecycle === 'prerender') return;
      pages.show(tabId, page === null ? null : documentId);
      presenter.refresh(tabId);
    })
    .then(() => navigation && attachForecasts(navigation))
    .catch(logged);
});

chrome.webNavigation.onErrorOccurred.addListener(({ frameType, tabId }) => {
  if (frameType === 'outermost_frame') leaveFailed(tabId).catch(logged);
});

/** An error page is no page of the site before it. A navigation that was only called off leaves that one in view. */
async function leaveFailed(tabId: number): Promise<void> {
  const [{ pages, presenter }, shown] = await Promise.all([ready, documentOfTab(tabId)]);
  if (shown === null || !shown.failed || pages.get(shown.documentId) !== undefined) return;
  pages.show(tabId, null);
  presenter.refresh(tabId);
}

chrome.tabs.onRemoved.addListener((tabId) => {
  ready
    .then(({ pages, presenter }) => {
      pages.removeTab(tabId);
      presenter.refresh(tabId);
    })
    .catch(logged);
});

chrome.runtime.onMessage.addListener((message, { id, tab, documentId }) => {
  const arrived = v.safeParse(arrivedSchema, message);
  if (!arrived.success || id !== chrome.runtime.id || tab?.id === undefined || documentId === undefined)
    return;
  const tabId = tab.id;
  ready.then(({ pages }) => pages.arrived(tabId, documentId, arrived.output.arrival)).catch(logged);
});

chrome.runtime.onMessage.addListener((message, sender, respond: (ack: TimingAck | null) => void) => {
  if (message?.type !== 'timings' || sender.id !== chrome.runtime.id) return false;
  const tabId = sender.tab?.id;
  const batch = v.safeParse(timingBatchSchema, message);
  // What does not fit now would not fit if it were sent again.
  if (!batch.success || tabId === undefined || sender.url === undefined) {
    respond({ ack: message.seq });
    return false;
  }
  const { seq, source } = batch.output;
  const from = { tabId, documentId: sender.documentId ?? source, url: sender.url };
  ready
    .then(({ recorder }) => recorder.record(batch.output, from))
    .then(
      () => {
        setTrouble(null);
        respond({ ack: seq });
      },
      (error) => {
        logged(error);
        setTrouble(troubleWords(error));
        respond(null);
      },
    );
  return true;
});

chrome.storage.local.onChanged.addListener((changes) => {
  const left = Object.entries(changes).some(([key, { newValue }]) => key.startsWith(LEFT_PREFIX) && newValue);
  if (left) takeLeftSoon();
});

chrome.runtime.onConnect.addListener((connected) => {
  const own = connected.sender?.url?.startsWith(chrome.runtime.getURL('')) === true;
  if (connected.name === POPUP_PORT && own) popups.accept(connected);
});

chrome.alarms.onAlarm.addListener(({ name }) => {
  if (name === PRUNE_ALARM) prune().catch(logged);
});

async function prune(): Promise<void> {
  const { ledger } = await ready;
  const { retentionDays } = await loadSettings(chrome.storage.local);
  while ((await ledger.prune(Date.now(), retentionDays)) > 0);
}

/** Forgets everything; the helper's cache, too, where a helper answers. */
async function wipe(): Promise<number | null> {
  const { ledger, pages } = await ready;
  await ledger.wipe();
  pages.clear();
  return helper.wipe().catch(() => null);
}

async function scheduleAlarms(): Promise<void> {
  // Creating it anew at each start would push it ahead of itself for ever.
  if ((await chrome.alarms.get(PRUNE_ALARM)) === undefined)
    await chrome.alarms.create(PRUNE_ALARM, { periodInMinutes: PRUNE_MINUTES });
}

port.connect();
takeLeftSoon();
scheduleAlarms().catch(logged);
