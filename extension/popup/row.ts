// One origin in the popup's table: a line, and below it, once it is opened, its verdict, findings and race.
import { markOf } from '@photofinish/shared/marks';
import type { Origin } from '@photofinish/shared/origin';
import { sayNumber } from '@photofinish/shared/words';
import type { OriginView, PageView } from '../messages.ts';
import { requestsOf } from '../page/order.ts';
import { copyOf, make, part, setAttribute, setSvg, setText } from '../ui/elements.ts';
import { say } from '../words.ts';
import { writeVerdict } from './answer.ts';
import { captionWords, drawing, type RaceBoard, raceButton, verdictSign } from './finish.ts';
import { forecastWords, originLabel, protocolCell, raceWords, reasonWords, verdictWords } from './format.ts';
import { writeHost } from './host.ts';
import { setMark } from './mark.ts';

const MARK_PX = 16;
const DETAIL_PX = 344;

/** What a row is drawn from besides its own view. */
export interface Surroundings {
  readonly page: Pick<PageView, 'origin' | 'helper'>;
  readonly board: RaceBoard;
  readonly onRace: (origin: Origin) => void;
}

interface Detail {
  readonly line: HTMLElement;
  readonly verdict: HTMLElement;
  readonly findings: HTMLElement;
  readonly drawing: HTMLElement;
  readonly race: HTMLButtonElement;
  readonly caption: HTMLElement;
}

export interface Row {
  readonly body: HTMLTableSectionElement;
  readonly opener: HTMLButtonElement;
  readonly cells: Readonly<Record<'mark' | 'protocol' | 'requests' | 'forecast' | 'race', HTMLElement>>;
  /** Made when it is opened for the first time: most rows never are. */
  detail: Detail | null;
  view: OriginView;
}

let made = 0;

function makeDetail(row: Row, around: () => Surroundings): Detail {
  const line = copyOf<HTMLElement>('detail');
  made += 1;
  line.id = `detail-${made}`;
  line.hidden = true;
  const race = part(line, 'button') as HTMLButtonElement;
  race.addEventListener('click', () => around().onRace(row.view.origin));
  row.opener.setAttribute('aria-controls', line.id);
  row.body.append(line);
  return {
    line,
    verdict: part(line, '.verdict'),
    findings: part(line, '.findings'),
    drawing: part(line, '.drawing'),
    race,
    caption: part(line, '.caption'),
  };
}

export function isOpen(row: Row): boolean {
  return row.detail !== null && !row.detail.line.hidden;
}

function toggle(row: Row, around: () => Surroundings): void {
  const detail = row.detail ?? makeDetail(row, around);
  row.detail = detail;
  detail.line.hidden = !detail.line.hidden;
  row.opener.setAttribute('aria-expanded', String(!detail.line.hidden));
  updateDetail(row, around());
}

/** A row for an origin; `around` gives what it is drawn from when it is opened or raced. */
export function makeRow(view: OriginView, around: () => Surroundings): Row {
  const body = copyOf<HTMLTableSectionElement>('row');
  body.dataset['origin'] = view.origin;
  const opener = part(body, '.opener') as HTMLButtonElement;
  const label = originLabel(view.origin);
  opener.setAttribute('aria-label', label);
  writeHost(part(body, '.host'), label);
  const cells = {
    mark: part(body, '.mark-box'),
    protocol: part(body, '.protocol'),
    requests: part(body, '.requests'),
    forecast: part(body, '.forecast'),
    race: part(body, '.race'),
  };
  const row: Row = { body, opener, cells, detail: null, view };
  // The button is for keyboards and readers; with a pointer the whole row opens.
  part(body, '.main').addEventListener('click', () => toggle(row, around));
  return row;
}

function writeForecast(cell: HTMLElement, view: OriginView): void {
  const words = forecastWords(view);
  const key = `${words.result} ${words.text}`;
  setAttribute(cell, 'title', words.title);
  if (cell.dataset['key'] === key) return;
  cell.dataset['key'] = key;
  // A tick says it all: the protocol stands two columns to the left.
  cell.replaceChildren(verdictSign(words.result), words.result === 'right' ? '' : words.text);
}

function writeFindings(list: HTMLElement, view: OriginView): void {
  const texts = view.verdict.findings.map((finding) => finding.text);
  const reason = reasonWords(view.protocol, view.reason);
  if (reason !== '' && reason !== view.verdict.text) texts.push(reason);
  const key = texts.join('\n');
  if (list.dataset['key'] === key) return;
  list.dataset['key'] = key;
  list.hidden = texts.length === 0;
  list.replaceChildren(...texts.map((text) => make('li', '', text)));
}

function updateDetail(row: Row, { page, board }: Surroundings): void {
  const { detail, view } = row;
  if (detail === null || detail.line.hidden) return;
  const running = board.running.get(view.origin);
  writeVerdict(detail.verdict, verdictWords(view), view.race);
  writeFindings(detail.findings, view);
  // The page's own drawing stands above; twice would only be longer.
  const own = view.origin === page.origin;
  setSvg(detail.drawing, own ? '' : drawing(view.race, running, `${detail.line.id}-svg`, DETAIL_PX));
  detail.race.hidden = own;
  detail.caption.hidden = own;
  raceButton(detail.race, view.race !== null, running, page.helper);
  const failure = running ? undefined : (board.failures.get(view.origin) ?? view.race?.error?.message);
  setText(detail.caption, failure ?? captionWords(view.race, running));
}

/** Writes what is known of the origin now; only what differs is touched. */
export function updateRow(row: Row, view: OriginView, around: Surroundings): void {
  row.view = view;
  const { cells } = row;
  const running = around.board.running.has(view.origin);
  const race = raceWords(view.race);
  setMark(cells.mark, markOf(view.protocol), MARK_PX);
  setText(cells.protocol, protocolCell(view.protocol, view.reason));
  setText(cells.requests, sayNumber(requestsOf(view)));
  writeForecast(cells.forecast, view);
  setText(cells.race, running ? say('popupRacing') : race.text);
  setAttribute(cells.race, 'title', running ? '' : race.title);
  updateDetail(row, around);
}
