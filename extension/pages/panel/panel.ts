// The panel of the developer tools: every request of the inspected tab by origin, with its real protocol, and the
// background's view of each origin. Opened as `panel.html?tab=ID` it shows that tab, wherever its tools are open.
import '../../common/catalog.ts';
import type { Origin } from '@photofinish/shared/web/origin';
import { browserLabel, browserVersion, soon } from '../../common/browser.ts';
import { getMessage } from '../../common/catalog.ts';
import type { InspectedRequest } from '../../common/inspected-request.ts';
import { MAX_REQUESTS, type PageView } from '../../common/messages.ts';
import { withDelta } from '../../common/page/delta.ts';
import { type BackgroundPort, connectBackground } from '../ui/background-port.ts';
import { arrange, byId, make, setText } from '../ui/elements.ts';
import { capitalSentence } from '../ui/format.ts';
import type { RaceFailure } from '../ui/origin.ts';
import { writeMessages } from '../ui/page-messages.ts';
import { nextSorting, type SortOrder } from '../ui/sorting.ts';
import { type Group, groupsOf, NUMBER_KEYS, passes, type SortKey, sortGroups, sumOf } from './groups.ts';
import { conditionsText, emptyText, type GroupRow, makeGroupRow, summaryText } from './request-rows.ts';

/** A burst of events is drawn once. */
const DRAW_MS = 50;

/** Absent when the panel is opened in a browser tab. */
const tools = chrome.devtools as typeof chrome.devtools | undefined;
const tabId = inspectedTab();
const rows = new Map<Origin, GroupRow>();
/** Origins that the user opened; they stay open across navigations. */
const opened = new Set<Origin>();
let requests: InspectedRequest[] = [];
let inspected = tools !== undefined;
let page: PageView | null = null;
/** Origins being raced; below, why the last race of other origins produced no result. */
let racing: ReadonlySet<Origin> = new Set();
const failures = new Map<Origin, RaceFailure>();
let background: BackgroundPort | null = null;
let browser = browserLabel();
let sorting: SortOrder<SortKey> | null = null;

function inspectedTab(): number | null {
  if (tools !== undefined) return tools.inspectedWindow.tabId;
  const tab = new URLSearchParams(location.search).get('tab');
  return tab === null || !/^\d+$/.test(tab) ? null : Number(tab);
}

const openOptions = (): void => void chrome.runtime.openOptionsPage();

const filter = () => ({
  query: byId<HTMLInputElement>('filter').value.trim().toLowerCase(),
  notH3: byId<HTMLInputElement>('not-h3').checked,
});

const drawSoon = soon(DRAW_MS, draw);

function rowOf(origin: Origin): GroupRow {
  const known = rows.get(origin);
  if (known !== undefined) return known;
  const row = makeGroupRow(origin, {
    onToggle(open) {
      if (open) opened.add(origin);
      else opened.delete(origin);
    },
    onRace: () => race(origin),
    onOptions: openOptions,
  });
  rows.set(origin, row);
  return row;
}

function drawRows(groups: readonly Group[]): void {
  const views = new Map(page?.origins.map((view) => [view.origin, view]));
  const wanted = new Set(groups.map(({ origin }) => origin));
  for (const origin of rows.keys()) if (!wanted.has(origin)) rows.delete(origin);
  const bodies = groups.map((group) => {
    const { origin } = group;
    const row = rowOf(origin);
    row.update({
      group,
      view: views.get(origin) ?? null,
      sorting,
      racing: racing.has(origin),
      failure: failures.get(origin) ?? null,
      helper: page?.helper ?? { state: 'connecting' },
    });
    row.setOpen(opened.has(origin));
    return row.body;
  });
  arrange(byId('table'), 'tbody', bodies);
}

function race(origin: Origin): void {
  failures.delete(origin);
  background?.send({ type: racing.has(origin) ? 'cancel-race' : 'race', origin });
}

function drawSummary(shown: number): void {
  const { share, rest } = summaryText(sumOf(requests));
  const parts = [...rest];
  if (shown < requests.length) parts.push(getMessage('devtoolsShown', { shown, count: requests.length }));
  byId('summary').replaceChildren(
    make('strong', '', share),
    ...parts.map((words) => make('span', '', words)),
  );
  byId('summary').title = sumOf(requests).unknown === 0 ? '' : getMessage('devtoolsUnknownWhy');
}

function drawEmpty(): void {
  const { text, reload, options } = emptyText(inspected, tabId, page);
  setText(byId('empty-words'), text);
  byId('reload').hidden = !reload || tools === undefined;
  byId('options').hidden = !options;
}

function draw(): void {
  const passed = requests.filter((request) => passes(request, filter()));
  const empty = requests.length === 0;
  drawRows(sortGroups(groupsOf(passed), sorting, page?.origin ?? null));
  byId('empty').hidden = !empty;
  byId('table').hidden = passed.length === 0;
  byId('no-match').hidden = empty || passed.length > 0;
  byId('summary').hidden = empty;
  if (empty) drawEmpty();
  else drawSummary(passed.length);
  setText(byId('conditions'), conditionsText(page, browser).join(' · '));
  for (const header of document.querySelectorAll<HTMLElement>('th[data-sort]')) {
    if (sorting !== null && header.dataset['sort'] === sorting.key)
      header.setAttribute('aria-sort', sorting.direction);
    else header.removeAttribute('aria-sort');
  }
}

/** Arrow keys move between origins, and open and close them, as in the browsers' own trees. */
function onKey(event: KeyboardEvent): void {
  const openers = [...document.querySelectorAll<HTMLElement>('#table .opener')];
  const at = openers.indexOf(document.activeElement as HTMLElement);
  const opener = openers[at];
  if (opener === undefined) return;
  const isOpen = opener.getAttribute('aria-expanded') === 'true';
  const forward = document.documentElement.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
  const backward = forward === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft';
  if (event.key === 'ArrowDown') openers[at + 1]?.focus();
  else if (event.key === 'ArrowUp') openers[at - 1]?.focus();
  else if ((event.key === forward && !isOpen) || (event.key === backward && isOpen)) opener.click();
  else return;
  event.preventDefault();
}

function wire(): void {
  byId('filter').addEventListener('input', drawSoon);
  byId('not-h3').addEventListener('change', drawSoon);
  byId('table').addEventListener('keydown', onKey);
  byId('reload').addEventListener('click', () => tools?.inspectedWindow.reload({}));
  byId('options').addEventListener('click', openOptions);
  for (const header of document.querySelectorAll<HTMLElement>('th[data-sort]'))
    header.addEventListener('click', () => {
      sorting = nextSorting(sorting, header.dataset['sort'] as SortKey, NUMBER_KEYS);
      drawSoon();
    });
}

function watch(tab: number): void {
  background = connectBackground({
    onOpen: (port) => void port.send({ type: 'watch', tabId: tab }),
    onLost() {
      racing = new Set();
      drawSoon();
    },
    onEvent(event) {
      if (event.type === 'page') page = event.page;
      else if (event.type === 'page-delta' && page !== null) page = withDelta(page, event.delta);
      else if (event.type === 'races') {
        racing = new Set(event.races.filter(({ state }) => state !== 'over').map(({ origin }) => origin));
        // Also races that the popup requested.
        for (const origin of racing) failures.delete(origin);
      } else if (event.type === 'race-progress') failures.delete(event.origin);
      else if (event.type === 'race-failed')
        failures.set(event.origin, {
          message: capitalSentence(event.message),
          byOptions: event.code === 'not-allowed',
        });
      else return;
      drawSoon();
    },
  });
  connectBackground({
    onOpen: (port) => void port.send({ type: 'watch-requests', tabId: tab }),
    onEvent(event) {
      if (event.type !== 'requests') return;
      requests = (event.anew ? [] : requests).concat(event.requests).slice(-MAX_REQUESTS);
      inspected = event.inspected;
      drawSoon();
    },
  });
}

writeMessages();
if (tools !== undefined) followToolsTheme();
wire();
draw();
if (tabId !== null) watch(tabId);
void browserVersion().then((version) => {
  browser = browserLabel(version);
  drawSoon();
});

// The developer tools have a theme of their own, which may differ from the system's: the panel uses theirs.

/** The theme's name in the browser: `dark`, and several names for light. */
type ThemeName = string;

interface ThemedPanels {
  readonly themeName: ThemeName;
  /** Chromium. */
  setThemeChangeHandler?(changed: (name: ThemeName) => void): void;
  /** Firefox. */
  readonly onThemeChanged?: { addListener(changed: (name: ThemeName) => void): void };
}

/** Rules in the page's styles for the system's dark theme. */
function darkRules(): CSSMediaRule[] {
  return [...document.styleSheets].flatMap((sheet) =>
    [...sheet.cssRules].filter(
      (rule): rule is CSSMediaRule =>
        rule instanceof CSSMediaRule && rule.media.mediaText.includes('prefers-color-scheme: dark'),
    ),
  );
}

/** Follows the theme of the developer tools from now on. */
function followToolsTheme(): void {
  const panels = chrome.devtools.panels as unknown as ThemedPanels;
  const rules = darkRules();
  const wear = (name: ThemeName): void => {
    const dark = name === 'dark';
    for (const rule of rules) rule.media.mediaText = dark ? 'screen' : 'not all';
    document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
  };
  wear(panels.themeName);
  panels.setThemeChangeHandler?.(wear);
  panels.onThemeChanged?.addListener(wear);
}
