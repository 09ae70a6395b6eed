// The table's rows and headings: creates elements from rows of the columns, for one page at a time.

import { markSvg } from '@photofinish/shared/drawing/svg';
import { formatNumber } from '@photofinish/shared/language/catalog';
import { verdictMeans, verdictName } from '@photofinish/shared/verdict/codes';
import { type Gain, gainCellText, rangeText } from '@photofinish/shared/verdict/gain';
import { hiddenCountText, lightNote, type ObservationModes } from '@photofinish/shared/web/observation';
import { type Mark, markOf, protocolName } from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { make, makeButton, setSvg } from '../ui/elements.ts';
import { modesOfBits, type Row } from './columns.ts';
import { headCell, hostName, openerCell } from './controls.ts';
import { agoText, instantText, percentText } from './labels.ts';
import { type Direction, ORIGIN_KEYS, SITE_KEYS, type SiteColumns, type SortKey } from './table-model.ts';

const MARK_PX = 16;

interface Heading {
  readonly words: MessageKey;
  readonly title?: MessageKey;
  readonly number?: boolean;
  /** The direction after a first click: descending for numbers, ascending for text. */
  readonly direction: Direction;
}

const number = (words: MessageKey, title?: MessageKey): Heading => ({
  words,
  ...(title && { title }),
  number: true,
  direction: 'descending',
});
const HEADINGS: Record<SortKey, Heading> = {
  origin: { words: 'dashboardOrigin', direction: 'ascending' },
  site: { words: 'dashboardSite', direction: 'ascending' },
  protocol: { words: 'dashboardProtocol', title: 'dashboardProtocolTitle', direction: 'ascending' },
  verdict: { words: 'dashboardVerdict', direction: 'ascending' },
  origins: number('dashboardOriginCount'),
  originShare: number('dashboardOriginShare', 'dashboardOriginShareTitle'),
  requests: number('dashboardRequests', 'dashboardRequestsTitle'),
  share: number('dashboardH3Share', 'dashboardH3ShareTitle'),
  hidden: number('dashboardHidden', 'dashboardHiddenTitle'),
  navigations: number('dashboardNavigations', 'dashboardNavigationsTitle'),
  gain: number('dashboardGain', 'dashboardGainTitle'),
  seen: number('dashboardSeen'),
};

/** The direction after a click on a column's heading. */
export function nextDirection(
  key: SortKey,
  current: { readonly sort: SortKey; readonly direction: Direction },
): Direction {
  if (current.sort !== key) return HEADINGS[key].direction;
  return current.direction === 'ascending' ? 'descending' : 'ascending';
}

/** The headings of origins or sites, each a button that sorts. */
export function headingRow(group: 'origin' | 'site', onSort: (key: SortKey) => void): HTMLTableRowElement {
  const cells = (group === 'site' ? SITE_KEYS : ORIGIN_KEYS).map((key) => {
    const { words, title, number: isNumber } = HEADINGS[key];
    const button = makeButton('sort', [getMessage(words)], () => onSort(key));
    if (title !== undefined) button.title = getMessage(title);
    const cell = headCell('col', isNumber ? 'number' : '', button);
    cell.dataset['sort'] = key;
    return cell;
  });
  return make('tr', '', ...cells);
}

/** Marks the column by which the rows are sorted. */
export function markSorted(head: Element, sort: SortKey, direction: Direction): void {
  for (const cell of head.querySelectorAll<HTMLElement>('th')) {
    if (cell.dataset['sort'] === sort) cell.setAttribute('aria-sort', direction);
    else cell.removeAttribute('aria-sort');
  }
}

const marks = new Map<Mark, HTMLElement>();

/** A protocol's mark, drawn once and then cloned. */
function markElement(mark: Mark): Node {
  let element = marks.get(mark);
  if (element === undefined) {
    element = make('span', 'mark-place');
    setSvg(element, markSvg(mark, MARK_PX));
    marks.set(mark, element);
  }
  return element.cloneNode(true);
}

function numberCell(words: string, zero = false): HTMLTableCellElement {
  return make('td', zero ? 'number zero' : 'number', words);
}

function hiddenCell(hidden: number, modes: ObservationModes): HTMLTableCellElement {
  const cell = numberCell(hiddenCountText(hidden, modes), hidden === 0);
  if (hidden > 0) cell.title = lightNote(modes) ?? '';
  return cell;
}

function shareCell(h3: number, known: number): HTMLTableCellElement {
  if (known === 0) return make('td', 'number share', ...noneOf(getMessage('dashboardNone')));
  const fill = make('span', 'fill');
  fill.style.inlineSize = `${(100 * h3) / known}%`;
  const words = make('span', '', percentText(h3, known));
  return make('td', 'number share', words, make('span', 'share-bar', fill));
}

/** A dash, with words for screen readers. */
function noneOf(words: string): HTMLElement[] {
  const sign = make('span', 'zero', '–');
  sign.ariaHidden = 'true';
  return [make('span', 'unseen', words), sign];
}

function gainCell(gain: Gain | null): HTMLTableCellElement {
  if (gain === null) return make('td', 'number', ...noneOf(getMessage('dashboardNotMeasured')));
  const cell = numberCell(gainCellText(gain), gain.quicker === null);
  if (gain.quicker === null) cell.title = rangeText(gain);
  return cell;
}

function seenCell(atMs: number, nowMs: number): HTMLTableCellElement {
  const time = make('time', '', agoText(atMs, nowMs));
  time.dateTime = new Date(atMs).toISOString();
  time.title = instantText(atMs);
  return make('td', 'number', time);
}

/** The key that identifies a row in the document. */
export function rowKey(origin: string, site: string): string {
  return `${origin} ${site}`;
}

/** One origin on one site. The opener shows its detail beneath. */
export function originRow(row: Row, nowMs: number, open: boolean, onOpen: () => void): HTMLTableRowElement {
  const name = hostName(row.origin.slice('https://'.length));
  const verdict = make('td', '', verdictName(row.verdict));
  verdict.title = verdictMeans(row.verdict);
  const line = make(
    'tr',
    open ? 'main open' : 'main',
    openerCell(open, onOpen, markElement(markOf(row.protocol)), name),
    make('td', 'site', hostName(row.site)),
    make('td', '', protocolName(row.protocol)),
    numberCell(formatNumber(row.known + row.hidden), row.known + row.hidden === 0),
    shareCell(row.h3, row.known),
    hiddenCell(row.hidden, row.modes),
    numberCell(formatNumber(row.navigations), row.navigations === 0),
    verdict,
    gainCell(row.gain),
    seenCell(row.lastSeenMs, nowMs),
  );
  line.dataset['key'] = rowKey(row.origin, row.site);
  return line;
}

/** One site with the sums of its origins. A click shows its origins. */
export function siteRow(
  sites: SiteColumns,
  id: number,
  nowMs: number,
  onOpen: () => void,
): HTMLTableRowElement {
  const name = sites.names[id] ?? '';
  const at = (array: Float64Array) => array[id] ?? 0;
  const count = (value: number) => numberCell(formatNumber(value), value === 0);
  const line = make(
    'tr',
    'main',
    openerCell(null, onOpen, hostName(name)),
    count(at(sites.origins)),
    shareCell(at(sites.h3Origins), at(sites.knownOrigins)),
    count(at(sites.known) + at(sites.hidden)),
    shareCell(at(sites.h3), at(sites.known)),
    hiddenCell(at(sites.hidden), modesOfBits(sites.modes[id] ?? 0)),
    count(at(sites.navigations)),
    seenCell(at(sites.lastSeenMs), nowMs),
  );
  line.dataset['key'] = name;
  return line;
}
