// The table of origins and sites: its choices, its page of rows, and the row that is open. Sorting and filtering run on
// the columns; focus and the open row outlive every redraw.
import { MARKS, type Mark } from '@photofinish/shared/drawing/marks';
import { sayNumber } from '@photofinish/shared/language/words';
import { VERDICT_CODES, type VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { verdictName } from '@photofinish/shared/verdict/verdict-names';
import type { Origin } from '@photofinish/shared/web/origin';
import { protocolName } from '@photofinish/shared/web/protocol';
import { say } from '../../common/words.ts';
import { byId, make, setText } from '../ui/elements.ts';
import { type Columns, rowAt } from './columns.ts';
import { choice, type Entry, options, replaceLines } from './controls.ts';
import { headingRow, markSorted, nextDirection, originRow, rowKey, siteRow } from './rows.ts';
import type { State } from './state.ts';
import { type Filter, filterRows, groupBySite, type SortKey, sortRows, sortSites } from './table.ts';

export const PAGE_ROWS = 50;
const SEARCH_PAUSE_MS = 80;

/** A site that is opened from the table of sites shows all of its origins, the most used first. */
const OF_SITE: Partial<State> = {
  group: 'origin',
  query: '',
  mark: null,
  verdict: null,
  page: 1,
  sort: 'requests',
  direction: 'descending',
};

interface OriginsModel {
  readonly columns: Columns;
  /** Another number whenever the columns changed. */
  readonly revision: number;
  /** Whether the columns hold every record. */
  readonly complete: boolean;
  readonly state: State;
  /** What filters the records besides the state: the period. */
  readonly filter: Filter;
  readonly nowMs: number;
}

export interface OriginsView {
  render(model: OriginsModel): void;
}

interface Needs {
  readonly change: (changes: Partial<State>) => void;
  /** Builds what stands beneath an open row. */
  readonly detail: (origin: Origin, site: string) => HTMLElement;
}

interface OpenRow {
  readonly key: string;
  readonly line: HTMLTableRowElement;
}

const markName = (mark: Mark): string => (mark === 'h1' ? 'HTTP/1' : protocolName(mark));

function markOptions(): Entry<Mark | ''>[] {
  return [
    { value: '', words: say('dashboardAnyProtocol') },
    ...MARKS.map((mark) => ({ value: mark, words: markName(mark) })),
  ];
}

function verdictOptions(): Entry<VerdictCode | ''>[] {
  return [
    { value: '', words: say('dashboardAnyVerdict') },
    ...VERDICT_CODES.map((code) => ({ value: code, words: verdictName(code) })),
  ];
}

/** Makes the table; every choice is told by `change` and comes back with the next model. */
export function createOriginsView({ change, detail }: Needs): OriginsView {
  const table = byId<HTMLTableElement>('table');
  const [head, body] = [table.tHead, table.tBodies[0]] as [HTMLTableSectionElement, HTMLTableSectionElement];
  const query = byId<HTMLInputElement>('query');
  const page = byId<HTMLInputElement>('page');
  const mark = byId<HTMLSelectElement>('mark');
  const verdict = byId<HTMLSelectElement>('verdict');
  let model: OriginsModel | null = null;
  let shownGroup: State['group'] | null = null;
  let pages = 1;
  let open: OpenRow | null = null;

  const group = choice(
    byId('group'),
    'group',
    [
      { value: 'origin', words: say('dashboardByOrigin') },
      { value: 'site', words: say('dashboardBySite') },
    ] as const,
    (value) => change({ group: value, page: 1 }),
  );
  options(mark, markOptions(), (value) => change({ mark: value === '' ? null : value, page: 1 }));
  options(verdict, verdictOptions(), (value) => change({ verdict: value === '' ? null : value, page: 1 }));

  let typed: ReturnType<typeof setTimeout> | undefined;
  query.addEventListener('input', () => {
    clearTimeout(typed);
    typed = setTimeout(() => change({ query: query.value.trim().toLowerCase(), page: 1 }), SEARCH_PAUSE_MS);
  });
  byId('clear').addEventListener('click', () => {
    query.value = '';
    change({ query: '', mark: null, verdict: null, site: null, page: 1 });
    query.focus();
  });
  const go = (to: number) => change({ page: Math.min(pages, Math.max(1, to)) });
  byId('first').addEventListener('click', () => go(1));
  byId('previous').addEventListener('click', () => go((model?.state.page ?? 1) - 1));
  byId('next').addEventListener('click', () => go((model?.state.page ?? 1) + 1));
  page.addEventListener('change', () => go(Math.trunc(Number(page.value)) || 1));

  const sort = (key: SortKey): void => {
    if (model === null) return;
    change({ sort: key, direction: nextDirection(key, model.state), page: 1 });
  };

  const toggle = (origin: Origin, site: string): void => {
    const key = rowKey(origin, site);
    if (open?.key === key) open = null;
    else {
      const line = make('tr', 'detail');
      const cell = make('td');
      cell.colSpan = head.rows[0]?.cells.length ?? 1;
      cell.append(detail(origin, site));
      line.append(cell);
      open = { key, line };
    }
    if (model !== null) render(model);
  };

  /** Turning a page and opening a row keep the order there is. */
  let ordered: { readonly by: string; readonly rows: Uint32Array } | null = null;
  const orderOf = ({ columns, revision, state, filter }: OriginsModel): Uint32Array => {
    const by = JSON.stringify([revision, filter, state.sort, state.direction]);
    if (ordered?.by !== by)
      ordered = { by, rows: sortRows(columns, filterRows(columns, filter), state.sort, state.direction) };
    return ordered.rows;
  };

  const originLines = (shown: OriginsModel) => {
    const { columns, nowMs } = shown;
    const rows = orderOf(shown);
    const lineOf = (index: number): HTMLTableRowElement[] => {
      const row = rowAt(columns, index);
      const isOpen = open?.key === rowKey(row.origin, row.site);
      const line = originRow(row, nowMs, isOpen, () => toggle(row.origin, row.site));
      return isOpen && open !== null ? [line, open.line] : [line];
    };
    return { rows, lineOf };
  };
  const siteLines = ({ columns, state, filter, nowMs }: OriginsModel) => {
    const sites = groupBySite(columns, filterRows(columns, filter));
    const rows = sortSites(sites, state.sort, state.direction);
    const lineOf = (id: number) => {
      const site = sites.names[id] ?? '';
      return [siteRow(sites, id, nowMs, () => change({ ...OF_SITE, site }))];
    };
    return { rows, lineOf };
  };

  const writeControls = ({ state }: OriginsModel): void => {
    group.set(state.group);
    if (document.activeElement !== query) query.value = state.query;
    mark.value = state.mark ?? '';
    verdict.value = state.verdict ?? '';
    byId('clear').hidden =
      state.query === '' && state.mark === null && state.verdict === null && state.site === null;
    if (shownGroup !== state.group) {
      shownGroup = state.group;
      table.dataset['group'] = state.group;
      head.replaceChildren(headingRow(state.group, sort));
    }
    markSorted(head, state.sort, state.direction);
  };

  const writePaging = (
    found: number,
    from: number,
    shown: number,
    { state, complete }: OriginsModel,
  ): void => {
    const numbers = { from: from + 1, to: from + shown, count: found };
    const isSite = state.group === 'site';
    const words =
      found === 0 ? say('dashboardNoRows') : say(isSite ? 'dashboardShownSites' : 'dashboardShown', numbers);
    setText(byId('table-count'), complete ? words : say('dashboardShownSoFar', { words }));
    setText(byId('table-caption'), say(isSite ? 'dashboardCaptionSites' : 'dashboardCaption'));
    page.value = String(Math.floor(from / PAGE_ROWS) + 1);
    page.max = String(pages);
    setText(byId('pages'), say('dashboardOfPages', { pages: sayNumber(pages) }));
    for (const id of ['first', 'previous']) byId<HTMLButtonElement>(id).disabled = from === 0;
    byId<HTMLButtonElement>('next').disabled = from + shown >= found;
  };

  const render = (next: OriginsModel): void => {
    model = next;
    writeControls(next);
    const { rows, lineOf } = next.state.group === 'site' ? siteLines(next) : originLines(next);
    pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
    const from = (Math.min(next.state.page, pages) - 1) * PAGE_ROWS;
    const shown = rows.subarray(from, from + PAGE_ROWS);
    replaceLines(body, Array.from(shown).flatMap(lineOf));
    writePaging(rows.length, from, shown.length, next);
  };
  return { render };
}
