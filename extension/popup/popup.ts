// The popup's entry: which tab, the port to the background, and who draws what. `popup.html?tab=ID` shows the tab of
// that id instead of the active one, so that the popup can also live in a tab of its own.
import type { Origin } from '@photofinish/shared/origin';
import type { PageView, PopupEvent } from '../messages.ts';
import { byId, setText } from '../ui/elements.ts';
import { renderAnswer } from './answer.ts';
import { type Connection, connect } from './connection.ts';
import { failReport, renderExport, resumeExports, saveReport, wireExport } from './export.ts';
import { type Running, renderFinish } from './finish.ts';
import { NO_ANSWER } from './format.ts';
import { renderHelper, wireHelper } from './helper.ts';
import { NO_PROGRESS, progressed } from './live.ts';
import { renderOrigins, wireSorting } from './origins.ts';

/** A background starts in well under a second; one that says nothing for so long is not going to. */
const SILENCE_MS = 5000;

const running = new Map<Origin, Running>();
const failures = new Map<Origin, string>();
let page: PageView | null = null;

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

function start(origin: Origin): Running {
  failures.delete(origin);
  const begun = { live: NO_PROGRESS, beforeMs: racedAt(origin), cancelling: false };
  running.set(origin, begun);
  return begun;
}

/** A race newer than the one known at the start is the result; the lanes then stop moving. */
function settle(): void {
  for (const [origin, race] of running) {
    const atMs = racedAt(origin);
    if (atMs !== null && atMs !== race.beforeMs) running.delete(origin);
  }
}

function askReport(connection: Connection): (id: number, site: string | null) => void {
  return (id, site) => connection.send({ type: 'report', id, sites: site === null ? null : [site] });
}

function offerReports(connection: Connection, site: string | null): void {
  renderExport(site, askReport(connection));
}

function draw(connection: Connection): void {
  if (page === null) return;
  const board = { running, failures };
  const pressed = (origin: Origin): void => race(connection, origin);
  byId('view').setAttribute('aria-busy', String(page.state === 'loading'));
  renderAnswer(page);
  setText(byId('trouble'), page.trouble ?? '');
  byId('trouble').hidden = page.trouble === null;
  renderFinish(page, board);
  renderOrigins(page, board, pressed);
  renderHelper(page.helper);
  offerReports(connection, page.site);
}

function race(connection: Connection, origin: Origin): void {
  const current = running.get(origin);
  if (current) {
    running.set(origin, { ...current, cancelling: true });
    connection.send({ type: 'cancel-race', origin });
  } else {
    start(origin);
    connection.send({ type: 'race', origin });
  }
  draw(connection);
}

function onEvent(connection: Connection, event: PopupEvent): void {
  switch (event.type) {
    case 'page':
      page = event.page;
      settle();
      break;
    case 'race-progress': {
      const current = running.get(event.origin) ?? start(event.origin);
      running.set(event.origin, { ...current, live: progressed(current.live, event.progress) });
      break;
    }
    case 'race-failed': {
      const cancelled = running.get(event.origin)?.cancelling || event.code === 'cancelled';
      running.delete(event.origin);
      failures.set(event.origin, cancelled ? 'The race was cancelled' : event.message);
      break;
    }
    case 'report':
      saveReport(event.id, event.report);
      return;
    case 'report-failed':
      failReport(event.id, event.message);
      return;
  }
  draw(connection);
}

function onLost(connection: Connection): void {
  for (const origin of running.keys()) failures.set(origin, 'The background restarted during the race');
  running.clear();
  draw(connection);
}

async function open(): Promise<void> {
  const tabId = await tabToWatch();
  const connection: Connection = connect(
    tabId,
    (event) => onEvent(connection, event),
    () => onLost(connection),
    () => resumeExports(askReport(connection)),
  );
  setTimeout(() => {
    if (page !== null) return;
    setText(byId('verdict'), NO_ANSWER);
    byId('view').setAttribute('aria-busy', 'false');
  }, SILENCE_MS);
  offerReports(connection, null);
  wireSorting(() => draw(connection));
  wireHelper(() => connection.send({ type: 'reconnect-helper' }));
  byId('race').addEventListener('click', () => {
    if (page?.origin) race(connection, page.origin);
  });
}

wireExport();
// Only Firefox lets an extension steer; its pages have another scheme.
byId('inform').hidden = location.protocol === 'moz-extension:';
void open();
