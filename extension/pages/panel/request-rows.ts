// One origin in the panel's table: a row, and beneath it, once opened, its verdict and its requests. Only open origins
// have their requests in the document, initially a few hundred of them.

import { markOf } from '@photofinish/shared/drawing/marks';
import { formatNumber } from '@photofinish/shared/language/catalog';
import { formatBytes, formatMs } from '@photofinish/shared/language/markup';
import { verdictName } from '@photofinish/shared/verdict/verdict-names';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import type { InspectedRequest } from '../../common/inspected/request.ts';
import type { OriginView, PageView } from '../../common/messages.ts';
import { siteOfHost } from '../../common/site.ts';
import { copyOf, make, part, setAttribute, setText } from '../ui/elements.ts';
import { originLabel, unmeasuredWords } from '../ui/format.ts';
import { writeHost } from '../ui/host.ts';
import { setMark } from '../ui/mark.ts';
import { meansLink, pointToCode } from '../ui/means-link.ts';
import { type RaceFailure, raceButton, writeVerdict } from '../ui/race-line.ts';
import { type Group, protocolOf, type Sorting, sortRequests } from './groups.ts';
import { deliveryWords, protocolsWords, protocolWords } from './request-labels.ts';

const MARK_PX = 14;
const COLUMNS = 6;
/** Number of an open origin's requests shown initially, and added with each click. */
const ROWS_AT_ONCE = 200;

/** The data of a row. */
interface ShownGroup {
  readonly group: Group;
  /** The background's view of the origin. */
  readonly view: OriginView | null;
  readonly sorting: Sorting | null;
  readonly race: RaceButton;
}

/** The label and state of the button in an open row. */
interface RaceButton {
  readonly state: 'racing' | 'idle';
  /** Why the last race produced no result; empty: it did produce one. */
  readonly failure: RaceFailure | null;
  readonly helper: PageView['helper'];
}

/** The actions of a row's buttons. */
export interface GroupActions {
  /** The user opened or closed the row. */
  readonly onToggle: (open: boolean) => void;
  readonly onRace: () => void;
  readonly onOptions: () => void;
}

export interface GroupRow {
  readonly body: HTMLTableSectionElement;
  readonly opener: HTMLButtonElement;
  /** Updates the origin. */
  update(shown: ShownGroup): void;
  setOpen(open: boolean): void;
  readonly isOpen: boolean;
}

function bytesWords(bytes: number | null): string {
  return bytes === null ? getMessage('devtoolsNone') : formatBytes(bytes);
}

function requestLine(request: InspectedRequest): HTMLElement {
  const line = copyOf<HTMLElement>('request');
  const { pathname, search } = new URL(request.url);
  const path = part(line, '.path');
  setText(path, pathname + search);
  setAttribute(path, 'title', request.url);
  const protocol = protocolOf(request);
  if (protocol !== null) setMark(part(line, '.mark-box'), markOf(protocol), MARK_PX);
  setText(part(line, '.protocols'), protocolWords(request));
  setText(part(line, '.answer'), `${request.method} ${request.status}`);
  setText(part(line, '.bytes'), bytesWords(request.bytes));
  setText(part(line, '.time'), formatMs(request.tookMs));
  setText(part(line, '.delivery'), deliveryWords(request));
  return line;
}

function makeButton(className: string, onPress: () => void): HTMLButtonElement {
  const button = make('button', className);
  button.type = 'button';
  button.addEventListener('click', onPress);
  return button;
}

/** A row that spans the whole table. */
function wideLine(className: string): { line: HTMLElement; cell: HTMLElement } {
  const line = make('tr', className);
  const cell = make('td');
  cell.colSpan = COLUMNS;
  line.append(cell);
  return { line, cell };
}

/** The rows of an open origin, updated with as few changes as possible. */
function makeDetail(body: HTMLElement, { onRace, onOptions }: GroupActions, onMore: () => void) {
  const verdict = wideLine('detail');
  const words = make('p', 'verdict-words');
  const means = meansLink();
  const race = makeButton('button', onRace);
  race.dataset['testid'] = 'race';
  const why = make('span', 'caption');
  why.setAttribute('role', 'status');
  const options = makeButton('button', onOptions);
  setText(options, getMessage('popupOpenOptions'));
  const actions = make('div', 'actions');
  actions.append(race, why, options);
  verdict.cell.append(words, means, actions);
  const more = wideLine('more');
  const button = makeButton('link', () => {
    limit += ROWS_AT_ONCE;
    onMore();
  });
  more.cell.append(button);
  let shown: readonly InspectedRequest[] = [];
  let lines: HTMLElement[] = [];
  let limit = ROWS_AT_ONCE;
  return {
    show({ group: { requests }, view, sorting, race: { state, failure, helper } }: ShownGroup): void {
      if (view !== null) {
        writeVerdict(words, view.verdict);
        pointToCode(means, view.verdict.code);
      }
      verdict.line.hidden = view === null;
      raceButton(race, view?.race != null, state === 'racing', helper);
      setText(why, failure?.message ?? (view === null || state === 'racing' ? '' : unmeasuredWords(view)));
      options.hidden = failure?.byOptions !== true;
      const wanted = sortRequests(requests, sorting).slice(0, limit);
      const grows = shown.every((request, i) => request === wanted[i]);
      if (!grows) for (const line of lines) line.remove();
      const added = wanted.slice(grows ? shown.length : 0).map(requestLine);
      lines = grows ? [...lines, ...added] : added;
      shown = wanted;
      if (!body.contains(verdict.line)) body.append(verdict.line, more.line);
      more.line.before(...added);
      const left = requests.length - wanted.length;
      more.line.hidden = left === 0;
      setText(button, getMessage('devtoolsMore', { count: Math.min(left, ROWS_AT_ONCE) }));
    },
    remove(): void {
      for (const line of [verdict.line, ...lines, more.line]) line.remove();
      shown = [];
      lines = [];
      limit = ROWS_AT_ONCE;
    },
  };
}

/** A row for an origin. */
export function makeGroupRow(origin: Origin, actions: GroupActions): GroupRow {
  const body = copyOf<HTMLTableSectionElement>('group');
  body.dataset['origin'] = origin;
  const opener = part(body, '.opener') as HTMLButtonElement;
  const label = originLabel(origin);
  opener.setAttribute('aria-label', label);
  writeHost(part(body, '.host'), label, siteOfHost(originParts(origin).host));
  const [mark, protocols, requests, bytes, time, verdict] = [
    part(body, '.mark-box'),
    part(body, '.protocols'),
    part(body, '.requests'),
    part(body, '.bytes'),
    part(body, '.time'),
    part(body, '.verdict'),
  ];
  let open = false;
  let known: ShownGroup | null = null;
  const detail = makeDetail(body, actions, () => showDetail());
  const showDetail = (): void => {
    if (open && known !== null) detail.show(known);
  };
  const setOpen = (wanted: boolean): void => {
    if (open === wanted) return;
    open = wanted;
    opener.setAttribute('aria-expanded', String(open));
    body.classList.toggle('open', open);
    if (open) showDetail();
    else detail.remove();
  };
  // The button is for keyboards and screen readers; with a pointer the whole row can be clicked.
  part(body, '.main').addEventListener('click', () => {
    setOpen(!open);
    actions.onToggle(open);
  });
  return {
    body,
    opener,
    update(shown) {
      const { group, view } = shown;
      known = shown;
      setMark(mark, group.mark, MARK_PX);
      setText(protocols, protocolsWords(group));
      setText(requests, formatNumber(group.requests.length));
      setText(bytes, bytesWords(group.medianMs === null ? null : group.bytes));
      setText(time, group.medianMs === null ? getMessage('devtoolsNone') : formatMs(group.medianMs));
      setText(verdict, view === null ? getMessage('devtoolsNone') : verdictName(view.verdict.code));
      setAttribute(verdict, 'title', view === null ? '' : verdictText(view.verdict));
      showDetail();
    },
    setOpen,
    get isOpen() {
      return open;
    },
  };
}
