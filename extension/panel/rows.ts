// One origin in the panel's table: a line, and beneath it, once it is opened, its verdict and its requests. Only what is
// open is in the document, and of that a few hundred at first.
import { markOf } from '@photofinish/shared/marks';
import { formatBytes, formatMs } from '@photofinish/shared/markup';
import type { Origin } from '@photofinish/shared/origin';
import { sayNumber } from '@photofinish/shared/words';
import { verdictName } from '../dashboard/words.ts';
import type { InspectedRequest } from '../devtools/har.ts';
import type { OriginView } from '../messages.ts';
import { writeVerdict } from '../popup/answer.ts';
import { originLabel, verdictWords } from '../popup/format.ts';
import { writeHost } from '../popup/host.ts';
import { setMark } from '../popup/mark.ts';
import { copyOf, make, part, setAttribute, setText } from '../ui/elements.ts';
import { say } from '../words.ts';
import { type Group, protocolOf } from './groups.ts';
import { deliveryWords, protocolsWords, protocolWords } from './words.ts';

const MARK_PX = 14;
const COLUMNS = 6;
/** Requests of an open origin that are shown at first, and more at each press. */
const ROWS_AT_ONCE = 200;

export interface GroupRow {
  readonly body: HTMLTableSectionElement;
  readonly opener: HTMLButtonElement;
  /** Shows the origin as it is now; `view` is what the background says of it. */
  update(group: Group, view: OriginView | null): void;
  setOpen(open: boolean): void;
  readonly isOpen: boolean;
}

function bytesWords(bytes: number | null): string {
  return bytes === null ? say('devtoolsNone') : formatBytes(bytes);
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

/** A line across the whole table. */
function wideLine(className: string): { line: HTMLElement; cell: HTMLElement } {
  const line = make('tr', className);
  const cell = make('td');
  cell.colSpan = COLUMNS;
  line.append(cell);
  return { line, cell };
}

/** The lines of an open origin, brought up to date with as little change as can be. */
function makeDetail(body: HTMLElement, onMore: () => void) {
  const verdict = wideLine('detail');
  const words = make('p', 'verdict-words');
  verdict.cell.append(words);
  const more = wideLine('more');
  const button = make('button', 'link');
  button.type = 'button';
  more.cell.append(button);
  let shown: readonly InspectedRequest[] = [];
  let lines: HTMLElement[] = [];
  let limit = ROWS_AT_ONCE;
  button.addEventListener('click', () => {
    limit += ROWS_AT_ONCE;
    onMore();
  });
  return {
    show({ requests }: Group, view: OriginView | null): void {
      writeVerdict(words, view === null ? '' : verdictWords(view), view?.race ?? null);
      verdict.line.hidden = view === null;
      const wanted = requests.slice(0, limit);
      const grows = shown.every((request, i) => request === wanted[i]);
      if (!grows) for (const line of lines) line.remove();
      const added = wanted.slice(grows ? shown.length : 0).map(requestLine);
      lines = grows ? [...lines, ...added] : added;
      shown = wanted;
      if (!body.contains(verdict.line)) body.append(verdict.line, more.line);
      more.line.before(...added);
      const left = requests.length - wanted.length;
      more.line.hidden = left === 0;
      setText(button, say('devtoolsMore', { count: Math.min(left, ROWS_AT_ONCE) }));
    },
    remove(): void {
      for (const line of [verdict.line, ...lines, more.line]) line.remove();
      shown = [];
      lines = [];
      limit = ROWS_AT_ONCE;
    },
  };
}

/** A row for an origin; `onToggle` is told when its user opens or closes it. */
export function makeGroupRow(origin: Origin, onToggle: (open: boolean) => void): GroupRow {
  const body = copyOf<HTMLTableSectionElement>('group');
  body.dataset['origin'] = origin;
  const opener = part(body, '.opener') as HTMLButtonElement;
  const label = originLabel(origin);
  opener.setAttribute('aria-label', label);
  writeHost(part(body, '.host'), label);
  const [mark, protocols, requests, bytes, time, verdict] = [
    part(body, '.mark-box'),
    part(body, '.protocols'),
    part(body, '.requests'),
    part(body, '.bytes'),
    part(body, '.time'),
    part(body, '.verdict'),
  ];
  let open = false;
  let known: { readonly group: Group; readonly view: OriginView | null } | null = null;
  const detail = makeDetail(body, () => showDetail());
  const showDetail = (): void => {
    if (open && known !== null) detail.show(known.group, known.view);
  };
  const setOpen = (wanted: boolean): void => {
    if (open === wanted) return;
    open = wanted;
    opener.setAttribute('aria-expanded', String(open));
    body.classList.toggle('open', open);
    if (open) showDetail();
    else detail.remove();
  };
  // The button is for keyboards and readers; with a pointer the whole line opens.
  part(body, '.main').addEventListener('click', () => {
    setOpen(!open);
    onToggle(open);
  });
  return {
    body,
    opener,
    update(group, view) {
      known = { group, view };
      setMark(mark, group.mark, MARK_PX);
      setText(protocols, protocolsWords(group));
      setText(requests, sayNumber(group.requests.length));
      setText(bytes, bytesWords(group.medianMs === null ? null : group.bytes));
      setText(time, group.medianMs === null ? say('devtoolsNone') : formatMs(group.medianMs));
      setText(verdict, view === null ? say('devtoolsNone') : verdictName(view.verdict.code));
      setAttribute(verdict, 'title', view === null ? '' : verdictWords(view));
      showDetail();
    },
    setOpen,
    get isOpen() {
      return open;
    },
  };
}
