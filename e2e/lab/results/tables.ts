// P2's four tables with ours, the paper's and every peer's rows, as data: the same cells go to the terminal and the page.
import type { Column } from '../../run/table.ts';
import { formatTable } from '../../run/table.ts';
import type { Cell, ContestantInfo } from '../adoption/run.ts';
import { type Derived, delayCells, type Figures, lossCells } from './figures.ts';
import type { Estimate } from './goal-row.ts';
import { wilson } from './intervals.ts';
import type { LinkAccuracy } from './link-accuracy.ts';
import { PAPER_ALT_SVC, PAPER_RACE, PAPER_TITLE, type PaperRow, paperAdopted, paperRow } from './paper.ts';

export type RowKind = ContestantInfo['kind'] | 'paper';

export interface ResultRow {
  /** Rows of one cell follow each other. */
  readonly cell: string;
  readonly kind?: RowKind;
  /** Of the contestant, or `paper`. */
  readonly client?: string;
  readonly cells: readonly string[];
}

export interface ResultTable {
  /** Unique among the tables. */
  readonly id: string;
  readonly title: string;
  /** What one must know to read it. */
  readonly caption: string;
  /** Of the cell first. */
  readonly columns: readonly Column[];
  readonly rows: readonly ResultRow[];
}

/** What stands where nothing was measured. */
export const NONE = '–';
const right = (title: string): Column => ({ title, align: 'right' });

const ms = (value: number) => value.toFixed(value < 10_000 ? 1 : 0);
const span = ({ low, high }: Estimate) => `${ms(low)} to ${ms(high)}`;
const percent = (share: number, digits = 1) => (100 * share).toFixed(digits);
/** A share and its interval, in percent. */
export const shareCells = ({ value, low, high }: Estimate) => [
  percent(value),
  `${percent(low)} to ${percent(high)}`,
];

export function lossText(loss: number): string {
  return `${Number((100 * loss).toPrecision(3))} %`;
}

/** A cell in a table's first column: its delay, or its loss, or both. */
export function cellText({ delayMs, loss }: Cell, sweep: 'delay' | 'loss'): string {
  if (sweep === 'delay') return `${delayMs} ms`;
  return delayMs === 0 ? lossText(loss) : `${lossText(loss)}, ${delayMs} ms`;
}

const FIGURE_COLUMNS = [
  { title: 'client' },
  right('trials'),
  right('HTTP/3 %'),
  right('95 %'),
  right('failed'),
  right('mean'),
  right('95 %'),
  right('sigma'),
  right('median'),
  right('p95'),
  right('max'),
  right('first byte'),
];

/** A client's name in one cell's rows and strips. */
export function titleOf({ contestant, brokeOff }: Figures): string {
  return brokeOff ? `${contestant.title} (broke off)` : contestant.title;
}

function figureCells(figures: Figures): string[] {
  const { trials, adoption, failed, established, firstByte } = figures;
  const times = established
    ? [
        ms(established.mean.value),
        span(established.mean),
        ms(established.sigmaMs),
        ms(established.medianMs),
        ms(established.p95.value),
        ms(established.maxMs),
      ]
    : Array.from({ length: 6 }, () => NONE);
  return [
    titleOf(figures),
    String(trials.length),
    ...shareCells(adoption),
    String(failed),
    ...times,
    firstByte ? ms(firstByte.mean.value) : NONE,
  ];
}

function paperCells(row: PaperRow): string[] {
  const adopted = paperAdopted(row);
  const shares = adopted === null ? [NONE, NONE] : shareCells(wilson(adopted));
  const most = row.maxMs === null ? NONE : ms(row.maxMs);
  return [
    PAPER_TITLE,
    '1000',
    ...shares,
    NONE,
    ms(row.meanMs),
    NONE,
    ms(row.sigmaMs),
    NONE,
    NONE,
    most,
    NONE,
  ];
}

interface Side {
  readonly paper: readonly PaperRow[];
  readonly has: (contestant: ContestantInfo) => boolean;
}

export const isAltSvc = ({ name }: Pick<ContestantInfo, 'name'>) => name.includes('alt-svc');
/** Everyone but those who do without a race; browsers learn of HTTP/3 by Alt-Svc and are in both. */
const RACE: Side = { paper: PAPER_RACE, has: (contestant) => !isAltSvc(contestant) };
const ALT_SVC: Side = {
  paper: PAPER_ALT_SVC,
  has: (contestant) => isAltSvc(contestant) || contestant.kind === 'browser',
};

function rowsOf(derived: Derived, cells: readonly Cell[], sweep: 'delay' | 'loss', side: Side): ResultRow[] {
  return cells.flatMap((cell) => {
    const text = cellText(cell, sweep);
    const paper = paperRow(side.paper, cell);
    const published = paper === undefined ? [PAPER_TITLE] : paperCells(paper);
    const measured = derived.contestants.filter(side.has).map((contestant): ResultRow => {
      const figures = derived.find(cell, contestant.name);
      return {
        cell: text,
        kind: contestant.kind,
        client: contestant.name,
        cells: figures === undefined ? [contestant.title] : figureCells(figures),
      };
    });
    const first: ResultRow = { cell: text, kind: 'paper', client: 'paper', cells: published };
    return [first, ...measured].map((row) => ({
      ...row,
      cells: FIGURE_COLUMNS.map((_, index) => row.cells[index] ?? NONE),
    }));
  });
}

const TIMES = 'Times are milliseconds to established; a failed trial counts as 30,000.';

/** P2's Tables 1 to 4. */
export function paperTables(derived: Derived): ResultTable[] {
  const table = (number: number, title: string, sweep: 'delay' | 'loss', side: Side, caption: string) => ({
    id: `table-${number}`,
    title: `Table ${number}. ${title}`,
    caption: `${caption} ${TIMES}`,
    columns: [{ title: sweep }, ...FIGURE_COLUMNS],
    rows: rowsOf(derived, sweep === 'delay' ? delayCells(derived.run) : lossCells(derived.run), sweep, side),
  });
  return [
    table(1, 'Race, by external round trip', 'delay', RACE, 'No loss; half of the delay in each direction.'),
    table(
      2,
      'Alt-Svc, by external round trip',
      'delay',
      ALT_SVC,
      'The time of the first connection that could be used.',
    ),
    table(3, 'Race, by loss from server to client', 'loss', RACE, 'Independent losses, no delay.'),
    table(
      4,
      'Alt-Svc, by loss from server to client',
      'loss',
      ALT_SVC,
      'At 50 % the paper could not complete its trials.',
    ),
  ];
}

const us = (value: number) => (value / 1000).toFixed(2);

/** What the emulator did meanwhile. */
export function linkTable(accuracy: readonly LinkAccuracy[]): ResultTable {
  return {
    id: 'link',
    title: 'The link while the trials ran',
    caption:
      'Late: how much later than asked packets were delivered, ms; the median turn, the worst turn, the worst packet. Loss in percent.',
    columns: [
      { title: 'cell' },
      { title: 'direction' },
      right('packets'),
      right('delay asked, ms'),
      right('shortest got'),
      right('loss asked'),
      right('got'),
      right('95 %'),
      right('late: median'),
      right('p99'),
      right('max'),
    ],
    rows: accuracy.map((row) => ({
      cell: row.cellId,
      cells: [
        row.direction === 'up' ? 'client to server' : 'server to client',
        String(row.packets),
        row.askedDelayMs.toFixed(1),
        row.shortestMs === null ? NONE : row.shortestMs.toFixed(2),
        percent(row.askedLoss, 2),
        ...(row.gotLoss === null
          ? [NONE, NONE]
          : [
              percent(row.gotLoss.value, 2),
              `${percent(row.gotLoss.low, 2)} to ${percent(row.gotLoss.high, 2)}`,
            ]),
        ...(row.lateUs === null
          ? [NONE, NONE, NONE]
          : [row.lateUs.median, row.lateUs.p99, row.lateUs.max].map(us)),
      ],
    })),
  };
}

/** A table for the terminal, its cell named in the first of its rows only; without a trailing newline. */
export function formatResultTable({ title, caption, columns, rows }: ResultTable): string {
  const lines = rows.map(({ cell, cells }, index) => [rows[index - 1]?.cell === cell ? '' : cell, ...cells]);
  return `${title}\n${caption}\n${formatTable(columns, lines)}`;
}
