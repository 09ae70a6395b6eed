// One origin in the panel's table: a row, and beneath it, once opened, its verdict and its requests. Only open origins
// have their requests in the document, initially a few hundred of them. Beneath it the panel's texts.

import { formatNumber } from '@photofinish/shared/language/catalog';
import { formatBytes, formatMs } from '@photofinish/shared/language/markup';
import { verdictName } from '@photofinish/shared/verdict/codes';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import { NETWORK_UNKNOWN } from '@photofinish/shared/web/network-name';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { markOf, type Protocol, protocolName } from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { BROWSER } from '../../common/edition.ts';
import type { InspectedRequest } from '../../common/inspected-request.ts';
import type { OriginView, PageView } from '../../common/messages.ts';
import { siteOfHost } from '../../common/site.ts';
import { copyOf, make, makeButton, part, setAttribute, setText, wideRow } from '../ui/elements.ts';
import { originLabel, unmeasuredText } from '../ui/format.ts';
import { meansLink, pointToCode } from '../ui/means-link.ts';
import { type RaceFailure, raceButton, setMark, writeHost, writeVerdict } from '../ui/origin.ts';
import { stateText } from '../ui/origin-state-text.ts';
import type { SortOrder } from '../ui/sorting.ts';
import { type Group, protocolOf, type SortKey, type Sum, sortRequests } from './groups.ts';

const MARK_PX = 14;
const COLUMNS = 6;
/** Number of an open origin's requests shown initially, and added with each click. */
const ROWS_AT_ONCE = 200;

/** The data of a row. */
interface ShownGroup {
  readonly group: Group;
  /** The background's view of the origin. */
  readonly view: OriginView | null;
  readonly sorting: SortOrder<SortKey> | null;
  readonly racing: boolean;
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

function bytesText(bytes: number | null): string {
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
  setText(part(line, '.protocols'), protocolText(request));
  setText(part(line, '.answer'), `${request.method} ${request.status}`);
  setText(part(line, '.bytes'), bytesText(request.bytes));
  setText(part(line, '.time'), formatMs(request.tookMs));
  setText(part(line, '.delivery'), deliveryText(request));
  return line;
}

/** The rows of an open origin, updated with as few changes as possible. */
function makeDetail(body: HTMLElement, { onRace, onOptions }: GroupActions, onMore: () => void) {
  const words = make('p', 'verdict-text');
  const means = meansLink();
  const race = makeButton('button', [], onRace);
  race.dataset['testid'] = 'race';
  const why = make('span', 'caption');
  why.setAttribute('role', 'status');
  const options = makeButton('button', [getMessage('popupOpenOptions')], onOptions);
  const actions = make('div', 'actions', race, why, options);
  const { row: verdict } = wideRow('detail', COLUMNS, words, means, actions);
  const button = makeButton('link', [], () => {
    limit += ROWS_AT_ONCE;
    onMore();
  });
  const { row: more } = wideRow('more', COLUMNS, button);
  let shown: readonly InspectedRequest[] = [];
  let lines: HTMLElement[] = [];
  let limit = ROWS_AT_ONCE;
  return {
    show({ group: { requests }, view, sorting, racing, failure, helper }: ShownGroup): void {
      if (view !== null) {
        writeVerdict(words, view.verdict);
        pointToCode(means, view.verdict.code);
      }
      verdict.hidden = view === null;
      raceButton(race, view?.race != null, racing, helper);
      setText(why, failure?.message ?? (view === null || racing ? '' : unmeasuredText(view)));
      options.hidden = failure?.byOptions !== true;
      const wanted = sortRequests(requests, sorting).slice(0, limit);
      const grows = shown.every((request, i) => request === wanted[i]);
      if (!grows) for (const line of lines) line.remove();
      const added = wanted.slice(grows ? shown.length : 0).map(requestLine);
      lines = grows ? [...lines, ...added] : added;
      shown = wanted;
      if (!body.contains(verdict)) body.append(verdict, more);
      more.before(...added);
      const left = requests.length - wanted.length;
      more.hidden = left === 0;
      setText(button, getMessage('devtoolsMore', { count: Math.min(left, ROWS_AT_ONCE) }));
    },
    remove(): void {
      for (const line of [verdict, ...lines, more]) line.remove();
      shown = [];
      lines = [];
      limit = ROWS_AT_ONCE;
    },
  };
}

/** A row for an origin. */
export function makeGroupRow(origin: Origin, actions: GroupActions) {
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
    /** Updates the origin. */
    update(shown: ShownGroup): void {
      const { group, view } = shown;
      known = shown;
      setMark(mark, group.mark, MARK_PX);
      setText(protocols, protocolsText(group));
      setText(requests, formatNumber(group.requests.length));
      setText(bytes, bytesText(group.medianMs === null ? null : group.bytes));
      setText(time, group.medianMs === null ? getMessage('devtoolsNone') : formatMs(group.medianMs));
      setText(verdict, view === null ? getMessage('devtoolsNone') : verdictName(view.verdict.code));
      setAttribute(verdict, 'title', view === null ? '' : verdictText(view.verdict));
      showDetail();
    },
    setOpen,
  };
}

export type GroupRow = ReturnType<typeof makeGroupRow>;

// The panel's texts for totals, requests and empty states. Pure.

/** How much of a page's traffic was HTTP/3, in parts shown side by side. */
export function summaryText({ h3, known, unknown, elsewhere }: Sum): { share: string; rest: string[] } {
  return {
    share: getMessage('devtoolsSummary', { h3, count: known }),
    rest: [
      unknown === 0 ? getMessage('devtoolsNoneHidden') : getMessage('devtoolsUnknown', { count: unknown }),
      ...(elsewhere === 0 ? [] : [getMessage('devtoolsElsewhere', { count: elsewhere })]),
    ],
  };
}

/** "h3 12 · h2 3"; a single protocol without its number, which is in the next column. */
export function protocolsText({ protocols }: Group): string {
  const [only, ...others] = protocols;
  if (only === undefined) return getMessage('devtoolsNone');
  if (others.length === 0) return shortName(only.protocol);
  return protocols.map(({ protocol, count }) => `${shortName(protocol)} ${formatNumber(count)}`).join(' · ');
}

function shortName(protocol: Protocol): string {
  return protocol === 'unknown' ? protocolName(protocol) : protocol;
}

/** The protocol of one request; a dash if no protocol carried it. */
export function protocolText(request: InspectedRequest): string {
  const protocol = protocolOf(request);
  return protocol === null ? getMessage('devtoolsNone') : shortName(protocol);
}

const DELIVERIES: Record<InspectedRequest['delivery'], MessageKey> = {
  network: 'devtoolsOverNetwork',
  // Firefox does not say which of the two it was.
  'http-cache': BROWSER === 'firefox' ? 'devtoolsStored' : 'devtoolsCache',
  'service-worker': 'devtoolsWorker',
  prefetch: 'devtoolsPrefetched',
};

/** Where a request's response came from. */
export function deliveryText({ delivery, status }: InspectedRequest): string {
  return getMessage(delivery === 'network' && status === 304 ? 'devtoolsConfirmed' : DELIVERIES[delivery]);
}

/** Site, browser and network, as far as each is known. */
export function conditionsText(page: PageView | null, browser: string): string[] {
  if (page === null) return [browser];
  const { helper } = page;
  const where =
    helper.state !== 'ready' || helper.network === NETWORK_UNKNOWN
      ? getMessage('devtoolsNoHelper')
      : getMessage('devtoolsNetwork', { network: helper.networkName ?? helper.network });
  return [...(page.site === null ? [] : [page.site]), browser, where];
}

/** What to show while there are no requests, and whether reloading the page or the options would help. */
export function emptyText(
  inspected: boolean,
  tabId: number | null,
  page: PageView | null,
): { text: string; reload: boolean; options: boolean } {
  const neither = { reload: false, options: false };
  if (tabId === null) return { text: getMessage('devtoolsNoTab'), ...neither };
  if (!inspected) return { text: getMessage('devtoolsClosed'), ...neither };
  const state = page === null ? null : stateText(page);
  const reload = page === null || ['recorded', 'loading', 'not-recorded'].includes(page.state);
  if (state !== null && !reload)
    return { text: state.text, reload: false, options: state.remedy?.action === 'options' };
  return { text: getMessage('devtoolsReload'), reload: true, options: false };
}
