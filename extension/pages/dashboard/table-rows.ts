// The table's rows and headings: creates elements from rows of the columns, for one page at a time.

import { type Mark, markOf, markSvg } from '@photofinish/shared/drawing/svg';
import { formatNumber } from '@photofinish/shared/language/catalog';
import { verdictMeans, verdictName } from '@photofinish/shared/verdict/codes';
import { type Gain, gainCellText, rangeText } from '@photofinish/shared/verdict/gain';
import { hiddenCountText, lightNote, type ObservationModes } from '@photofinish/shared/web/observation';
import { protocolName } from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { make, setSvg } from '../ui/elements.ts';
import { modesOfBits, type Row } from './columns.ts';
import { hostName, openerCell } from './controls.ts';
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
  const row = make('tr');
  for (const key of group === 'site' ? SITE_KEYS : ORIGIN_KEYS) {
    const { words, title, number: isNumber } = HEADINGS[key];
    const cell = make('th', isNumber ? 'number' : '');
    cell.scope = 'col';
    cell.dataset['sort'] = key;
    const button = make('button', 'sort', getMessage(words));
    button.type = 'button';
    if (title !== undefined) button.title = getMessage(title);
    button.addEventListener('click', () => onSort(key));
    cell.append(button);
    row.append(cell);
  }
  return row;
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
function markPlace(mark: Mark): Node {
  let place = marks.get(mark);
  if (place === undefined) {
    place = make('span', 'mark-place');
    setSvg(place, markSvg(mark, MARK_PX));
    marks.set(mark, place);
  }
  return place.cloneNode(true);
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
  const cell = make('td', 'number share');
  if (known === 0) {
    cell.append(make('span', 'unseen', getMessage('dashboardNone')), dash());
    return cell;
  }
  cell.append(make('span', '', percentText(h3, known)));
  const bar = make('span', 'share-bar');
  const fill = make('span', 'fill');
  fill.style.inlineSize = `${(100 * h3) / known}%`;
  bar.append(fill);
  cell.append(bar);
  return cell;
}

function dash(): HTMLElement {
  const sign = make('span', 'zero', '–');
  sign.ariaHidden = 'true';
  return sign;
}

function gainCell(gain: Gain | null): HTMLTableCellElement {
  if (gain === null) {
    const cell = numberCell('');
    cell.append(make('span', 'unseen', getMessage('dashboardNotMeasured')), dash());
    return cell;
  }
  const cell = numberCell(gainCellText(gain), gain.quicker === null);
  if (gain.quicker === null) cell.title = rangeText(gain);
  return cell;
}

function seenCell(atMs: number, nowMs: number): HTMLTableCellElement {
  const cell = numberCell('');
  const time = make('time', '', agoText(atMs, nowMs));
  time.dateTime = new Date(atMs).toISOString();
  time.title = instantText(atMs);
  cell.append(time);
  return cell;
}

/** The key that identifies a row in the document. */
export function rowKey(origin: string, site: string): string {
  return `${origin} ${site}`;
}

/** One origin on one site. The opener shows its detail beneath. */
export function originRow(row: Row, nowMs: number, open: boolean, onOpen: () => void): HTMLTableRowElement {
  const line = make('tr', open ? 'main open' : 'main');
  line.dataset['key'] = rowKey(row.origin, row.site);
  const name = hostName(row.origin.slice('https://'.length));
  const verdict = make('td', '', verdictName(row.verdict));
  verdict.title = verdictMeans(row.verdict);
  const site = make('td', 'site');
  site.append(hostName(row.site));
  line.append(
    openerCell(open, onOpen, markPlace(markOf(row.protocol)), name),
    site,
    make('td', '', protocolName(row.protocol)),
    numberCell(formatNumber(row.known + row.hidden), row.known + row.hidden === 0),
    shareCell(row.h3, row.known),
    hiddenCell(row.hidden, row.modes),
    numberCell(formatNumber(row.navigations), row.navigations === 0),
    verdict,
    gainCell(row.gain),
    seenCell(row.lastSeenMs, nowMs),
  );
  return line;
}

/** One site with the sums of its origins. A click shows its origins. */
export function siteRow(
  sites: SiteColumns,
  id: number,
  nowMs: number,
  onOpen: () => void,
): HTMLTableRowElement {
  const line = make('tr', 'main');
  const name = sites.names[id] ?? '';
  line.dataset['key'] = name;
  const at = (array: Float64Array) => array[id] ?? 0;
  const count = (value: number) => numberCell(formatNumber(value), value === 0);
  line.append(
    openerCell(null, onOpen, hostName(name)),
    count(at(sites.origins)),
    shareCell(at(sites.h3Origins), at(sites.knownOrigins)),
    count(at(sites.known) + at(sites.hidden)),
    shareCell(at(sites.h3), at(sites.known)),
    hiddenCell(at(sites.hidden), modesOfBits(sites.modes[id] ?? 0)),
    count(at(sites.navigations)),
    seenCell(at(sites.lastSeenMs), nowMs),
  );
  return line;
}
