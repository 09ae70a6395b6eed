// The table of docs/counts.md: how accurate the counts of each kind are in each browser and observation mode. A run
// with PHOTOFINISH_WRITE_COUNTS writes its own columns; any other run is compared with them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from '@photofinish/shared/report/markdown';
import { TOP } from '../../scratch.ts';
import { KINDS } from './kinds.ts';

const PAGE = join(TOP, 'docs', 'counts.md');
const MARKED = /(<!-- begin measured -->\n)[\s\S]*?(\n<!-- end measured -->)/;
const HEADS = {
  'chromium, full': 'Chromium, full mode',
  'chromium, light': 'Chromium, light mode',
  'firefox, full': 'Firefox',
};
/** A browser with its observation mode. */
export type ColumnName = keyof typeof HEADS;
const COLUMNS = Object.keys(HEADS) as ColumnName[];
const NOT_MEASURED = 'not measured';

/** Requests by protocol; protocols without requests are absent. */
export type Counts = Readonly<Record<string, number>>;

/** One kind as counted by its server and by the report. */
export interface KindCounts {
  readonly served: Counts;
  readonly reported: Counts;
  /** Why the protocol of the most recent response of unknown protocol is unknown. */
  readonly reason: string | null;
}

/** A column: cells by name of the kind. */
export type Column = Readonly<Record<string, string>>;

/** The sum over all protocols. */
export const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/**
 * Responses counted under a wrong protocol, or more often than they occurred, which only light mode may do with those of
 * unknown protocol; empty if there are none.
 */
export function faultsOf({ served, reported }: KindCounts, column: ColumnName): string[] {
  const more = Object.entries(reported).flatMap(([protocol, count]) =>
    protocol !== 'unknown' && count > (served[protocol] ?? 0)
      ? [`${count} over ${protocol}, which carried ${served[protocol] ?? 0}`]
      : [],
  );
  const [came, told] = [total(served), total(reported)];
  if (column === 'chromium, light' && told - (reported.unknown ?? 0) <= came) return more;
  return told > came ? [...more, `${told} in all, of ${came}`] : more;
}

/** The table's cell for the accuracy of a kind's counts. */
export function cellOf({ served, reported, reason }: KindCounts): string {
  const [came, told] = [total(served), total(reported)];
  const unknown = reported.unknown ?? 0;
  if (came === 0) return 'no request';
  if (told === 0) return 'not counted';
  if (told < came) return 'partly not counted';
  if (unknown === 0) return 'exact';
  if (told > came) return `at most (${reason})`;
  return `${unknown < told ? 'partly unknown' : 'unknown'} (${reason})`;
}

function rowsOf(page: string): Map<string, string[]> {
  const [table = ''] = MARKED.exec(page) ?? [];
  const rows = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map(([what = '', ...cells]) => [what, cells]));
}

/** The column as committed. */
export function committedColumn(column: ColumnName): Column {
  const rows = rowsOf(readFileSync(PAGE, 'utf8'));
  const at = COLUMNS.indexOf(column);
  return Object.fromEntries(KINDS.map(({ name, what }) => [name, rows.get(what)?.[at] ?? NOT_MEASURED]));
}

/** Writes the column, with the text around the table. */
export function writeColumn(name: ColumnName, column: Column): void {
  const page = readFileSync(PAGE, 'utf8');
  const columns = COLUMNS.map((each) => (each === name ? column : committedColumn(each)));
  const rows = KINDS.map(({ name: kind, what, why = '' }) => [
    what,
    ...columns.map((each) => each[kind] ?? NOT_MEASURED),
    why,
  ]);
  const table = markdownTable(['Requests', ...COLUMNS.map((each) => HEADS[each]), 'Why'], rows).join('\n');
  writeFileSync(
    PAGE,
    page.replace(MARKED, (_, begin, end) => `${begin}\n${table}\n${end}`),
  );
}
