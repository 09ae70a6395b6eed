// The table of origins and sites: its controls, its page of rows, and the open row. Sorting and filtering work on the
// columns; focus and the open row survive every redraw. And the counts of verdicts, a bar for each, labelled with its
// meaning: a click shows its origins in the table.
import { formatNumber } from '@photofinish/shared/language/catalog';
import { VERDICT_CODES, type VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { verdictMeans, verdictName } from '@photofinish/shared/verdict/codes';
import type { Origin } from '@photofinish/shared/web/origin';
import { MARKS, type Mark, protocolName } from '@photofinish/shared/web/protocol';
import { getMessage } from '../../common/catalog.ts';
import { onClick, setDisabled } from '../ui/disabled-button.ts';
import { byId, make, makeButton, setText, setValue, wideRow } from '../ui/elements.ts';
import { type Columns, rowAt } from './columns.ts';
import { choice, type Entry, options, replaceLines } from './controls.ts';
import type { OriginDetail } from './detail-view.ts';
import { percentText } from './labels.ts';
import type { State } from './state.ts';
import { type Filter, filterRows, groupBySite, type SortKey, sortRows, sortSites } from './table-model.ts';
import { headingRow, markSorted, nextDirection, originRow, rowKey, siteRow } from './table-rows.ts';

export const PAGE_ROWS = 50;
const SEARCH_PAUSE_MS = 80;

/** A site opened from the table of sites shows all of its origins, the most used first. */
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
  /** Changes whenever the columns change. */
  readonly revision: number;
  /** Whether the columns contain every record. */
  readonly complete: boolean;
  readonly state: State;
  /** What filters the records besides the state: the period. */
  readonly filter: Filter;
  readonly nowMs: number;
}

interface OriginsViewDeps {
  readonly change: (changes: Partial<State>) => void;
  /** Creates what is shown beneath an open row. */
  readonly detail: (origin: Origin, site: string) => OriginDetail;
}

interface OpenRow {
  readonly key: string;
  readonly line: HTMLTableRowElement;
  readonly detail: OriginDetail;
  /** The data and the period that it shows. */
  shows: string;
}

const markName = (mark: Mark): string => (mark === 'h1' ? 'HTTP/1' : protocolName(mark));

function markOptions(): Entry<Mark | ''>[] {
  return [
    { value: '', words: getMessage('dashboardAnyProtocol') },
    ...MARKS.map((mark) => ({ value: mark, words: markName(mark) })),
  ];
}

function verdictOptions(): Entry<VerdictCode | ''>[] {
  return [
    { value: '', words: getMessage('dashboardAnyVerdict') },
    ...VERDICT_CODES.map((code) => ({ value: code, words: verdictName(code) })),
  ];
}

/** Creates the table; every choice is passed to `change` and returns with the next model. */
export class OriginsView {
  readonly #deps: OriginsViewDeps;
  readonly #table = byId<HTMLTableElement>('table');
  readonly #head: HTMLTableSectionElement;
  readonly #body: HTMLTableSectionElement;
  readonly #query = byId<HTMLInputElement>('query');
  readonly #page = byId<HTMLInputElement>('page');
  readonly #mark = byId<HTMLSelectElement>('mark');
  readonly #verdict = byId<HTMLSelectElement>('verdict');
  #model: OriginsModel | null = null;
  #shownGroup: State['group'] | null = null;
  #pages = 1;
  #open: OpenRow | null = null;
  readonly #group: ReturnType<typeof choice<State['group']>>;
  #typed: ReturnType<typeof setTimeout> | undefined;
  /** Turning a page and opening a row reuse the existing order. */
  #ordered: { readonly by: string; readonly rows: Uint32Array } | null = null;

  constructor(deps: OriginsViewDeps) {
    this.#deps = deps;
    this.#head = this.#table.tHead as HTMLTableSectionElement;
    this.#body = this.#table.tBodies[0] as HTMLTableSectionElement;
    this.#group = choice(
      byId('group'),
      'group',
      [
        { value: 'origin', words: getMessage('dashboardByOrigin') },
        { value: 'site', words: getMessage('dashboardBySite') },
      ] as const,
      (value) => this.#deps.change({ group: value, page: 1 }),
    );
    options(this.#mark, markOptions(), (value) =>
      this.#deps.change({ mark: value === '' ? null : value, page: 1 }),
    );
    options(this.#verdict, verdictOptions(), (value) =>
      this.#deps.change({ verdict: value === '' ? null : value, page: 1 }),
    );
    this.#query.addEventListener('input', () => {
      clearTimeout(this.#typed);
      this.#typed = setTimeout(
        () => this.#deps.change({ query: this.#query.value.trim().toLowerCase(), page: 1 }),
        SEARCH_PAUSE_MS,
      );
    });
    byId('clear').addEventListener('click', () => {
      this.#query.value = '';
      this.#deps.change({ query: '', mark: null, verdict: null, site: null, page: 1 });
      this.#query.focus();
    });
    onClick(byId('first'), () => this.#go(1));
    onClick(byId('previous'), () => this.#go((this.#model?.state.page ?? 1) - 1));
    onClick(byId('next'), () => this.#go((this.#model?.state.page ?? 1) + 1));
    this.#page.addEventListener('change', () => {
      const to = this.#within(Math.trunc(Number(this.#page.value)) || 1);
      // After Enter the field still has the focus, and no redraw corrects it.
      this.#page.value = String(to);
      this.#go(to);
    });
  }

  render(next: OriginsModel): void {
    this.#model = next;
    this.#writeControls(next);
    const { rows, lineOf } = next.state.group === 'site' ? this.#siteLines(next) : this.#originLines(next);
    this.#pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
    const from = (Math.min(next.state.page, this.#pages) - 1) * PAGE_ROWS;
    const shown = rows.subarray(from, from + PAGE_ROWS);
    replaceLines(this.#body, Array.from(shown).flatMap(lineOf));
    this.#writePaging(rows.length, from, shown.length, next);
  }

  #within(page: number): number {
    return Math.min(this.#pages, Math.max(1, page));
  }

  #go(to: number): void {
    this.#deps.change({ page: this.#within(to) });
  }

  #sort(key: SortKey): void {
    if (this.#model === null) return;
    this.#deps.change({ sort: key, direction: nextDirection(key, this.#model.state), page: 1 });
  }

  #toggle(origin: Origin, site: string): void {
    const key = rowKey(origin, site);
    if (this.#open?.key === key) this.#open = null;
    else {
      const columns = this.#head.rows[0]?.cells.length ?? 1;
      const detail = this.#deps.detail(origin, site);
      const { row: line } = wideRow('detail', columns, detail.element);
      this.#open = { key, line, detail, shows: '' };
    }
    if (this.#model !== null) this.render(this.#model);
  }

  #refresh(open: OpenRow, { revision, filter }: OriginsModel): void {
    const shows = JSON.stringify([revision, filter.sinceMs, filter.untilMs]);
    if (open.shows === shows) return;
    open.shows = shows;
    open.detail.refresh();
  }

  #orderOf({ columns, revision, state, filter }: OriginsModel): Uint32Array {
    const by = JSON.stringify([revision, filter, state.sort, state.direction]);
    if (this.#ordered?.by !== by)
      this.#ordered = {
        by,
        rows: sortRows(columns, filterRows(columns, filter), state.sort, state.direction),
      };
    return this.#ordered.rows;
  }

  #originLines(shown: OriginsModel) {
    const { columns, nowMs } = shown;
    const rows = this.#orderOf(shown);
    const lineOf = (index: number): HTMLTableRowElement[] => {
      const row = rowAt(columns, index);
      const open = this.#open?.key === rowKey(row.origin, row.site) ? this.#open : null;
      const line = originRow(row, nowMs, open !== null, () => this.#toggle(row.origin, row.site));
      if (open === null) return [line];
      this.#refresh(open, shown);
      return [line, open.line];
    };
    return { rows, lineOf };
  }

  #siteLines({ columns, state, filter, nowMs }: OriginsModel) {
    const sites = groupBySite(columns, filterRows(columns, filter));
    const rows = sortSites(sites, state.sort, state.direction);
    const lineOf = (id: number) => {
      const site = sites.names[id] ?? '';
      return [siteRow(sites, id, nowMs, () => this.#deps.change({ ...OF_SITE, site }))];
    };
    return { rows, lineOf };
  }

  #writeControls({ state }: OriginsModel): void {
    this.#group.set(state.group);
    setValue(this.#query, state.query);
    this.#mark.value = state.mark ?? '';
    this.#verdict.value = state.verdict ?? '';
    byId('clear').hidden =
      state.query === '' && state.mark === null && state.verdict === null && state.site === null;
    if (this.#shownGroup !== state.group) {
      this.#shownGroup = state.group;
      this.#table.dataset['group'] = state.group;
      this.#head.replaceChildren(headingRow(state.group, (key) => this.#sort(key)));
    }
    markSorted(this.#head, state.sort, state.direction);
  }

  #writePaging(found: number, from: number, shown: number, { state, complete }: OriginsModel): void {
    const numbers = { from: from + 1, to: from + shown, count: found };
    const isSite = state.group === 'site';
    const words =
      found === 0
        ? getMessage('dashboardNoRows')
        : getMessage(isSite ? 'dashboardShownSites' : 'dashboardShown', numbers);
    setText(byId('table-count'), complete ? words : getMessage('dashboardShownSoFar', { words }));
    setText(byId('table-caption'), getMessage(isSite ? 'dashboardCaptionSites' : 'dashboardCaption'));
    setValue(this.#page, String(Math.floor(from / PAGE_ROWS) + 1));
    this.#page.max = String(this.#pages);
    setText(byId('pages'), getMessage('dashboardOfPages', { pages: formatNumber(this.#pages) }));
    for (const id of ['first', 'previous']) setDisabled(byId(id), from === 0);
    setDisabled(byId('next'), from + shown >= found);
  }
}

function bar(
  code: VerdictCode,
  count: number,
  all: number,
  chosen: boolean,
  onChoose: () => void,
): HTMLElement {
  const fill = make('span', 'fill');
  fill.style.inlineSize = `${(100 * count) / all}%`;
  const content = [
    make('strong', 'name', verdictName(code)),
    make('span', 'track', fill),
    make('span', 'count', getMessage('dashboardVerdictCount', { count, share: percentText(count, all) })),
    make('span', 'meaning', verdictMeans(code)),
  ];
  const button = makeButton(`verdict-bar ${code}`, content, onChoose);
  button.ariaPressed = String(chosen);
  return make('li', '', button);
}

/** Draws the verdicts' bars, the most frequent first. `complete`: whether every record was counted. */
export function renderVerdicts(
  counts: ReadonlyMap<VerdictCode, number>,
  complete: boolean,
  chosen: VerdictCode | null,
  choose: (code: VerdictCode | null) => void,
): void {
  const list = byId('verdicts');
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  setText(
    byId('verdict-total'),
    complete ? getMessage('dashboardOriginsTotal', { count: all }) : getMessage('dashboardCounting'),
  );
  list.ariaBusy = String(!complete);
  const focused = list.contains(document.activeElement)
    ? [...list.children].findIndex((item) => item.contains(document.activeElement))
    : -1;
  const bars = complete
    ? [...counts].map(([code, count]) =>
        bar(code, count, all, code === chosen, () => choose(code === chosen ? null : code)),
      )
    : [];
  list.replaceChildren(...bars);
  bars[focused]?.querySelector('button')?.focus({ preventScroll: true });
}
