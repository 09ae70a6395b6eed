// The table of the page's origins: a row for each, or one for several of a site, sortable; a row opens its verdict,
// findings and race. Rows are kept and only those of changed origins are rewritten, so that an update is fast, closes
// no row and moves no focus. Rows far below the visible part are created when the browser is idle.

import { formatNumber } from '@photofinish/shared/language/catalog';
import { requestsIn } from '@photofinish/shared/report/adoption';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { Origin } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import type { OriginView, PageView, RaceRequest } from '../../common/messages.ts';
import { arrange, byId, make, setAttribute, setText } from '../ui/elements.ts';
import { forecastText, typedHost } from '../ui/format.ts';
import { writeHost } from '../ui/origin.ts';
import { nextSorting, type SortOrder } from '../ui/sorting.ts';
import { type RaceBoard, raceState } from './finish.ts';
import {
  type Line,
  linesOf,
  MANY_ORIGINS,
  matching,
  NUMBER_KEYS,
  type SiteLine,
  type SiteSummary,
  SORT_KEYS,
  type SortKey,
} from './lines.ts';
import {
  COLUMNS,
  isOpen,
  type LineParts,
  makeLine,
  makeRow,
  type Row,
  type RowContext,
  spanColumns,
  updateRow,
  writeCells,
} from './row.ts';
import { wireTooltip } from './tooltip.ts';

/** More than the popup shows at once; the same number is added at each idle moment. */
const LINES_AT_ONCE = 100;

const rows = new Map<Origin, Row>();
const siteRows = new Map<string, SiteRow>();
const opened = new Set<string>();
let sorting: SortOrder<SortKey> | null = null;
let query = '';
let shown: readonly OriginView[] = [];
let own: Origin | null = null;
let limit = LINES_AT_ONCE;
let idle = false;
/** Whether a race of one of the page's origins is waiting or running. */
let racing = false;

function showSorting(): void {
  for (const key of SORT_KEYS) {
    const header = document.querySelector(`th[data-sort="${key}"]`);
    if (header) setAttribute(header, 'aria-sort', sorting?.key === key ? sorting.direction : 'none');
  }
}

/** Hides columns that are empty for all origins. */
function showColumns(table: HTMLElement, board: RaceBoard): void {
  const filled = {
    requests: shown.some(({ counts }) => requestsIn(counts) > 0),
    forecast: shown.some((view) => forecastText(view).result !== 'none'),
    race: shown.some((view) => view.race !== null || raceState(board, view.origin) !== null),
  };
  for (const [column, isFilled] of Object.entries(filled)) table.classList.toggle(`no-${column}`, !isFilled);
  const hiddenCount = Object.values(filled).filter((isFilled) => !isFilled).length;
  spanColumns(rows.values(), COLUMNS - hiddenCount);
}

function bodyOf(line: Line, rowContext: () => RowContext): HTMLElement {
  if ('summary' in line) {
    const { site } = line.summary;
    const known = siteRows.get(site);
    const row = known ?? makeSiteRow(site, () => toggleSite(site, rowContext));
    siteRows.set(site, row);
    updateSiteRow(row, line, rowContext());
    return row.body;
  }
  const known = rows.get(line.view.origin);
  const row = known ?? makeRow(line.view, rowContext);
  rows.set(line.view.origin, row);
  if (known?.view !== line.view || known === undefined) updateRow(row, line.view, rowContext());
  row.body.classList.toggle('within', line.within);
  return row.body;
}

/** Draws the rows that are due; the others follow automatically. */
function draw(rowContext: () => RowContext): void {
  const lines = linesOf(shown, { own, query, sorting, opened });
  const table = byId('origin-table');
  arrange(
    table,
    'tbody',
    lines.slice(0, limit).map((line) => bodyOf(line, rowContext)),
  );
  table.hidden = lines.length === 0;
  showSorting();
  showColumns(table, rowContext().board);
  if (lines.length <= limit || idle) return;
  idle = true;
  requestIdleCallback(() => {
    idle = false;
    limit += LINES_AT_ONCE;
    draw(rowContext);
  });
}

function toggleSite(site: string, rowContext: () => RowContext): void {
  if (!opened.delete(site)) opened.add(site);
  draw(rowContext);
}

function rowOf(target: EventTarget | null): Row | null {
  const body = target instanceof Element ? target.closest<HTMLElement>('tbody[data-origin]') : null;
  // An open row shows its verdict already.
  const row = rows.get((body?.dataset['origin'] ?? '') as Origin);
  return row === undefined || isOpen(row) ? null : row;
}

/** Makes the column headers sort and the rows show their verdicts on hover and focus. */
export function wireOrigins(rowContext: () => RowContext): void {
  for (const key of SORT_KEYS)
    document.querySelector(`th[data-sort="${key}"] button`)?.addEventListener('click', () => {
      sorting = nextSorting(sorting, key, NUMBER_KEYS);
      draw(rowContext);
    });
  wireTooltip(byId('origin-table'), (target) => {
    const row = rowOf(target);
    return row === null
      ? null
      : { place: row.body, describes: row.opener, text: verdictText(row.view.verdict) };
  });
}

/** Shows only origins whose host contains the text. */
export function filterOrigins(text: string, rowContext: () => RowContext): void {
  query = typedHost(text);
  draw(rowContext);
}

function hasTools({ origins }: Pick<PageView, 'origins'>): boolean {
  return origins.length >= MANY_ORIGINS;
}

/** The origins that pass the filter. */
function filtered(): readonly OriginView[] {
  return matching(shown, query);
}

/** Redraws rows that depend on more than their view: those of these origins, or all. */
export function redrawRows(origins: Iterable<Origin> | null, rowContext: () => RowContext): void {
  const now = rowContext();
  for (const origin of origins ?? rows.keys()) {
    const row = rows.get(origin);
    if (row !== undefined) updateRow(row, row.view, now);
  }
  if (siteRows.size > 0) draw(rowContext);
  else showColumns(byId('origin-table'), now.board);
}

/** The table of the page's origins. Rows of unchanged origins, recognised by object identity, are left alone. */
export function renderOrigins(page: PageView, rowContext: () => RowContext): void {
  // A page that failed to load has only one origin, and the summary above says everything about it.
  byId('origins').hidden = page.origins.length === 0 || page.state === 'failed';
  if (page.origins === shown && page.origin === own) return;
  shown = page.origins;
  own = page.origin;
  // Origins left out by a field that is not shown would be missing without a visible reason.
  if (!hasTools(page)) {
    query = '';
    byId<HTMLInputElement>('filter').value = '';
  }
  const here = new Set(shown.map((view) => view.origin));
  for (const origin of rows.keys()) if (!here.has(origin)) rows.delete(origin);
  draw(rowContext);
}

// The row of a site whose origins are folded into it: what they have in common, and their number.

interface SiteRow extends LineParts {
  readonly count: HTMLElement;
}

/** A row for a site; `onToggle` is called when the user opens or closes it. */
function makeSiteRow(site: string, onToggle: () => void): SiteRow {
  const line = makeLine();
  const { body, main, opener, host } = line;
  body.dataset['site'] = site;
  body.classList.add('site');
  writeHost(host, site, site);
  const twist = make('span', 'twist');
  twist.setAttribute('aria-hidden', 'true');
  host.before(twist);
  const count = make('span', 'tag count');
  opener.after(count);
  main.addEventListener('click', onToggle);
  return { ...line, count };
}

function raceCell({ views, raced }: SiteSummary, board: RaceBoard): string {
  const states = new Set(views.map(({ origin }) => raceState(board, origin)));
  if (states.has('racing')) return getMessage('popupRacing');
  if (states.has('waiting')) return getMessage('popupRaceWaiting');
  return raced === 0 ? '–' : getMessage('popupSiteRaced', { count: raced });
}

/** Updates the site's row. */
function updateSiteRow(row: SiteRow, { summary, open }: SiteLine, { board, page }: RowContext): void {
  const { protocol, reason, counts, forecast, views, site } = summary;
  const origins = getMessage('popupSiteOrigins', { count: views.length });
  setText(row.count, formatNumber(views.length));
  setAttribute(row.count, 'title', origins);
  setAttribute(row.opener, 'aria-label', `${site}, ${origins}`);
  setAttribute(row.opener, 'aria-expanded', String(open));
  const scored = { result: forecast, text: forecast === 'none' ? '–' : '', title: '' } as const;
  const race = { text: raceCell(summary, board), title: '' };
  writeCells(row.cells, { protocol, reason, counts, mode: page.mode, forecast: scored, race });
}

// What is above a long table: a filter by host, and races of all displayed origins, with their progress.

export interface ToolHandlers {
  readonly onFilter: (text: string) => void;
  readonly onRaceAll: (origins: readonly Origin[]) => void;
  readonly onStop: () => void;
}

/** Wires the filter field and the buttons. */
export function wireTools({ onFilter, onRaceAll, onStop }: ToolHandlers): void {
  const field = byId<HTMLInputElement>('filter');
  field.addEventListener('input', () => onFilter(field.value));
  byId('race-all').addEventListener('click', () => {
    if (racing) onStop();
    else onRaceAll(filtered().map(({ origin }) => origin));
  });
}

function renderProgress(here: readonly RaceRequest[]): void {
  const done = here.filter(({ state }) => state === 'over').length;
  racing = done < here.length;
  byId('race-progress').hidden = !racing;
  if (!racing) return;
  const bar = byId<HTMLProgressElement>('race-bar');
  bar.max = here.length;
  bar.value = done;
  setText(byId('race-count'), getMessage('popupRaceProgress', { done, count: here.length }));
}

/** The tools above the table of this page; `requests` are the requested races, here and elsewhere. */
export function renderTools(page: PageView, requests: readonly RaceRequest[]): void {
  const { origins, helper } = page;
  byId('tools').hidden = !hasTools(page);
  const own = new Set(origins.map(({ origin }) => origin));
  renderProgress(requests.filter(({ origin }) => own.has(origin)));
  const shown = filtered().length;
  setText(
    byId('filter-count'),
    shown === origins.length ? '' : getMessage('popupFilterCount', { shown, count: origins.length }),
  );
  byId('no-match').hidden = shown > 0;
  const button = byId<HTMLButtonElement>('race-all');
  const possible = racing || (helper.state === 'ready' && shown > 0);
  setText(button, getMessage(racing ? 'popupRaceStop' : 'popupRaceAll'));
  setAttribute(
    button,
    'title',
    getMessage(helper.state === 'ready' ? 'popupRaceAllTitle' : 'popupNeedsHelper'),
  );
  if (button.disabled === possible) button.disabled = !possible;
}
