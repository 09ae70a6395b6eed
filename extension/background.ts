// The background: wires observers, ledger, pages, helper and popup together, and nothing else.
// It lives as a service worker (Chromium) or event page (Firefox) that the browser may end at any moment, so every
// listener is registered in the first turn, waits for `ready` before it touches state, and acknowledges nothing before
// it is durable.

import { type Origin, originOfUrl, originParts } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import * as v from 'valibot';
import { answerOf, asServed, observeRequests, openBrowserSteering } from '#edition';
import { documentOfTab, hasAccess, knownTabs, preciseNowMs, timers } from './browser.ts';
import { createInspection, DEVTOOLS_PORT } from './devtools/inspection.ts';
import { BROWSER } from './edition.ts';
import { createForecaster, type Navigation } from './forecast/forecaster.ts';
import { createFirstVisitRaces } from './helper/first-visit.ts';
import { comparison } from './helper/helper.ts';
import { openHelperLink } from './helper/link.ts';
import { createRaces } from './helper/races.ts';
import { createUpload } from './helper/upload.ts';
import { openKeptLedger } from './ledger/keeping.ts';
import { troubleWords } from './ledger/trouble.ts';
import { POPUP_PORT } from './messages.ts';
import type { Visited } from './observe/details.ts';
import { openInbox } from './observe/inbox.ts';
import { takeLeftBatches } from './observe/left.ts';
import { type CommittedDocument, observeNavigations } from './observe/navigations.ts';
import { createRecordable } from './observe/recordable.ts';
import { createRecorder } from './observe/recorder.ts';
import { createRequestTable } from './observe/requests.ts';
import { arrivedSchema } from './observe/timing-schema.ts';
import { createTold, type Revealed, revealsOf } from './observe/told.ts';
import { type Page, withForecasts, withReveal } from './page/model.ts';
import { createPages } from './page/pages.ts';
import { createPopupServer } from './page/popup-port.ts';
import { createPresenter } from './page/presenter.ts';
import { loadSavedMap } from './page/saved-map.ts';
import type { TabDocument } from './page/view.ts';
import { proxyMode } from './proxy-mode.ts';
import { DEFAULT_SETTINGS, loadSettings, onSettings, type Settings } from './settings.ts';
import { siteOfHost } from './site.ts';
import { STEER_ALARM } from './steer/browser.ts';
import { setToolbar } from './toolbar.ts';
import { welcomeOnInstall } from './welcome/open-once.ts';
import { say } from './words.ts';

const PRUNE_ALARM = 'prune';
const PRUNE_MINUTES = 60;
/** A page is asked for at most this long before its answer, so an older record is of an earlier visit. */
const FIRST_VISIT_MS = 60_000;

const startedMs = Date.now();
const { version } = chrome.runtime.getManifest();
const table = createRequestTable();
const recordable = createRecordable();
/** Why the newest batch could not be recorded; null: it was. */
let trouble: string | null = null;
let rooms: Rooms | null = null;
let settings = DEFAULT_SETTINGS;

const link = openHelperLink({
  program: `photofinish-extension ${version}`,
  upload: async () => (await ready).upload(),
  onChange: () => whenReady(({ presenter }) => presenter.refreshWatched()),
  onNetwork: (label) => whenReady(({ steering }) => void steering?.onNetwork(label).catch(logged)),
});
const { helper } = link;

const forecaster = createForecaster({
  ask: link.forecast,
  originsOfSite: async (site, limit) => (await ready).ledger.originsOfSite(site, limit),
  onArrived: (navigation) => void onForecast(navigation).catch(logged),
  nowMs: preciseNowMs,
});

const races = createRaces({
  race: (order, onProgress) => {
    link.connect();
    return helper.race(order, onProgress);
  },
  onProgress: (origin, progress) => popups.broadcast({ type: 'race-progress', origin, progress }),
  onDone: (race) =>
    void onRace(race).catch((error) => {
      logged(error);
      onRaceFailed(race.origin, 'not-saved', say('popupRaceNotKept', { why: troubleWords(error) }));
    }),
  onFailed: onRaceFailed,
});

const inspection = createInspection({
  inOrder: (run) => whenReady(run),
  refuses: (tabId) => recordable.ofTab(tabId) !== null,
  onRequests: (tabId, requests) => void reveal(told.tell(tabId, requests)).catch(logged),
  onClosed: (tabId) => told.forget(tabId),
});
const told = createTold(inspection.isInspected);

const popups = createPopupServer({
  watchRequests: inspection.watch,
  watchHelper: link.watch,
  doctor: () => helper.doctor().catch(() => null),
  wipe,
  watch: (tabId, watcher) => {
    const end = ready.then(({ presenter }) => presenter.watch(tabId, watcher));
    return () => void end.then((unwatch) => unwatch());
  },
  race(origin) {
    if (settings.raceWhen !== 'never') races.start(comparison(origin));
    else onRaceFailed(origin, 'not-allowed', say('pageRacesOff'));
  },
  cancelRace: races.cancel,
  reconnectHelper: link.reconnect,
  steer: async (origin, on) => (await ready).steering?.choose(origin, on, link.network),
});

const ready = start();
ready.then((started) => {
  rooms = started;
});

type Rooms = Awaited<ReturnType<typeof start>>;

async function start() {
  const ledger = openKeptLedger();
  const [savedPages, savedShown, failures] = await Promise.all([
    loadSavedMap<Page>(chrome.storage.session, 'page:'),
    loadSavedMap<string>(chrome.storage.session, 'shown:'),
    loadSavedMap<string>(chrome.storage.session, 'failed:'),
    link.recallNetwork(),
    loadSettings(chrome.storage.local).then(beginRecording),
  ]);
  const steering = await openBrowserSteering({
    advertised: ledger.advertised,
    nowMs: Date.now,
    onChange: () => whenReady(({ presenter }) => presenter.refreshWatched()),
  }).catch((error) => {
    logged(error);
    return null;
  });
  steering?.enable(settings.steering).catch(logged);
  steering?.expire().catch(logged);
  const pages = createPages(savedPages, savedShown, (page) => presenter.refresh(page.tabId));
  const presenter = createPresenter({
    ledger,
    shown: pages.shown,
    documentOf: shownDocument,
    helperState: () => link.state,
    trouble: () => trouble,
    steer: steering === null ? null : steering.view,
    setToolbar,
    later: timers.later,
  });
  const recorder = createRecorder({
    table,
    ledger,
    pages,
    witnessSinceMs: startedMs,
    nowMs: Date.now,
    network: () => link.network,
    refuses: (request, site) => recordable.ofRequest(request) !== null || recordable.ofSite(site) !== null,
    onRecorded: (observations) => {
      for (const { site, origin } of observations) forecaster.remember(site, [origin]);
      link.uploadSoon();
    },
    told,
    onRevealed: (revealed) => void reveal(revealed).catch(logged),
  });
  const upload = createUpload({
    ledger,
    observed: helper.observed,
    refuses: (site) => recordable.ofSite(site) !== null,
  });
  return { ledger, pages, presenter, recorder, upload, failures, steering };
}

/** Runs at once where that is possible, so that nothing waits for a promise's turn, else in order once it is. */
function whenReady(run: (rooms: Rooms) => void): void {
  if (rooms !== null) run(rooms);
  else ready.then(run).catch(logged);
}

async function beginRecording(loaded: Settings): Promise<void> {
  settings = loaded;
  recordable.follow(settings);
  recordable.begin(await knownTabs(settings.neverRecord.length > 0));
}

function followSettings(changed: Settings): void {
  settings = changed;
  recordable.follow(settings);
  whenReady(({ pages, presenter, steering }) => {
    steering?.enable(settings.steering).catch(logged);
    const refused = (origin: Origin) => recordable.ofSite(siteOfHost(originParts(origin).host)) !== null;
    steering?.exclude(refused).catch(logged);
    presenter.refreshWatched();
    const tabs = pages.forget(({ tabId, origin }) => recordable.ofPage(tabId, origin) !== null);
    for (const tabId of tabs) presenter.refresh(tabId);
    inspection.forget(tabs);
  });
}

/** What a tab shows and, where that is so, why none of it is recorded. */
async function shownDocument(tabId: number): Promise<TabDocument | null> {
  const [shown, { failures }] = await Promise.all([documentOfTab(tabId), ready]);
  if (shown === null) return null;
  const { documentId, url, failed } = shown;
  const refusal = recordable.ofPage(tabId, url);
  const withheld = refusal ?? ((await hasAccess(url)) ? null : 'no-access');
  return { documentId, url, failed: failed || failures.get(String(tabId)) === documentId, withheld };
}

function logged(error: unknown): void {
  console.error(error);
}

/** Requests that were counted as unknown are counted as what they were, and then shown so. */
async function reveal(revealed: readonly Revealed[]): Promise<void> {
  const [first] = revealed;
  if (first === undefined) return;
  const { ledger, pages } = await ready;
  const key = `told:${first.observation.id}`;
  await ledger.reveal({ key, reveals: revealsOf(revealed), nowMs: Date.now() });
  for (const { documentId, observation, protocol } of revealed) {
    const page = documentId === null ? undefined : pages.get(documentId);
    if (page !== undefined) pages.update(withReveal(page, observation, protocol));
  }
}

function setTrouble(words: string | null): void {
  if (words === trouble) return;
  trouble = words;
  void ready.then(({ presenter }) => presenter.refreshWatched());
}

async function onForecast(navigation: Navigation): Promise<void> {
  const { ledger, steering } = await ready;
  const newest = navigation.arrived.at(-1);
  if (newest === undefined) return;
  // Before anything else: a rule counts for the answer that is on its way.
  await steering?.forecast(newest.forecasts, link.network, false);
  await attachForecasts(navigation);
  await ledger.countLookups(navigation.origin, navigation.site, newest.forecasts, link.network, Date.now());
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
  const { ledger, presenter, steering } = await ready;
  await ledger.saveRace(race);
  if (race.network !== '') link.setNetwork(race.network);
  presenter.refreshWatched();
  if (steering === null) return;
  const site = siteOfHost(originParts(race.origin).host);
  await steering.forecast(await helper.forecast(site, [race.origin]), link.network, true);
  presenter.refreshWatched();
}

observeRequests({
  ended(request) {
    if (recordable.ofEnded(request) !== null) return;
    const answer = answerOf(request);
    table.add(asServed(request, rooms?.steering ?? null));
    // A background that this very answer woke up is not ready yet.
    if (answer !== null) whenReady(({ steering }) => steering?.answered(answer));
    inbox.sweepSoon();
  },
  visited(visited) {
    if (settings.raceWhen === 'first-visit' || rooms === null)
      whenReady(() => onVisited(visited).catch(logged));
  },
  navigationRedirected: foretell,
});

const firstVisit = createFirstVisitRaces({
  settings: () => settings,
  helperReady: () => link.state.state === 'ready',
  known: async ({ origin, site, startedMs }) => {
    const { ledger } = await ready;
    const [records, raced] = await Promise.all([
      ledger.recordsOf([origin], site),
      ledger.newestRaces([origin]),
    ]);
    return raced.has(origin) || (records.get(origin)?.firstSeenMs ?? startedMs) < startedMs - FIRST_VISIT_MS;
  },
  race: (order) => races.start(order),
});

async function onVisited({ tabId, url, atMs, privateWindow, container, proxied }: Visited): Promise<void> {
  const parts = originOfUrl(url);
  if (parts === null || settings.raceWhen !== 'first-visit' || recordable.ofPage(tabId, url) !== null) return;
  const { origin, host } = parts;
  await firstVisit({
    origin,
    site: siteOfHost(host),
    startedMs: atMs,
    privateWindow: privateWindow ?? recordable.isPrivateTab(tabId),
    container,
    // Chromium says it of the browser, not of a request.
    proxied: proxied ?? (BROWSER === 'chromium' ? (await proxyMode()) !== 'direct' : null),
  });
}

observeNavigations({
  begun: foretell,
  committed: (document) => whenReady((started) => onCommitted(document, started)),
  failed: (tabId, errorPage) => void onFailed(tabId, errorPage).catch(logged),
});

/** Asks the helper about a page that is about to come. */
function foretell(tabId: number, frameId: number, url: string): void {
  whenReady(() => {
    if (recordable.ofPage(tabId, url) === null) forecaster.navigate(tabId, frameId, url);
  });
}

function onCommitted(document: CommittedDocument, { pages, presenter }: Rooms): void {
  const { documentId, tabId, frameId, url, atMs, parentDocumentId, prerender } = document;
  if (parentDocumentId !== null) {
    pages.commitFrame(documentId, parentDocumentId);
    return;
  }
  const navigation = forecaster.commit(tabId, frameId, documentId);
  const refused = recordable.committed(document) !== null;
  const page = refused ? null : pages.commit({ documentId, tabId, url, startedMs: atMs });
  if (navigation !== null) attachForecasts(navigation).catch(logged);
  // A page rendered ahead of time is shown when it tells so itself, by its first batch.
  if (prerender) return;
  pages.show(tabId, page === null ? null : documentId);
  presenter.refresh(tabId);
}

/** An error page is no page of any site. A navigation that was only called off leaves the page before it in view. */
async function onFailed(tabId: number, errorPage: string | null): Promise<void> {
  const { pages, presenter, failures } = await ready;
  if (errorPage === null) {
    const shown = await documentOfTab(tabId);
    if (shown === null || !shown.failed || pages.get(shown.documentId) !== undefined) return;
  } else {
    failures.set(String(tabId), errorPage);
    pages.forget(({ documentId }) => documentId === errorPage);
  }
  pages.show(tabId, null);
  presenter.refresh(tabId);
}

chrome.tabs.onCreated.addListener(({ id, incognito }) => {
  if (id !== undefined) recordable.tabCreated(id, incognito);
});

chrome.tabs.onRemoved.addListener((tabId) => {
  recordable.tabRemoved(tabId);
  whenReady(({ pages, presenter, failures }) => {
    failures.delete(String(tabId));
    pages.removeTab(tabId);
    presenter.refresh(tabId);
  });
});

chrome.runtime.onMessage.addListener((message, { id, tab, documentId }) => {
  const arrived = v.safeParse(arrivedSchema, message);
  if (!arrived.success || id !== chrome.runtime.id || tab?.id === undefined) return;
  const { source, arrival } = arrived.output;
  const tabId = tab.id;
  whenReady(({ pages }) => pages.arrived(tabId, documentId ?? source, arrival));
});

const inbox = openInbox({
  recorder: async () => (await ready).recorder,
  recordable,
  table,
  onTrouble: setTrouble,
});

chrome.runtime.onConnect.addListener((connected) => {
  const own = connected.sender?.url?.startsWith(chrome.runtime.getURL('')) === true;
  if (connected.name === POPUP_PORT && own) popups.accept(connected);
  if (connected.name === DEVTOOLS_PORT && own) inspection.accept(connected);
});

chrome.alarms.onAlarm.addListener(({ name }) => {
  if (name === PRUNE_ALARM) prune().catch(logged);
  if (name === STEER_ALARM) ready.then(({ steering }) => steering?.expire()).catch(logged);
});

async function prune(): Promise<void> {
  const { ledger } = await ready;
  await ledger.prune(Date.now(), settings.retentionDays);
}

/** Forgets everything; the helper's cache, too, where a helper answers. */
async function wipe(): Promise<number | null> {
  const { ledger, pages, steering } = await ready;
  await ledger.wipe();
  pages.clear();
  inspection.forget();
  forecaster.forget();
  // What has ended and still waits for its page's word belongs to what is forgotten.
  table.expire(Number.POSITIVE_INFINITY);
  // So do batches that pages left behind.
  await takeLeftBatches(chrome.storage.local, async () => {});
  await steering?.wipe();
  return helper.wipe().catch(() => null);
}

async function scheduleAlarms(): Promise<void> {
  // Creating it anew at each start would push it ahead of itself for ever.
  if ((await chrome.alarms.get(PRUNE_ALARM)) === undefined)
    await chrome.alarms.create(PRUNE_ALARM, { periodInMinutes: PRUNE_MINUTES });
}

welcomeOnInstall();
onSettings(chrome.storage.local, followSettings);
inbox.takeLeftSoon();
scheduleAlarms().catch(logged);
