// The popup's entry: chooses the tab, opens the port to the background, and dispatches to the parts that draw.
// `popup.html?tab=ID` shows the tab of that id instead of the active one, so that the popup can also run in a browser
// tab.

import type { Origin } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import type { HelperState, PageView, PopupEvent, RaceRequest } from '../../common/messages.ts';
import { withDelta } from '../../common/page/delta.ts';
import { EVERY_SITE } from '../../common/permissions.ts';
import { type BackgroundPort, connectBackground } from '../ui/background-port.ts';
import { byId, setAttribute, setLine, setText } from '../ui/elements.ts';
import { environment, fixCommand, renderCommand } from '../ui/helper-panel.ts';
import type { RaceFailure } from '../ui/origin.ts';
import { type HelperFix, helperText, type Remedy } from '../ui/origin-state-text.ts';
import { writeMessages } from '../ui/page-messages.ts';
import { renderExport, wireExport } from './export.ts';
import {
  fitDrawings,
  NO_PROGRESS,
  progressed,
  type RaceBoard,
  type RaceInView,
  renderFinish,
} from './finish.ts';
import { filterOrigins, redrawRows, renderOrigins, renderTools, wireOrigins, wireTools } from './origins.ts';
import type { RowContext } from './row.ts';
import { renderSteer, renderSummary, wireHidden, wireRemedy, wireSteer } from './summary.ts';

/** A background starts in well under a second; after this long without a message it is not going to. */
const SILENCE_MS = 5000;

const running = new Map<Origin, RaceInView>();
const failures = new Map<Origin, RaceFailure>();
/** Races that the user requested, in this popup or an earlier one. */
let raceRequests: readonly RaceRequest[] = [];
let waiting: ReadonlySet<Origin> = new Set();
let page: PageView | null = null;
/** What the steering button last requested, until the page shows it: a background that ends meanwhile forgets it. */
let steering: { readonly origin: Origin; readonly on: boolean } | null = null;
/** The browser's message about the last click on the steering button. */
let steerFailure: string | null = null;

async function tabToWatch(): Promise<number> {
  const named = Number(new URLSearchParams(location.search).get('tab'));
  if (Number.isInteger(named) && named > 0) {
    document.documentElement.classList.add('in-tab');
    return named;
  }
  const [active] = await chrome.tabs.query({ active: true, currentWindow: true });
  return active?.id ?? chrome.tabs.TAB_ID_NONE;
}

function racedAt(origin: Origin): number | null {
  return page?.origins.find((view) => view.origin === origin)?.race?.atMs ?? null;
}

function start(origin: Origin): RaceInView {
  failures.delete(origin);
  const begun = { live: NO_PROGRESS, beforeMs: racedAt(origin), cancelling: false };
  running.set(origin, begun);
  return begun;
}

/**
 * A race newer than the one known at the start is the result; the lanes then stop moving. Returns the origins of such
 * races.
 */
function settle(): Origin[] {
  const settled = [...running].filter(([origin, race]) => {
    const atMs = racedAt(origin);
    return atMs !== null && atMs !== race.beforeMs;
  });
  for (const [origin] of settled) running.delete(origin);
  return settled.map(([origin]) => origin);
}

const board = (): RaceBoard => ({ running, waiting, failures });
const openOptions = (): void => void chrome.runtime.openOptionsPage();

/** The context in which rows are drawn, evaluated when they are drawn. */
function rowContext(port: BackgroundPort): () => RowContext {
  return () => ({
    page: page ?? { origin: null, helper: { state: 'connecting' }, mode: 'full' },
    board: board(),
    onRace: (origin) => race(port, origin),
    onOptions: openOptions,
  });
}

/** A new or changed view. */
function drawPage(port: BackgroundPort, shown: PageView, before: PageView | null): void {
  document.documentElement.classList.remove('waiting');
  setAttribute(byId('view'), 'aria-busy', String(shown.state === 'loading'));
  renderSummary(shown);
  setLine(byId('trouble'), shown.trouble ?? '');
  renderFinish(shown, board());
  renderSteer(shown, steerFailure);
  renderOrigins(shown, rowContext(port));
  renderTools(shown, raceRequests);
  renderExport(shown.site);
  if (before?.helper === shown.helper) return;
  renderHelper(shown.helper);
  if (before !== null) redrawRows(null, rowContext(port));
}

/** Races began, progressed or ended: the page did not change. */
function drawRaces(port: BackgroundPort, origins: Iterable<Origin> | null): void {
  if (page === null) return;
  renderFinish(page, board());
  redrawRows(origins, rowContext(port));
}

/** Races whose end will not be reported. */
function lose(origins: readonly Origin[]): void {
  for (const origin of origins) {
    running.delete(origin);
    failures.set(origin, { message: getMessage('popupRaceLost'), byOptions: false });
  }
}

function race(port: BackgroundPort, origin: Origin): void {
  const current = running.get(origin);
  if (current) {
    running.set(origin, { ...current, cancelling: true });
    port.send({ type: 'cancel-race', origin });
  } else {
    start(origin);
    // While the background is restarting, nothing receives the message.
    if (!port.send({ type: 'race', origin })) lose([origin]);
  }
  drawRaces(port, [origin]);
}

function show(port: BackgroundPort, next: PageView): void {
  const before = page;
  page = next;
  if (steering?.origin !== next.origin || steering.on === (next.steer?.chosen ?? false)) steering = null;
  const settled = settle();
  drawPage(port, next, before);
  if (settled.length > 0) drawRaces(port, settled);
}

function onEvent(port: BackgroundPort, event: PopupEvent): void {
  switch (event.type) {
    case 'page':
      show(port, event.page);
      break;
    case 'page-delta':
      if (page !== null) show(port, withDelta(page, event.delta));
      break;
    case 'race-progress': {
      const current = running.get(event.origin) ?? start(event.origin);
      running.set(event.origin, { ...current, live: progressed(current.live, event.progress) });
      drawRaces(port, [event.origin]);
      break;
    }
    case 'race-failed': {
      // Of many races requested at once, those that never began are not reported.
      if (running.delete(event.origin) || event.code !== 'cancelled')
        failures.set(event.origin, { message: event.message, byOptions: event.code === 'not-allowed' });
      drawRaces(port, [event.origin]);
      break;
    }
    case 'races': {
      raceRequests = event.races;
      waiting = new Set(raceRequests.filter(({ state }) => state === 'waiting').map(({ origin }) => origin));
      for (const { origin, state } of raceRequests)
        if (state === 'racing' && page !== null && !running.has(origin)) start(origin);
      drawRaces(
        port,
        raceRequests.map(({ origin }) => origin),
      );
      if (page !== null) renderTools(page, raceRequests);
      break;
    }
    case 'steer-failed':
      steering = null;
      steerFailure = event.message;
      if (page !== null) renderSteer(page, steerFailure);
      break;
  }
}

function onLost(port: BackgroundPort): void {
  // Nothing is left that would start them; a background that still runs reports them when the port reopens.
  raceRequests = [];
  waiting = new Set();
  if (page !== null) renderTools(page, raceRequests);
  const lost = [...running.keys()];
  lose(lost);
  drawRaces(port, null);
}

function openTab(path: string): void {
  void chrome.tabs.create({ url: chrome.runtime.getURL(path) });
}

async function runRemedy(remedy: Remedy, tabId: number): Promise<void> {
  // The request must come first: browsers accept it only synchronously in the click handler.
  if (remedy === 'access' && !(await chrome.permissions.request(EVERY_SITE))) return;
  if (remedy === 'options') openOptions();
  else await chrome.tabs.reload(tabId);
}

function wireFoot(): void {
  wireExport();
  byId('options').addEventListener('click', openOptions);
  byId('dashboard').addEventListener('click', (event) => {
    event.preventDefault();
    const site = page?.site ?? null;
    openTab(`dashboard/dashboard.html${site === null ? '' : `?site=${encodeURIComponent(site)}`}`);
  });
}

async function renderFix(command: HelperFix['command']): Promise<void> {
  renderCommand(byId('helper-command'), fixCommand(command, await environment()));
}

/** The helper's state: a dot with text in the footer, and if it is missing, what to do. Recording continues. */
function renderHelper(helper: HelperState): void {
  const words = helperText(helper);
  setText(byId('helper-label'), words.label);
  setAttribute(byId('helper'), 'title', words.title);
  setAttribute(byId('helper-dot'), 'class', `dot ${words.dot}`);
  byId('helper-help').hidden = words.help === null;
  if (words.help === null) return;
  setText(byId('helper-what'), words.help.what);
  byId('helper-retry').hidden = helper.state === 'not-asked';
  void renderFix(words.help.command);
}

async function open(): Promise<void> {
  const watched = tabToWatch();
  writeMessages();
  writeMessages(byId<HTMLTemplateElement>('row').content);
  // What needs no tab can be used at once.
  wireFoot();
  renderExport(null);
  const tabId = await watched;
  const port = connectBackground({
    onOpen(opened) {
      opened.send({ type: 'watch', tabId });
      if (steering !== null) opened.send({ type: 'steer', ...steering });
    },
    onEvent: (event) => onEvent(port, event),
    onLost: () => onLost(port),
  });
  setTimeout(() => {
    if (page !== null) return;
    setText(byId('verdict'), getMessage('popupNoAnswer'));
    byId('view').setAttribute('aria-busy', 'false');
  }, SILENCE_MS);
  byId('helper-set-up').addEventListener('click', () => openTab('welcome/welcome.html'));
  byId('helper-retry').addEventListener('click', () => void port.send({ type: 'reconnect-helper' }));
  wireRemedy((remedy) => void runRemedy(remedy, tabId).catch(console.error));
  wireSteer((on) => {
    steerFailure = null;
    if (!page?.origin) return;
    steering = { origin: page.origin, on };
    port.send({ type: 'steer', ...steering });
  }, openOptions);
  wireHidden();
  wireOrigins(rowContext(port));
  wireTools({
    onFilter(text) {
      filterOrigins(text, rowContext(port));
      if (page !== null) renderTools(page, raceRequests);
    },
    onRaceAll: (origins) => void port.send({ type: 'race-all', origins }),
    onStop: () => void port.send({ type: 'stop-races' }),
  });
  byId('finish-options').addEventListener('click', openOptions);
  if (document.documentElement.classList.contains('in-tab')) fitDrawings(() => drawRaces(port, null));
  byId('race').addEventListener('click', () => {
    if (page?.origin) race(port, page.origin);
  });
}

void open();
