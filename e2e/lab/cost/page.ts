// The run as one page that needs nothing else: plots first, then the claims, then every table.
import type { GoalRow } from '../results/goal-row.ts';
import { goalCounts, goalsMarkup, labPage, section, tableMarkup } from '../results/page-frame.ts';
import type { ResultTable } from '../results/tables.ts';
import { BASIC, type Cell, HIT_SHARES, objectTitle, SERVER_TITLES, type Way, WINNERS } from './cells.ts';
import { type Plot, type PlotPoint, type PlotSeries, plotMarkup, SIGNS } from './plots.ts';
import { leastSquares } from './straight-line.ts';
import { type CellSummary, type Figure, spreadOf, valuesOf } from './summary.ts';

const BYTES_PER_MIB = 2 ** 20;

const sameWay = (a: Way, b: Way) => JSON.stringify(a) === JSON.stringify(b);

function pointOf(summary: CellSummary | undefined, figure: Figure, x: number, scale: number): PlotPoint[] {
  const spread = summary === undefined ? null : spreadOf(valuesOf(summary, figure).map((one) => one / scale));
  return spread === null ? [] : [{ x, y: spread }];
}

type Group = readonly CellSummary[];
const find = (group: Group, perSecond: number, way: Way) =>
  group.find(({ cell }) => cell.perSecond === perSecond && cell.postQuantum && sameWay(cell.way, way));

const titleOf = ({ server, objectBytes }: Cell) => `${SERVER_TITLES[server]}, ${objectTitle(objectBytes)}`;

function byLoad(group: Group, first: Cell, figure: Figure, yTitle: string, scale = 1): Plot {
  const loads = [...new Set(group.map(({ cell }) => cell.perSecond))].toSorted((a, b) => a - b);
  const series = (name: string, look: keyof typeof SIGNS, way: Way): PlotSeries => ({
    name,
    sign: SIGNS[look],
    points: loads.flatMap((load) => pointOf(find(group, load, way), figure, load, scale)),
  });
  return {
    id: `load-${figure}-${first.server}-${first.objectBytes}`,
    title: titleOf(first),
    xTitle: 'requests a second',
    yTitle,
    series: [
      series('HTTP/2 alone', 'h2', BASIC.h2),
      series('HTTP/3 alone', 'h3', BASIC.h3),
      series('naive race', 'both', BASIC.naive),
    ],
  };
}

function byHits(group: Group, first: Cell): Plot {
  const highest = Math.max(...group.map(({ cell }) => cell.perSecond));
  const looks = { h2: 'h2', h3: 'h3', half: 'both' } as const;
  const names = { h2: 'HTTP/2 wins', h3: 'HTTP/3 wins', half: 'half and half' } as const;
  return {
    id: `hits-${first.server}-${first.objectBytes}`,
    title: `${titleOf(first)}, ${highest} requests a second`,
    xTitle: 'hit ratio, %; dashed: least squares',
    yTitle: 'server CPU, ms a request',
    series: WINNERS.map((winner): PlotSeries => {
      const points = HIT_SHARES.flatMap((hitShare) =>
        pointOf(find(group, highest, { kind: 'cached', winner, hitShare }), 'serverMs', 100 * hitShare, 1),
      );
      const fit = points.length < 2 ? null : leastSquares(points.map(({ x, y }) => ({ x, y: y.median })));
      return { name: names[winner], sign: SIGNS[looks[winner]], points, ...(fit !== null && { fit }) };
    }),
  };
}

/** Two beside each other. */
function pairs(drawn: readonly string[]): string {
  return drawn.length === 0 ? '' : `<div class="pair">${drawn.join('')}</div>`;
}

export interface CostPage {
  readonly summaries: readonly CellSummary[];
  readonly goals: readonly GoalRow[];
  readonly tables: readonly ResultTable[];
  /** Names and values. */
  readonly conditions: readonly (readonly [string, string])[];
}

/** One self-contained document; its policy forbids it to run or load anything. */
export function costPage({ summaries, goals, tables, conditions }: CostPage): string {
  const usual = summaries.filter(({ cell }) => cell.postQuantum && cell.way.kind === 'cached');
  const groups = [...Map.groupBy(usual, ({ cell }) => `${cell.server} ${cell.objectBytes}`).values()];
  const drawn = (draw: (group: Group, first: Cell) => Plot) =>
    pairs(
      groups
        .flatMap((group) => (group[0] === undefined ? [] : plotMarkup(draw(group, group[0].cell))))
        .filter((markup) => markup !== ''),
    );
  const parts = [
    [
      'load',
      'Server CPU by load',
      drawn((group, first) => byLoad(group, first, 'serverMs', 'server CPU, ms a request')),
    ],
    ['hits', 'Server CPU over the hit ratio', drawn(byHits)],
    [
      'memory-by-load',
      'Server memory by load',
      drawn((group, first) => byLoad(group, first, 'serverPssBytes', 'server PSS, MiB', BYTES_PER_MIB)),
    ],
    ['claims', 'Claims', goalCounts(goals) + goalsMarkup(goals)],
    ['tables', 'Tables', tables.map((table) => tableMarkup(table)).join('')],
  ] as const;
  return labPage({
    title: 'What racing costs a server, and what a cache takes away',
    lead: 'Requests at exponentially distributed gaps from our own client, over a link with a round trip of 20 ms.',
    conditions,
    main: parts
      .filter(([, , body]) => body !== '')
      .map(([id, title, body]) => section(id, title, body))
      .join('\n'),
    footer:
      'P1: Papastergiou et al., On the Cost of Using Happy Eyeballs for Transport Protocol Selection, ANRW 2016. Points: medians; whiskers: 10th to 90th percentile of the samples.',
  });
}
