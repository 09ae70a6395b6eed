// The cells of every row of the popup's table, an origin's or a folded site's.

import { markOf } from '@photofinish/shared/drawing/marks';
import { formatNumber } from '@photofinish/shared/language/catalog';
import type { ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { OriginView, PageView } from '../../common/messages.ts';
import { copyOf, part, setAttribute, setText } from '../ui/elements.ts';
import { type ForecastScore, protocolCell, protocolTag } from '../ui/format.ts';
import { setMark } from '../ui/mark.ts';
import { verdictSign } from './finish.ts';

const MARK_PX = 16;

/** A row of the table. */
export interface LineParts {
  readonly body: HTMLTableSectionElement;
  readonly main: HTMLElement;
  readonly opener: HTMLButtonElement;
  readonly host: HTMLElement;
  readonly cells: Readonly<
    Record<'mark' | 'protocol' | 'tag' | 'requests' | 'forecast' | 'race', HTMLElement>
  >;
}

/** The contents of a row's cells. */
export interface CellWords {
  readonly protocol: OriginView['protocol'];
  readonly reason: OriginView['reason'];
  readonly counts: ProtocolCounts;
  readonly mode: PageView['mode'];
  readonly requests: number;
  readonly forecast: ForecastScore;
  readonly race: { readonly text: string; readonly title: string };
}

/** A new, empty row. */
export function makeLine(): LineParts {
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
      requests: part(body, '.requests .value'),
      forecast: part(body, '.forecast .value'),
      race: part(body, '.race .value'),
    },
  };
}

function writeForecast(cell: HTMLElement, { result, text, title }: ForecastScore): void {
  const key = `${result} ${text}`;
  setAttribute(cell, 'title', title);
  if (cell.dataset['key'] === key) return;
  cell.dataset['key'] = key;
  cell.replaceChildren(verdictSign(result, text));
}

/** Writes the cells; only differences are written. */
export function writeCells(cells: LineParts['cells'], words: CellWords): void {
  const { protocol, reason, counts, mode, requests, forecast, race } = words;
  const tag = protocolTag(counts, protocol, reason, mode);
  setMark(cells.mark, markOf(protocol), MARK_PX);
  setText(cells.protocol, protocolCell(protocol, reason));
  setText(cells.tag, tag.text);
  setAttribute(cells.tag, 'title', tag.title);
  setText(cells.requests, formatNumber(requests));
  writeForecast(cells.forecast, forecast);
  setText(cells.race, race.text);
  setAttribute(cells.race, 'title', race.title);
}
