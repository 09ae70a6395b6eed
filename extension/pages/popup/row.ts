// One origin in the popup's table: a row, and below it, once opened, its verdict, findings and race.

import { formatNumber } from '@photofinish/shared/language/catalog';
import { requestsIn } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import { markOf } from '@photofinish/shared/web/protocol';
import { getMessage } from '../../common/catalog.ts';
import type { OriginView, PageView } from '../../common/messages.ts';
import { copyOf, part, setAttribute, setSvg, setText } from '../ui/elements.ts';
import {
  type ForecastScore,
  forecastText,
  originLabel,
  protocolCell,
  protocolTag,
  raceText,
} from '../ui/format.ts';
import { meansLink, pointToCode } from '../ui/means-link.ts';
import { raceButton, setMark, writeHost, writeVerdict } from '../ui/origin.ts';
import {
  captionText,
  drawing,
  type RaceBoard,
  raceState,
  verdictSign,
  widthOf,
  writeFailure,
} from './finish.ts';
import { writeFindings } from './summary.ts';

/** How much narrower an open row is than the popup. */
const DETAIL_INSET_PX = 38;

/** What a row is drawn from besides its own view. */
export interface RowContext {
  readonly page: Pick<PageView, 'origin' | 'helper' | 'mode'>;
  readonly board: RaceBoard;
  readonly onRace: (origin: Origin) => void;
  readonly onOptions: () => void;
}

type Detail = Readonly<ReturnType<typeof makeDetail>>;

export interface Row extends LineParts {
  /** Created when opened for the first time: most rows never are. */
  detail: Detail | null;
  view: OriginView;
}

/** Columns of the table, hidden ones included. */
export const COLUMNS = 5;

let made = 0;
let spanned = COLUMNS;

function span(line: HTMLElement): void {
  (part(line, 'td') as HTMLTableCellElement).colSpan = spanned;
}

/**
 * Makes the details of these rows, and those created later, as wide as that many columns: what they span beyond the
 * visible ones would be columns too, and share the table's width.
 */
export function spanColumns(rows: Iterable<Row>, count: number): void {
  if (count === spanned) return;
  spanned = count;
  for (const { detail } of rows) if (detail !== null) span(detail.line);
}

function makeDetail(row: Row, rowContext: () => RowContext) {
  const line = copyOf<HTMLElement>('detail');
  made += 1;
  line.id = `detail-${made}`;
  line.hidden = true;
  const race = part(line, '.race-button') as HTMLButtonElement;
  race.addEventListener('click', () => rowContext().onRace(row.view.origin));
  const options = part(line, '.options') as HTMLButtonElement;
  setText(options, getMessage('popupOpenOptions'));
  options.addEventListener('click', () => rowContext().onOptions());
  row.opener.setAttribute('aria-controls', line.id);
  const means = meansLink();
  part(line, '.verdict').after(means);
  row.body.append(line);
  span(line);
  return {
    line,
    verdict: part(line, '.verdict'),
    means,
    findings: part(line, '.findings'),
    drawing: part(line, '.drawing'),
    race,
    caption: part(line, '.caption'),
    options,
  };
}

export function isOpen(row: Row): boolean {
  return row.detail !== null && !row.detail.line.hidden;
}

function toggle(row: Row, rowContext: () => RowContext): void {
  const detail = row.detail ?? makeDetail(row, rowContext);
  row.detail = detail;
  detail.line.hidden = !detail.line.hidden;
  row.opener.setAttribute('aria-expanded', String(!detail.line.hidden));
  row.body.classList.toggle('open', !detail.line.hidden);
  updateDetail(row, rowContext());
}

/** A row for an origin; `rowContext` returns its context when it is opened or raced. */
export function makeRow(view: OriginView, rowContext: () => RowContext): Row {
  const line = makeLine();
  const label = originLabel(view.origin);
  line.body.dataset['origin'] = view.origin;
  line.opener.setAttribute('aria-label', label);
  writeHost(line.host, label, view.site);
  const row: Row = { ...line, detail: null, view };
  // The button is for keyboards and screen readers; with a pointer the whole row can be clicked.
  line.main.addEventListener('click', () => toggle(row, rowContext));
  return row;
}

function updateDetail(row: Row, { page, board }: RowContext): void {
  const { detail, view } = row;
  if (detail === null || detail.line.hidden) return;
  const running = board.running.get(view.origin);
  writeVerdict(detail.verdict, view.verdict);
  pointToCode(detail.means, view.verdict.code);
  writeFindings(detail.findings, view);
  // The page's own drawing is above; repeating it would only take space.
  const own = view.origin === page.origin;
  const widthPx = widthOf(DETAIL_INSET_PX);
  const waits = board.waiting.has(view.origin);
  const live = waits ? undefined : running;
  setSvg(detail.drawing, own ? '' : drawing(view.race, live, `${detail.line.id}-svg`, widthPx));
  detail.race.hidden = own;
  detail.caption.hidden = own;
  raceButton(detail.race, view.race !== null, running !== undefined, page.helper);
  const failed = writeFailure(detail.caption, detail.options, view, board);
  if (own) detail.options.hidden = true;
  if (!failed) setText(detail.caption, captionText(view, running, waits));
}

function raceCell({ origin, race }: OriginView, board: RaceBoard): CellText['race'] {
  const state = raceState(board, origin);
  if (state === null) return raceText(race);
  return { text: getMessage(state === 'racing' ? 'popupRacing' : 'popupRaceWaiting'), title: '' };
}

/** Updates the row; only differences are written. */
export function updateRow(row: Row, view: OriginView, context: RowContext): void {
  row.view = view;
  const { protocol, reason, counts } = view;
  writeCells(row.cells, {
    protocol,
    reason,
    counts,
    mode: context.page.mode,
    forecast: forecastText(view),
    race: raceCell(view, context.board),
  });
  updateDetail(row, context);
}

// The cells of every row of the popup's table, an origin's or a folded site's.

const MARK_PX = 16;

/** The contents of a row's cells. */
interface CellText extends Pick<OriginView, 'protocol' | 'reason' | 'counts'>, Pick<PageView, 'mode'> {
  readonly forecast: ForecastScore;
  readonly race: ReturnType<typeof raceText>;
}

/** A new, empty row. */
export function makeLine() {
  const body = copyOf<HTMLTableSectionElement>('row');
  return {
    body,
    main: part(body, '.main'),
    opener: part(body, '.opener') as HTMLButtonElement,
    host: part(body, '.host'),
    cells: {
      mark: part(body, '.mark-box'),
      protocol: part(body, '.name'),
      tag: part(body, '.tag'),
      requests: part(body, '.requests'),
      forecast: part(body, '.forecast'),
      race: part(body, '.race'),
    },
  };
}

/** A row of the table. */
export type LineParts = Readonly<ReturnType<typeof makeLine>>;

function writeForecast(cell: HTMLElement, { result, text, title }: ForecastScore): void {
  const key = `${result} ${text}`;
  setAttribute(cell, 'title', title);
  if (cell.dataset['key'] === key) return;
  cell.dataset['key'] = key;
  cell.replaceChildren(verdictSign(result, text));
}

/** Writes the cells; only differences are written. */
export function writeCells(cells: LineParts['cells'], words: CellText): void {
  const { protocol, reason, counts, mode, forecast, race } = words;
  const tag = protocolTag(counts, protocol, reason, mode);
  setMark(cells.mark, markOf(protocol), MARK_PX);
  setText(cells.protocol, protocolCell(protocol, reason));
  setText(cells.tag, tag.text);
  setAttribute(cells.tag, 'title', tag.title);
  setText(cells.requests, formatNumber(requestsIn(counts)));
  writeForecast(cells.forecast, forecast);
  setText(cells.race, race.text);
  setAttribute(cells.race, 'title', race.title);
}
