// The table of the page's origins: one row each, sortable, and a row opens its verdict, findings and race. Rows are kept
// and only those of origins that changed are written, so that an update is quick, closes no row and moves no focus.
import type { Origin } from '@photofinish/shared/origin';
import type { OriginView, PageView } from '../messages.ts';
import { byId, setAttribute } from '../ui/elements.ts';
import { isOpen, makeRow, type Row, type Surroundings, updateRow } from './row.ts';
import { nextSorting, SORT_KEYS, type Sorting, sortOrigins } from './sorting.ts';
import { wireTip } from './tip.ts';

const rows = new Map<Origin, Row>();
let sorting: Sorting | null = null;
let shown: readonly OriginView[] = [];

/** Puts the rows in order, moving only those that are out of place. */
function arrange(table: HTMLElement, wanted: readonly Row[]): void {
  const focused = document.activeElement;
  let before: Element | null = null;
  for (const row of wanted.toReversed()) {
    if (row.body.nextElementSibling !== before || row.body.parentElement !== table)
      table.insertBefore(row.body, before);
    before = row.body;
  }
  if (focused instanceof HTMLElement && focused !== document.activeElement && table.contains(focused))
    focused.focus({ preventScroll: true });
}

function showSorting(): void {
  for (const key of SORT_KEYS) {
    const header = document.querySelector(`th[data-sort="${key}"]`);
    if (header) setAttribute(header, 'aria-sort', sorting?.key === key ? sorting.direction : 'none');
  }
}

function order(): void {
  const wanted = sortOrigins(shown, sorting).flatMap((view) => rows.get(view.origin) ?? []);
  arrange(byId('origin-table'), wanted);
  showSorting();
}

function rowOf(target: EventTarget | null): Row | null {
  const body = target instanceof Element ? target.closest<HTMLElement>('tbody[data-origin]') : null;
  // Of an open row the verdict is in view already.
  const row = rows.get((body?.dataset['origin'] ?? '') as Origin);
  return row === undefined || isOpen(row) ? null : row;
}

/** Makes the column headers sort and the rows tell their verdicts to pointer and focus. */
export function wireOrigins(): void {
  for (const key of SORT_KEYS)
    document.querySelector(`th[data-sort="${key}"] button`)?.addEventListener('click', () => {
      sorting = nextSorting(sorting, key);
      order();
    });
  wireTip(byId('origin-table'), (target) => {
    const row = rowOf(target);
    return row === null ? null : { place: row.body, describes: row.opener, text: row.view.verdict.text };
  });
}

/** Draws rows anew that depend on more than their view: of these origins, or of all. */
export function redrawRows(origins: Iterable<Origin> | null, around: Surroundings): void {
  for (const origin of origins ?? rows.keys()) {
    const row = rows.get(origin);
    if (row !== undefined) updateRow(row, row.view, around);
  }
}

/** The table of the page's origins. Rows of origins that look as they did, being the same objects, are left alone. */
export function renderOrigins(page: PageView, around: () => Surroundings): void {
  byId('origins').hidden = page.origins.length === 0;
  if (page.origins === shown) return;
  shown = page.origins;
  const here = new Set(shown.map((view) => view.origin));
  for (const [origin, row] of rows)
    if (!here.has(origin)) {
      row.body.remove();
      rows.delete(origin);
    }
  const now = around();
  for (const view of shown) {
    const known = rows.get(view.origin);
    if (known?.view === view) continue;
    const row = known ?? makeRow(view, around);
    rows.set(view.origin, row);
    updateRow(row, view, now);
  }
  order();
}
