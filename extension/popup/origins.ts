// The table of the page's origins: one row each, sortable, and a row opens its verdict, findings and race.
// Rows are kept and updated in place, so that a new PageView neither closes a row nor takes the focus away.
import { markOf, markSvg } from '@photofinish/shared/marks';
import type { Origin } from '@photofinish/shared/origin';
import type { OriginView, PageView } from '../messages.ts';
import { byId, make, setAttribute, setSvg, setText } from '../ui/elements.ts';
import { writeVerdict } from './answer.ts';
import { captionWords, drawing, type RaceBoard, raceButton, verdictSign } from './finish.ts';
import {
  forecastWords,
  nextSorting,
  originLabel,
  protocolCell,
  raceWords,
  reasonWords,
  requestsOf,
  SORT_KEYS,
  type Sorting,
  sortOrigins,
} from './format.ts';

const MARK_PX = 16;
const COLUMNS = 5;
const DETAIL_PX = 344;
/** What of a host's end stays when room is short: most registrable domains fit. */
const HOST_END_CHARS = 13;

interface Row {
  readonly body: HTMLTableSectionElement;
  readonly opener: HTMLButtonElement;
  readonly mark: HTMLElement;
  readonly protocol: HTMLElement;
  readonly requests: HTMLElement;
  readonly forecast: HTMLElement;
  readonly race: HTMLElement;
  readonly detail: HTMLTableRowElement;
  readonly verdict: HTMLElement;
  readonly findings: HTMLElement;
  readonly drawing: HTMLElement;
  readonly raceNow: HTMLButtonElement;
  readonly caption: HTMLElement;
}

const rows = new Map<Origin, Row>();
let sorting: Sorting | null = null;
let drawn = 0;

function toggle(row: Row): void {
  const open = row.detail.hidden;
  row.detail.hidden = !open;
  row.opener.setAttribute('aria-expanded', String(open));
}

function makeDetail(
  id: string,
): Pick<Row, 'detail' | 'verdict' | 'findings' | 'drawing' | 'raceNow' | 'caption'> {
  const detail = make('tr', 'detail');
  detail.id = id;
  detail.hidden = true;
  const cell = make('td');
  cell.colSpan = COLUMNS;
  const verdict = make('p', 'verdict');
  const findings = make('ul', 'findings');
  const picture = make('div', 'drawing');
  const raceNow = make('button', 'button');
  raceNow.type = 'button';
  const caption = make('span', 'caption');
  const actions = make('div', 'actions');
  actions.append(raceNow, caption);
  cell.append(verdict, findings, picture, actions);
  detail.append(cell);
  return { detail, verdict, findings, drawing: picture, raceNow, caption };
}

/** A host that gives way in its middle, because hosts of one domain differ at the beginning. */
function hostParts(label: string): HTMLElement {
  const host = make('span', 'host-parts');
  host.title = label;
  host.append(
    make('span', 'beginning', label.slice(0, -HOST_END_CHARS)),
    make('span', 'end', label.slice(-HOST_END_CHARS)),
  );
  return host;
}

function makeRow(origin: Origin, onRace: (origin: Origin) => void): Row {
  drawn += 1;
  const detail = makeDetail(`origin-${drawn}`);
  const body = make('tbody');
  body.dataset['origin'] = origin;
  const main = make('tr', 'main');
  const opener = make('button', 'opener');
  opener.type = 'button';
  opener.setAttribute('aria-expanded', 'false');
  opener.setAttribute('aria-controls', detail.detail.id);
  const mark = make('span', 'mark-box');
  const host = hostParts(originLabel(origin));
  opener.setAttribute('aria-label', originLabel(origin));
  opener.append(mark, host);
  const head = make('th');
  head.scope = 'row';
  head.append(opener);
  const cells = {
    protocol: make('td', 'protocol'),
    requests: make('td', 'number'),
    forecast: make('td', 'forecast'),
    race: make('td', 'number'),
  };
  main.append(head, cells.protocol, cells.requests, cells.forecast, cells.race);
  body.append(main, detail.detail);
  const row: Row = { body, opener, mark, ...cells, ...detail };
  // The button is for keyboards and readers; with a pointer the whole row opens.
  main.addEventListener('click', () => toggle(row));
  row.raceNow.addEventListener('click', () => onRace(origin));
  return row;
}

function writeForecast(cell: HTMLElement, view: OriginView): void {
  const words = forecastWords(view);
  const key = `${words.result} ${words.text}`;
  cell.title = words.title;
  if (cell.dataset['key'] === key) return;
  cell.dataset['key'] = key;
  // A tick says it all: the protocol stands two columns to the left.
  cell.replaceChildren(verdictSign(words.result), words.result === 'right' ? '' : words.text);
}

function writeFindings(list: HTMLElement, view: OriginView): void {
  const texts = view.verdict.findings.map((finding) => finding.text);
  const reason = reasonWords(view.protocol, view.reason);
  if (reason !== '' && reason !== view.verdict.text) texts.push(reason);
  if (list.dataset['key'] === texts.join('\n')) return;
  list.dataset['key'] = texts.join('\n');
  list.hidden = texts.length === 0;
  list.replaceChildren(...texts.map((text) => make('li', '', text)));
}

function updateRow(row: Row, view: OriginView, page: PageView, board: RaceBoard): void {
  const running = board.running.get(view.origin);
  const race = raceWords(view.race);
  setSvg(row.mark, markSvg(markOf(view.protocol), MARK_PX));
  setText(row.protocol, protocolCell(view.protocol, view.reason));
  row.protocol.title = reasonWords(view.protocol, view.reason);
  setText(row.requests, String(requestsOf(view)));
  writeForecast(row.forecast, view);
  setText(row.race, running ? 'racing' : race.text);
  row.race.title = running ? '' : race.title;
  writeVerdict(row.verdict, view.verdict.text);
  writeFindings(row.findings, view);
  // The page's own drawing stands above; twice would only be longer.
  const own = view.origin === page.origin;
  setSvg(row.drawing, own ? '' : drawing(view.race, running, `${row.detail.id}-svg`, DETAIL_PX));
  row.raceNow.hidden = own;
  row.caption.hidden = own;
  raceButton(row.raceNow, view.race !== null, running, page.helper);
  const failure = board.failures.get(view.origin) ?? view.race?.error?.message;
  setText(row.caption, running || failure === undefined ? captionWords(view.race, running) : failure);
}

/** Puts the rows in order, moving only those that are out of place. */
function arrange(table: HTMLElement, wanted: readonly Row[]): void {
  const focused = document.activeElement;
  const current = Array.from(table.children).slice(1);
  if (current.length === wanted.length && wanted.every((row, i) => row.body === current[i])) return;
  let before: Element | null = null;
  for (const row of wanted.toReversed()) {
    if (row.body.nextElementSibling !== before || row.body.parentElement !== table)
      table.insertBefore(row.body, before);
    before = row.body;
  }
  if (focused instanceof HTMLElement && focused !== document.activeElement && table.contains(focused))
    focused.focus({ preventScroll: true });
}

function showSorting(): void {
  for (const key of SORT_KEYS) {
    const header = document.querySelector(`th[data-sort="${key}"]`);
    if (header) setAttribute(header, 'aria-sort', sorting?.key === key ? sorting.direction : 'none');
  }
}

/** Makes the column headers sort; `redraw` is called with the new order in force. */
export function wireSorting(redraw: () => void): void {
  for (const key of SORT_KEYS)
    document.querySelector(`th[data-sort="${key}"] button`)?.addEventListener('click', () => {
      sorting = nextSorting(sorting, key);
      redraw();
    });
}

/** The whole table; rows of origins that are gone go with them. */
export function renderOrigins(page: PageView, board: RaceBoard, onRace: (origin: Origin) => void): void {
  byId('origins').hidden = page.origins.length === 0;
  const here = new Set(page.origins.map((view) => view.origin));
  for (const [origin, row] of rows)
    if (!here.has(origin)) {
      row.body.remove();
      rows.delete(origin);
    }
  const wanted = sortOrigins(page.origins, sorting).map((view) => {
    const row = rows.get(view.origin) ?? makeRow(view.origin, onRace);
    rows.set(view.origin, row);
    updateRow(row, view, page, board);
    return row;
  });
  arrange(byId('origin-table'), wanted);
  showSorting();
}
