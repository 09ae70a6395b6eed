// What a run of `cost` says in tables: the same cells go to the terminal, the page and the CSV.
import type { Column } from '../../run/table.ts';
import { formatNumber } from '../results/goal-row.ts';
import { NONE, type ResultRow, type ResultTable } from '../results/tables.ts';
import { type Cell, objectTitle, SERVER_TITLES, type Way } from './cells.ts';
import type { Loads } from './record.ts';
import { type CellSummary, FIGURES, type Figure, type Spread, spreadOf, valuesOf } from './summary.ts';

const BYTES_PER_MIB = 2 ** 20;
const right = (title: string): Column => ({ title, align: 'right' });

export function wayTitle(way: Way): string {
  if (way.kind === 'part') return way.part === 'tls' ? 'TCP and TLS, no request' : 'TCP alone';
  if (way.kind === 'near') return way.mode === 'race' ? 'race (10 ms), RTT 0' : 'HTTP/3 alone, RTT 0';
  const { winner, hitShare } = way;
  if (hitShare === 1 && winner !== 'half') return winner === 'h2' ? 'HTTP/2 alone' : 'HTTP/3 alone';
  const wins = { h2: 'HTTP/2 wins', h3: 'HTTP/3 wins', half: 'half and half' }[winner];
  return hitShare === 0 ? `naive, ${wins}` : `${100 * hitShare} % hits, ${wins}`;
}

export function cellTitle({ way, postQuantum }: Cell): string {
  return postQuantum ? wayTitle(way) : `${wayTitle(way)}, classical keys`;
}

/** Three significant figures are more than the samples' spread allows for. */
const figureText = (value: number) => formatNumber(Number(value.toPrecision(3)));

/** Median and, in brackets, the 10th and 90th percentile. */
function spreadText(spread: Spread | null, scale = 1): string {
  if (spread === null) return NONE;
  const [middle, low, high] = [spread.median, spread.p10, spread.p90].map((value) =>
    figureText(value / scale),
  );
  return `${middle} (${low}–${high})`;
}

const cell = (summary: CellSummary, figure: Figure, scale = 1) =>
  spreadText(spreadOf(valuesOf(summary, figure)), scale);
const medianOf = (summary: CellSummary, figure: Figure, scale = 1) => {
  const spread = spreadOf(valuesOf(summary, figure));
  return spread === null ? NONE : figureText(spread.median / scale);
};

/** Whether the load was driven, and if not in every segment, why. */
export function drivenText({ driven, why }: CellSummary): string {
  if (driven.of === 0) return 'not measured';
  if (driven.segments === driven.of) return 'yes';
  const share = driven.segments === 0 ? 'NOT DRIVEN' : `${driven.segments} of ${driven.of} segments`;
  return `${share}: ${why.join('; ')}`;
}

const where = ({ server, objectBytes, perSecond }: Omit<Cell, 'id' | 'way' | 'rttMs' | 'postQuantum'>) =>
  `${SERVER_TITLES[server]}, ${objectTitle(objectBytes)}, ${perSecond}/s`;
const WHERE = [{ title: 'server, object, load' }, { title: 'requests' }];

const rowsOf = (
  summaries: readonly CellSummary[],
  cells: (summary: CellSummary) => readonly string[],
): ResultRow[] =>
  summaries.map((summary) => ({
    cell: where(summary.cell),
    // Without line breaks: the names are what the eye goes down by.
    cells: [cellTitle(summary.cell).replaceAll(' ', '\u00a0'), ...cells(summary)],
  }));

function processorTable(summaries: readonly CellSummary[]): ResultTable {
  return {
    id: 'processor',
    title: 'Processor time a request, ms',
    caption:
      'Medians, in brackets the 10th and 90th percentile of the samples. Server: user and kernel time of its process. Receiving, up to the socket, is charged to the link, and TCP has more of it than QUIC.',
    columns: [
      ...WHERE,
      right('server'),
      right('user'),
      right('kernel'),
      right('% of a core'),
      right('client'),
      right('link'),
    ],
    rows: rowsOf(summaries, (summary) => [
      cell(summary, 'serverMs'),
      cell(summary, 'serverUserMs'),
      cell(summary, 'serverSystemMs'),
      medianOf(summary, 'serverShare', 0.01),
      medianOf(summary, 'clientMs'),
      medianOf(summary, 'linkMs'),
    ]),
  };
}

function memoryTable(summaries: readonly CellSummary[]): ResultTable {
  return {
    id: 'memory',
    title: 'Memory, MiB',
    caption:
      "Kernel: sockets' caches and buffers of the whole machine, both ends of each connection. Sockets: the server's, TCP and UDP.",
    columns: [
      ...WHERE,
      right('server PSS'),
      right('server RSS'),
      right('client PSS'),
      right('kernel'),
      right('sockets'),
    ],
    rows: rowsOf(summaries, (summary) => [
      ...(['serverPssBytes', 'serverRssBytes', 'clientPssBytes', 'kernelBytes'] as const).map((figure) =>
        cell(summary, figure, BYTES_PER_MIB),
      ),
      medianOf(summary, 'serverSockets'),
    ]),
  };
}

function driveTable(summaries: readonly CellSummary[], loads: Loads): ResultTable {
  const undriven = loads.flatMap(({ server, notDriven }) =>
    notDriven.map(
      ({ perSecond, why }): ResultRow => ({
        cell: `${SERVER_TITLES[server]}, ${perSecond}/s`,
        cells: ['all', NONE, NONE, NONE, `NOT DRIVEN: ${why}`],
      }),
    ),
  );
  return {
    id: 'drive',
    title: 'Whether the generator kept its schedule',
    caption:
      'Late: 99th percentile of starts against the schedule, worst segment. Left: of all processors, least of the segments. HTTP/3: share of the races that it won. Segments that were not driven are in no other table.',
    columns: [...WHERE, right('late p99, ms'), right('left, %'), right('HTTP/3, %'), { title: 'driven' }],
    rows: [
      ...rowsOf(summaries, (summary) => [
        summary.lateP99Ms === null ? NONE : formatNumber(summary.lateP99Ms),
        summary.idleShare === null ? NONE : (100 * summary.idleShare).toFixed(0),
        summary.races.of === 0 ? NONE : ((100 * summary.races.h3) / summary.races.of).toFixed(1),
        drivenText(summary),
      ]),
      ...undriven,
    ],
  };
}

/** All tables, in the order in which they are read. */
export function costTables(summaries: readonly CellSummary[], loads: Loads): ResultTable[] {
  return [processorTable(summaries), memoryTable(summaries), driveTable(summaries, loads)];
}

/** A line for each sample of a driven segment, the figures in the units of their names. */
export function samplesCsvRows(summaries: readonly CellSummary[]): (string | number)[][] {
  const figures = Object.keys(FIGURES) as Figure[];
  const head = ['cell', 'server', 'objectBytes', 'perSecond', 'rttMs', 'postQuantum', 'requests', ...figures];
  const rows = summaries.flatMap(({ cell: one, samples }) =>
    samples
      .filter(({ requests }) => requests > 0)
      .map((sample) => [
        one.id,
        one.server,
        one.objectBytes,
        one.perSecond,
        one.rttMs,
        String(one.postQuantum),
        sample.requests,
        ...figures.map((figure) => FIGURES[figure](sample) ?? ''),
      ]),
  );
  return [head, ...rows];
}
