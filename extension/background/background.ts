// The background: wires observers, ledger, pages, helper and popup together, and does nothing else.
//
// The life of a request: when it ends, the browser reports it; `recordable` rejects it or the request table keeps it
// until its page reports it too, in a numbered batch, or the wait times out. The recorder joins the two halves into one
// observation, the ledger counts it in one transaction, and only then is the batch acknowledged, the tab redrawn and
// the helper informed. The navigation's forecast came before all that. docs/architecture.md follows it file by file.
//
// This is a service worker (Chromium) or event page (Firefox) that the browser may terminate at any moment. Every
// listener is therefore registered synchronously at startup, waits for `ready` before it touches state, and
// acknowledges nothing before it is durable.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { asServed, observeRequests, openBrowserSteering, responseOf } from '#edition';
import {
  documentOfTab,
  hasAccessInTab,
  isOwnPage,
  knownTabs,
  lockStorage,
  onLoaded,
  preciseNowMs,
  timers,
} from '../common/browser.ts';
import { getMessage } from '../common/catalog.ts';
import { createGestures, createPageInitiated, PAGE_INITIATED_KEY } from '../common/helper/page-initiated.ts';
import { DEVTOOLS_PORT } from '../common/inspected-request.ts';
import { POPUP_PORT } from '../common/messages.ts';
import { forgetNames } from '../common/network-names.ts';
import type { Page } from '../common/page/model.ts';
import {
  EVERY_SITE,
  onProxyMode,
  type ProxyMode,
  proxiedBy,
  proxyMode,
  seesRequests,
} from '../common/permissions.ts';
import {
  changeSettings,
  DEFAULT_SETTINGS,
  loadSettings,
  onSettings,
  type Settings,
} from '../common/settings.ts';
import { siteOfHost } from '../common/site.ts';
import { troubleText } from '../ledger/database.ts';
import { openBackgroundLedger, pruneHourly } from '../ledger/ledger.ts';
import { createForecaster, type Navigation, useForecasts } from './forecast/forecaster.ts';
import { comparison, HelperLink } from './helper/helper.ts';
import { createVisits, Races } from './helper/races.ts';
import { createUpload } from './helper/upload.ts';
import { openBatchQueue, takeLeft } from './observe/batch-queue.ts';
import {
  type BackfilledObservation,
  backfill,
  createDevtoolsFeed,
  createInspection,
} from './observe/devtools.ts';
import { createLightVisits, createStoredAltSvc, ObservedMode } from './observe/light-mode.ts';
import { observeNavigations } from './observe/navigations.ts';
import { Recordable } from './observe/recordable.ts';
import { Recorder } from './observe/recorder.ts';
import { RequestTable } from './observe/requests.ts';
import { STEER_ALARM } from './steer/steering.ts';
import { openStore } from './store/open-store.ts';
import { createTabs, loadSavedMap, Pages, savedIn } from './tab/pages.ts';
import { createPopupServer } from './tab/popup-port.ts';
import { Presenter, resetToolbar, setToolbar } from './tab/presenter.ts';
import { type FailedNavigation, isReported } from './tab/view.ts';

const startedMs = Date.now();
const { version } = chrome.runtime.getManifest();
const store = openStore();
const table = new RequestTable();
const recordable = new Recordable();
const observedMode = new ObservedMode({
  area: chrome.storage.session,
  startedMs,
  nowMs: Date.now,
  onChange: () => whenReady(({ presenter }) => presenter.refreshWatched()),
});
const storedAltSvc = createStoredAltSvc({
  send: (tabId, documentId, message) => chrome.tabs.sendMessage(tabId, message, { documentId }),
  later: timers.later,
  nowMs: Date.now,
});
/** Why the newest batch could not be recorded; null if it was. */
let trouble: string | null = null;
let started: Started | null = null;
let settings = DEFAULT_SETTINGS;
/** As far as the browser's setting tells; until it is read, nothing is known. */
let proxied: boolean | null = null;
onProxyMode(followProxy);
/** Whether the user lets it into every site, so that access to a single one need not be asked for. */
let everySite = false;

const link = new HelperLink({
  store,
  program: `photofinish-extension ${version}`,
  upload: async () => (await ready).upload(),
  onChange: () => whenReady(({ presenter }) => presenter.refreshWatched()),
  onNetwork: (label) => whenReady(({ steering }) => void steering?.onNetwork(label).catch(console.error)),
});
const { helper } = link;

const forecaster = createForecaster({
  ask: (site, origins) => link.forecast(site, origins),
  originsOfSite: async (site, limit) => (await ready).ledger.originsOfSite(site, limit),
  mayAsk: (origin) => recordable.mayRecord({ origin }),
  onArrived: (navigation) =>
    void ready
      .then((started) => useForecasts(navigation, { ...started, mayRecord }, link.network))
      .catch(console.error),
  nowMs: preciseNowMs,
});

function mayRecord({ tabId, origin }: Navigation): boolean {
  return recordable.mayRecord({ tabId, pageUrl: origin });
}

const gestures = createGestures(Date.now);
const tabs = createTabs({ recordable, forecaster });

const races = new Races({
  race: (order, onProgress) => link.race(order, onProgress),
  onProgress: (origin, progress) => popups.broadcast({ type: 'race-progress', origin, progress }),
  onDone: (race) =>
    void onRace(race).catch((error) => {
      console.error(error);
      onRaceFailed(race.origin, 'not-saved', getMessage('popupRaceNotKept', { why: troubleText(error) }));
    }),
  onFailed: onRaceFailed,
  onRequestsChanged: (requests) => popups.broadcast({ type: 'races', races: requests }),
  clock: { nowMs: Date.now, ...timers },
});

const inspection = createInspection({
  inOrder: (run) => whenReady(run),
  mayRecord: (tabId, origin) =>
    recordable.mayRecord({ tabId, shownNow: true, ...(origin !== undefined && { origin }) }),
  onRequests: (tabId, requests) => backfillSoon(devtoolsFeed.reported(tabId, requests)),
  onClosed: (tabId) => devtoolsFeed.forget(tabId),
});
const devtoolsFeed = createDevtoolsFeed(inspection.isInspected);

const popups = createPopupServer({
  watchRequests: inspection.watch,
  watchHelper: (listener) => link.watch(listener),
  doctor: () => helper.doctor().catch(() => null),
  wipe,
  settle: async () => (await ready).recorder.settle(),
  watch: (tabId, watcher) => {
    const ends = ready.then(({ presenter }) => [
      presenter.watch(tabId, watcher),
      onLoaded(tabId, () => presenter.refresh(tabId)),
    ]);
    return () =>
      void ends.then((all) => {
        for (const end of all) end();
      });
  },
  race(origins) {
    if (settings.raceWhen === 'never')
      for (const origin of origins) onRaceFailed(origin, 'not-allowed', getMessage('pageRacesOff'));
    else
      races.start(
        ...origins.map((origin) => ({ ...comparison(origin), share: recordable.mayShare(origin) })),
      );
  },
  raceRequests: () => races.requests,
  cancelRace: (origin) => races.cancel(origin),
  stopRaces: () => races.stop(),
  reconnectHelper: () => link.reconnect(),
  steer: async (origin, on) => (await ready).steering?.choose(origin, on, link.network),
});

const ready = start();
ready.then((parts) => {
  started = parts;
});

type Started = Awaited<ReturnType<typeof start>>;

async function start() {
  const ledger = openBackgroundLedger();
  const area = chrome.storage.session;
  const saved = savedIn(area);
  const [savedPages, savedShown, failures] = await Promise.all([
    loadSavedMap<Page>(area, 'page:', saved),
    loadSavedMap<string>(area, 'shown:', saved),
    loadSavedMap<FailedNavigation>(area, 'failed:', saved),
    link.recallNetwork(),
    loadSettings(store).then(beginRecording, recordNothing),
    proxyMode().then(followProxy, console.error),
    followAccess().catch(console.error),
    observedMode.recall(),
    loadSavedMap<number>(area, 'missed:', saved).then((counted) => table.recall(counted)),
  ]);
  const steering = await openBrowserSteering({
    store,
    advertised: ledger.advertised,
    nowMs: Date.now,
    onChange: () => whenReady(({ presenter }) => presenter.refreshWatched()),
  }).catch((error) => {
    console.error(error);
    return null;
  });
  steering?.enable(settings.steering).catch(console.error);
  steering?.expire().catch(console.error);
  const pages = new Pages(savedPages, savedShown, (page) => presenter.refresh(page.tabId));
  const presenter = new Presenter({
    ledger,
    shown: (tabId) => pages.shown(tabId),
    documentOf: (tabId) => tabs.shownDocument(tabId, failures),
    helperState: () => link.state,
    mode: () => observedMode.mode,
    trouble: () => trouble,
    pending: (page) => recorder.pendingOf(page),
    steer: steering === null ? null : (origin, advertised) => steering.view(origin, advertised),
    setToolbar,
    resetToolbar,
    later: timers.later,
  });
  const recorder = new Recorder({
    table,
    ledger,
    pages,
    fullSinceMs: () => observedMode.sinceMs,
    nowMs: Date.now,
    later: timers.later,
    network: () => link.network,
    proxied: () => proxied,
    mode: () => observedMode.mode,
    mayRecord: (subject) => recordable.mayRecord(subject),
    onRecorded: (observations) => {
      for (const { site, origin } of observations) forecaster.remember(site, [origin]);
      link.uploadSoon();
    },
    onNavigation: (navigation) => {
      if (observedMode.mode === 'light') lightVisits.reported(navigation);
    },
    devtoolsFeed,
    onBackfill: backfillSoon,
  });
  const upload = createUpload({
    ledger,
    observed: (observations) => helper.observed(observations),
    mayRecord: (subject) => recordable.mayRecord(subject),
  });
  return { ledger, pages, presenter, recorder, upload, failures, steering };
}

/** Runs synchronously if everything is ready, to avoid the delay of a promise turn; otherwise later, in order. */
function whenReady(run: (started: Started) => void): void {
  if (started !== null) run(started);
  else ready.then(run).catch(console.error);
}

/** Applies the settings to what is recorded from now on, and to the tabs that are open. */
async function beginRecording(loaded: Settings): Promise<void> {
  settings = loaded;
  recordable.follow(settings);
  const tabs = await knownTabs(settings.neverRecord.length > 0);
  // The settings may have changed meanwhile, and need the tabs' URLs now.
  if (settings !== loaded) return beginRecording(settings);
  recordable.begin(tabs);
}

/** Used when it is not known what must never be recorded. */
async function recordNothing(error: unknown): Promise<void> {
  console.error(error);
  recordable.refuseAll();
  recordable.begin(await knownTabs(false));
}

function followSettings(changed: Settings): void {
  beginRecording(changed).catch(console.error);
  const refused = (origin: Origin) => !recordable.mayRecord({ origin });
  const { raceWhen } = settings;
  races.withdraw(({ origin, reason }) =>
    reason === 'click' ? raceWhen === 'never' : raceWhen !== 'first-visit' || refused(origin),
  );
  whenReady(({ pages, presenter, steering }) => {
    steering?.enable(settings.steering).catch(console.error);
    steering?.exclude(refused).catch(console.error);
    presenter.refreshWatched();
    const emptied = pages.forget(({ tabId, origin }) => !recordable.mayRecord({ tabId, pageUrl: origin }));
    presenter.forget(emptied);
    inspection.forget(emptied);
    pages.forgetOrigins(refused);
    inspection.reconsider();
  });
}

function followProxy(mode: ProxyMode | null): void {
  proxied = proxiedBy(mode);
}

async function followAccess(): Promise<void> {
  everySite = await chrome.permissions.contains(EVERY_SITE);
}

function backfillSoon(backfilled: readonly BackfilledObservation[]): void {
  ready.then((started) => backfill(backfilled, started)).catch(console.error);
}

function setTrouble(words: string | null): void {
  if (words === trouble) return;
  trouble = words;
  void ready.then(({ presenter }) => presenter.refreshWatched());
}

function onRaceFailed(origin: Origin, code: string, message: string): void {
  popups.broadcast({ type: 'race-failed', origin, code, message });
}

async function onRace(race: OriginRace): Promise<void> {
  const { ledger, presenter, steering } = await ready;
  await ledger.saveRace(race, Date.now());
  if (race.network !== '') link.setNetwork(race.network);
  presenter.refreshWatched();
  if (steering === null) return;
  const site = siteOfHost(originParts(race.origin).host);
  await steering.forecast(await link.forecast(site, [race.origin]), link.network, true);
  presenter.refreshWatched();
}

observeRequests({
  ended(request) {
    observedMode.eventArrived();
    // A background that was woken up by this very answer does not know yet what must not be recorded.
    whenReady(({ steering }) => {
      if (!recordable.mayRecord({ request, shownNow: true })) return;
      table.add(asServed(request, steering));
      const answer = responseOf(request);
      if (answer !== null) steering?.answered(answer);
      batchQueue.sweepSoon();
    });
  },
  visited(visited) {
    if (settings.raceWhen === 'first-visit' || started === null)
      whenReady(() => onVisited(visited).catch(console.error));
  },
  navigationRedirected: askForecast,
});

const onVisited = createVisits({
  recordable,
  settings: () => settings,
  helperReady: () => link.settled(),
  ledger: async () => (await ready).ledger,
  race: (order) => races.start(order),
  gestures,
  mayRacePageInitiated: createPageInitiated(chrome.storage.session),
});

const lightVisits = createLightVisits((visited) => void onVisited(visited).catch(console.error));

observeNavigations({
  begun(tabId, frameId, url) {
    gestures.begun(tabId);
    askForecast(tabId, frameId, url);
  },
  committed(document) {
    lightVisits.committed(document);
    if (document.parentDocumentId === null && !document.prerender) gestures.committed(document.tabId);
    whenReady((started) => {
      tabs.committed(document, started);
      if (document.parentDocumentId === null && table.committed(document.tabId, document.url))
        started.recorder.recordDue().catch(console.error);
    });
  },
  failed(tabId, frameId, failure) {
    whenReady(() => forecaster.fail(tabId, frameId));
    void ready.then((started) => tabs.failed(tabId, failure, started)).catch(console.error);
  },
  unloaded(tabId, successorId) {
    if (successorId === null)
      whenReady(({ pages, presenter }) => presenter.forget(pages.forget((page) => page.tabId === tabId)));
    else {
      recordable.tabCreated(successorId, recordable.isPrivateTab(tabId));
      tabRemoved(tabId);
    }
  },
});

/** Asks the helper about a page that is about to be loaded. */
function askForecast(tabId: number, frameId: number, url: string): void {
  whenReady(() => {
    if (!recordable.mayRecord({ tabId, pageUrl: url })) return;
    // Navigations are reported without access too.
    if (everySite) forecaster.navigate(tabId, frameId, url);
    else
      hasAccessInTab(tabId, url)
        .then((has) => has && forecaster.navigate(tabId, frameId, url))
        .catch(console.error);
  });
}

chrome.tabs.onCreated.addListener(({ id, incognito, openerTabId }) => {
  if (id === undefined) return;
  recordable.tabCreated(id, incognito);
  gestures.opened(id, openerTabId);
});

function tabRemoved(tabId: number): void {
  recordable.tabRemoved(tabId);
  gestures.removed(tabId);
  whenReady(() => forecaster.removed(tabId));
  whenReady((started) => tabs.removed(tabId, started));
}

chrome.tabs.onRemoved.addListener(tabRemoved);

const batchQueue = openBatchQueue({
  recorder: async () => (await ready).recorder,
  knownDocuments: async () => {
    const { pages } = await ready;
    return {
      isPage: (documentId) => pages.get(documentId) !== undefined,
      pageOrigin: (documentId) => pages.of(documentId)?.origin,
      tabUrl: async (tabId) => (await documentOfTab(tabId))?.url ?? null,
      hasAccess: async (tabId, url) => everySite || hasAccessInTab(tabId, url),
    };
  },
  recordable,
  table,
  // With its developer tools open, every attempt to read from the cache would be listed there. A frame may be of an
  // excluded site.
  completed: async (batch, sender) =>
    observedMode.mode === 'full' ||
    inspection.isInspected(sender.tabId) ||
    !recordable.mayRecord({ pageUrl: sender.url })
      ? batch
      : storedAltSvc(batch, sender),
  onTrouble: setTrouble,
  onTouched: gestures.touch,
  onArrived: (tabId, documentId, arrival) =>
    whenReady(({ pages }) => pages.arrived(tabId, documentId, arrival)),
});

chrome.runtime.onConnect.addListener((connected) => {
  const own = connected.sender !== undefined && isOwnPage(connected.sender);
  if (connected.name === POPUP_PORT && own) popups.accept(connected);
  if (connected.name === DEVTOOLS_PORT && own) inspection.accept(connected);
});

chrome.permissions.onRemoved.addListener((removed) => {
  if (seesRequests(removed)) observedMode.lost();
  followAccess().catch(console.error);
});

chrome.permissions.onAdded.addListener(({ origins = [] }) => {
  followAccess().catch(console.error);
  // What was loaded without access reports nothing afterwards either, until it is reloaded.
  if (origins.length > 0)
    whenReady(({ pages, presenter }) => presenter.forget(pages.forget((page) => !isReported(page))));
});

chrome.alarms.onAlarm.addListener(({ name }) => {
  if (name === STEER_ALARM) ready.then(({ steering }) => steering?.expire()).catch(console.error);
});

/** Deletes everything, including the helper's cache if a helper answers. */
async function wipe(): Promise<number | null> {
  const { ledger, pages, presenter, recorder, steering, upload } = await ready;
  races.discard();
  await ledger.wipe();
  presenter.forget(pages.clear());
  // A page that failed to load shows what a race of its host found.
  presenter.refreshWatched();
  inspection.forget();
  forecaster.forget();
  recorder.forget();
  // So are batches that pages left behind.
  await takeLeft(chrome.storage.session, async () => {});
  await chrome.storage.session.remove(PAGE_INITIATED_KEY);
  await steering?.wipe();
  // Uploads in progress must finish before the helper's own wipe: arriving later, they would restore deleted data.
  await upload().catch(() => {});
  const wiped = await helper.wipe().catch(() => null);
  // Last, because until the helper's names are gone they would be adopted again.
  await forgetNames(store);
  return wiped;
}

/** Only once automatically: browsers report an installation each time an extension is loaded from a folder. */
async function openWelcome(): Promise<void> {
  if ((await loadSettings(store)).welcomed) return;
  await chrome.tabs.create({ url: chrome.runtime.getURL('welcome/welcome.html') });
  await changeSettings(store, { welcomed: true });
}

chrome.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === 'install') openWelcome().catch(console.error);
});
lockStorage().catch(console.error);
onSettings(store, followSettings);
batchQueue.takeLeftSoon();
pruneHourly(async () => (await ready).ledger.prune(Date.now(), settings.retentionDays));
