// The page that results of the laboratory are read on: one file that needs nothing else, light, dark and in print, and
// the means by which goals and tables are written into it.
import { PALETTE_CSS } from '@photofinish/shared/marks';
import { escapeMarkup as esc } from '@photofinish/shared/markup';
import { standalonePage } from '@photofinish/shared/page';
import { byGroup, GOAL_COLUMNS, type GoalRow, goalCells } from './goal-row.ts';
import type { ResultRow, ResultTable } from './tables.ts';

const CSS = `${PALETTE_CSS}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 1120px; padding: 40px 32px 64px; background: var(--pf-paper); color: var(--pf-ink); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 26px; line-height: 32px; margin: 0 0 8px; letter-spacing: -0.01em; } h2 { font-size: 18px; line-height: 24px; margin: 0 0 8px; } h3 { font-size: 14px; line-height: 20px; margin: 24px 0 4px; }
p { margin: 0 0 8px; max-width: 84ch; text-wrap: pretty; } section { margin-top: 48px; } a { color: inherit; } .what, caption, figcaption, footer, dt { color: var(--pf-muted); } ul { margin: 0 0 8px; padding-inline-start: 20px; } li { overflow-wrap: anywhere; }
dl { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 16px 0 0; padding: 12px 16px; border-radius: 8px; background: var(--pf-wash); } dl div { min-width: 0; } dt { font-size: 12px; } dd { margin: 0; overflow-wrap: anywhere; }
.counts { display: flex; flex-wrap: wrap; gap: 8px 48px; margin: 16px 0 8px; } .counts b { font-size: 28px; line-height: 36px; font-weight: 650; margin-inline-end: 6px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 12.5px; line-height: 18px; } caption { caption-side: top; text-align: start; padding-bottom: 6px; font-size: 12.5px; }
th, td { padding: 4px 0; padding-inline-end: 12px; text-align: start; vertical-align: top; } th:last-child, td:last-child { padding-inline-end: 4px; } thead th { font-size: 12px; font-weight: 500; color: var(--pf-muted); vertical-align: bottom; border-bottom: 1px solid var(--pf-muted); }
tbody th { font-weight: 600; white-space: nowrap; } tbody { border-bottom: 1px solid var(--pf-line); } .n { text-align: end; white-space: nowrap; } .ours td:nth-of-type(1) { font-weight: 600; } td.soft { color: var(--pf-muted); } .paper td { font-style: italic; }
.sign { margin-inline-end: 6px; vertical-align: -1px; overflow: visible; } .goals td, .goals th { border-bottom: 1px solid var(--pf-line); } .goals tbody th { font-weight: 500; } .verdict { white-space: nowrap; font-weight: 600; } .verdict small { display: block; font-weight: 400; color: var(--pf-muted); white-space: normal; min-width: 176px; } .missed { text-decoration: underline; text-underline-offset: 3px; }
figure { margin: 24px 0 0; break-inside: avoid; } figcaption { font-size: 12.5px; margin-bottom: 8px; max-width: 90ch; } figcaption b { color: var(--pf-ink); font-size: 14px; } .plot { display: block; width: 100%; height: auto; font-family: inherit; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 24px; } .legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 8px 0; font-size: 12.5px; }
footer { margin-top: 56px; padding-top: 12px; border-top: 1px solid var(--pf-line); font-size: 12.5px; }
@media (max-width: 820px) { body { padding: 24px 16px; } .pair { grid-template-columns: 1fr; } }
@page { size: A4 landscape; margin: 14mm; }
@media print { body { max-width: none; padding: 0; font-size: 11px; } table, thead th, caption, figcaption, .legend, .verdict small { font-size: 9.5px; line-height: 13px; } h3, figcaption b { font-size: 12px; } th, td { padding-block: 2px; padding-inline-end: 8px; } thead { display: table-header-group; } tr, .legend, dl { break-inside: avoid; } h2, h3, caption { break-after: avoid; } section { margin-top: 24px; } .scroll { overflow: visible; } }`;

export interface LabPage {
  readonly title: string;
  /** Plain text, one sentence or two. */
  readonly lead: string;
  /** Names and values, plain text. */
  readonly conditions: readonly (readonly [string, string])[];
  /** Markup, as is the footer. */
  readonly main: string;
  readonly footer: string;
}

/** The whole page. */
export function labPage({ title, lead, conditions, main, footer }: LabPage): string {
  const entries = conditions.map(([name, value]) => `<div><dt>${esc(name)}</dt><dd>${esc(value)}</dd></div>`);
  const header = `<h1>${esc(title)}</h1><p class="what">${esc(lead)}</p><dl>${entries.join('')}</dl>`;
  return standalonePage({ language: 'en', title, css: CSS, header, main: `\n${main}\n`, footer });
}

/** A titled part of the page; `body` is markup. */
export function section(id: string, title: string, body: string): string {
  return `<section id="${esc(id)}"><h2>${esc(title)}</h2>${body}</section>`;
}

/** A drawing under its caption; `note` says how to read it and where its figures stand as a table. */
export function figure(title: string, note: string, drawing: string): string {
  return `<figure><figcaption><b>${esc(title)}</b><br>${note}</figcaption>${drawing}</figure>`;
}

const VERDICT_SIGNS: Readonly<Record<GoalRow['verdict'], string>> = {
  holds: '✓',
  'holds, whole interval': '✓',
  MISSED: '✗',
  'not judged': '○',
  'not measured': '–',
  reported: '',
};

function verdictMarkup({ verdict, reason, trend }: GoalRow): string {
  const sign = VERDICT_SIGNS[verdict];
  const said = verdict === 'MISSED' ? `<span class="missed">${verdict}</span>` : esc(verdict);
  const small = verdict === 'not judged' ? `<small>${esc(reason ?? '')}; trend: ${trend}</small>` : '';
  return `<td class="verdict">${sign === '' ? '' : `${sign} `}${said}${small}</td>`;
}

function goalMarkup(row: GoalRow): string {
  const [name = '', goal = '', measured = '', interval = '', anchor = '', , note = ''] = goalCells(row);
  const numbers = [goal, measured, interval].map((text) => `<td class="n">${esc(text)}</td>`);
  return `<tr><th scope="row">${esc(name)}</th>${numbers.join('')}<td>${esc(anchor)}</td>${verdictMarkup(row)}<td class="soft">${esc(note)}</td></tr>`;
}

/** How many goals hold, are missed, and cannot be judged: the page's first answer. */
export function goalCounts(rows: readonly GoalRow[]): string {
  const count = (...verdicts: GoalRow['verdict'][]) =>
    rows.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const parts = [
    [count('holds', 'holds, whole interval'), '✓ hold'],
    [count('MISSED'), '✗ missed'],
    [count('not judged'), '○ not judged'],
    [count('not measured'), '– not measured'],
  ] as const;
  return `<p class="counts">${parts.map(([number, words]) => `<span><b>${number}</b>${words}</span>`).join('')}</p>`;
}

/** Every group of goals as a table of its own. */
export function goalsMarkup(rows: readonly GoalRow[]): string {
  const head = GOAL_COLUMNS.map(
    (column) => `<th scope="col"${'align' in column ? ' class="n"' : ''}>${esc(column.title)}</th>`,
  ).join('');
  return [...byGroup(rows)]
    .map(
      ([group, members]) =>
        `<h3>${esc(group)}</h3><div class="scroll"><table class="goals"><thead><tr>${head}</tr></thead><tbody>${members.map(goalMarkup).join('')}</tbody></table></div>`,
    )
    .join('');
}

function rowMarkup(
  { columns }: ResultTable,
  row: ResultRow,
  spans: number,
  sign: (row: ResultRow) => string,
): string {
  const first = spans === 0 ? '' : `<th scope="rowgroup" rowspan="${spans}">${esc(row.cell)}</th>`;
  const cells = row.cells.map((text, index) => {
    const column = columns[index + 1];
    const classes = [column?.align === 'right' ? 'n' : '', column?.title === '95 %' ? 'soft' : ''];
    const name = classes.filter((each) => each !== '').join(' ');
    return `<td${name === '' ? '' : ` class="${name}"`}>${index === 0 ? sign(row) : ''}${esc(text)}</td>`;
  });
  return `<tr${row.kind === undefined ? '' : ` class="${row.kind}"`}>${first}${cells.join('')}</tr>`;
}

/** A table whose rows are grouped by cell; `sign` gives the picture before a row's first words, if any. */
export function tableMarkup(table: ResultTable, sign: (row: ResultRow) => string = () => ''): string {
  const head = table.columns.map(
    ({ title, align }) => `<th scope="col"${align === 'right' ? ' class="n"' : ''}>${esc(title)}</th>`,
  );
  const groups = [...Map.groupBy(table.rows, ({ cell }) => cell).values()].map(
    (rows) =>
      `<tbody>${rows.map((row, index) => rowMarkup(table, row, index === 0 ? rows.length : 0, sign)).join('')}</tbody>`,
  );
  return `<div class="scroll" id="${esc(table.id)}"><h3>${esc(table.title)}</h3><table><caption>${esc(table.caption)}</caption><thead><tr>${head.join('')}</tr></thead>${groups.join('')}</table></div>`;
}
