// A run of `adoption` as plots: the distribution of times in every cell, adoption by loss, means by delay.
import type { Mark } from '@photofinish/shared/marks';
import { escapeMarkup as esc } from '@photofinish/shared/markup';
import type { Cell, ContestantInfo } from '../adoption/run.ts';
import { DEADLINE_MS } from '../trial.ts';
import { type Derived, delayCells, lossCells } from './figures.ts';
import type { Estimate } from './goal-row.ts';
import { scaled, wilson } from './intervals.ts';
import { figure } from './page-frame.ts';
import { PAPER_ALT_SVC, PAPER_RACE, PAPER_TITLE, paperAdopted, paperMean, paperRow } from './paper.ts';
import { PUBLISHED, type Sign, signMarkup, signOf } from './plots/drawing.ts';
import { type PointSeries, pointPlotSvg } from './plots/point-plot.ts';
import { type Strip, stripPlotSvg } from './plots/strip-plot.ts';
import { isAltSvc, lossText, type RowKind, titleOf } from './tables.ts';

const WIDTH_PX = 1056;
const HALF_PX = 516;
/** Where strips begin: no handshake is done sooner after its round trip. */
const STRIPS_FROM_MS = 0.5;
/** Where strips may end. */
const STRIP_ENDS_MS = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, DEADLINE_MS];
/** Over the delay: what is later than this is told by its figure. */
const OVER_TICKS_MS = [0, 2, 4, 6, 8, 10];
const GOAL_OVER_MS = 2;
const TICKS_APART_MS = 100;

const MARK_OF: Readonly<Record<RowKind, Mark>> = { ours: 'h3', peer: 'h2', browser: 'h1', paper: 'unknown' };

/** Everyone's sign, `paper` included: fill and colour by kind, shape within it. */
export function signsOf({ contestants }: Derived): ReadonlyMap<string, Sign> {
  const groups = Map.groupBy(contestants, ({ kind }) => kind);
  const own = [...groups].flatMap(([kind, members]) =>
    members.map(({ name }, nth) => [name, signOf(MARK_OF[kind], nth)] as const),
  );
  return new Map([...own, ['paper', PUBLISHED]]);
}

interface Client {
  readonly name: string;
  readonly title: string;
  readonly sign: Sign;
}

/** The paper and those contestants, each with its sign. */
function clientsOf(derived: Derived, has: (contestant: ContestantInfo) => boolean): Client[] {
  const signs = signsOf(derived);
  const own = derived.contestants
    .filter(has)
    .map(({ name, title }) => ({ name, title, sign: signs.get(name) ?? PUBLISHED }));
  return [{ name: 'paper', title: PAPER_TITLE, sign: PUBLISHED }, ...own];
}

function legend(clients: readonly Client[]): string {
  const entries = clients.map(({ title, sign }) => `<span>${signMarkup(sign)}${esc(title)}</span>`);
  return `<div class="legend">${entries.join('')}</div>`;
}

const tableLink = (...numbers: readonly number[]) =>
  `The same figures: ${numbers.map((number) => `<a href="#table-${number}">Table ${number}</a>`).join(', ')}.`;

function adoptionOf(derived: Derived, cell: Cell, client: string): Estimate | null {
  if (client !== 'paper') return derived.find(cell, client)?.adoption ?? null;
  const row = paperRow(PAPER_RACE, cell);
  const adopted = row && paperAdopted(row);
  return adopted ? wilson(adopted) : null;
}

/** Even steps over what is there, the axis ending where the lowest interval does. */
function shareTicks(points: readonly (Estimate | null)[]): number[] {
  const least = Math.min(90, ...points.flatMap((point) => point?.low ?? []));
  const from = Math.max(0, 10 * Math.floor(least / 10));
  return Array.from({ length: (100 - from) / 10 + 1 }, (_, index) => from + 10 * index);
}

function adoptionByLoss(derived: Derived): string {
  const cells = lossCells(derived.run);
  const clients = clientsOf(derived, (contestant) => !isAltSvc(contestant));
  const series = clients.map(({ name, sign }): PointSeries => {
    const points = cells.map((cell) => adoptionOf(derived, cell, name));
    return { sign, points: points.map((point) => point && scaled(point, 100)) };
  });
  const ticks = shareTicks(series.flatMap(({ points }) => points));
  const drawing = pointPlotSvg({
    id: 'adoption-by-loss',
    title: 'Share of trials that adopted HTTP/3, by loss',
    description: 'For each loss one sign a client with its 95 % Wilson interval; the figures are in Table 3.',
    widthPx: WIDTH_PX,
    settings: cells.map(({ loss }) => lossText(loss)),
    xTitle: 'packets lost from server to client',
    yTitle: 'trials that adopted HTTP/3',
    ticks,
    unit: '%',
    series,
  });
  const start = ticks[0] === 0 ? '' : ` The axis starts at ${ticks[0]} %.`;
  const note = `Signs are shares of all trials, failed ones included; whiskers are 95 % Wilson intervals.${start} ${tableLink(3)}`;
  return figure('Adoption by loss', note, legend(clients) + drawing);
}

function meanOf(derived: Derived, cell: Cell, client: string): Estimate | null {
  if (client !== 'paper') return derived.find(cell, client)?.established?.mean ?? null;
  const row = paperRow(PAPER_RACE, cell);
  return row === undefined ? null : paperMean(row);
}

/** Delay sweep: means as they are, and what they are over the delay. */
function meanByDelay(derived: Derived): string {
  const cells = delayCells(derived.run);
  const clients = clientsOf(derived, (contestant) => !isAltSvc(contestant) && contestant.kind !== 'browser');
  const all = clientsOf(derived, () => true).filter(({ name }) =>
    cells.some((cell) => meanOf(derived, cell, name) !== null),
  );
  const series = (members: readonly Client[], over: (cell: Cell) => number): PointSeries[] =>
    members.map(({ name, sign }) => ({
      sign,
      points: cells.map((cell) => {
        const mean = meanOf(derived, cell, name);
        return mean && scaled(mean, 1, -over(cell));
      }),
    }));
  const whole = series(all, () => 0);
  const slowest = Math.max(
    TICKS_APART_MS,
    ...whole.flatMap(({ points }) => points.flatMap((point) => point?.value ?? [])),
  );
  const shown = Math.min(slowest, 3 * Math.max(TICKS_APART_MS, ...cells.map(({ delayMs }) => delayMs)));
  const common = {
    widthPx: HALF_PX,
    settings: cells.map(({ delayMs }) => String(delayMs)),
    xTitle: "the link's round trip d, ms",
  };
  const left = pointPlotSvg({
    ...common,
    id: 'mean-by-delay',
    title: 'Mean time to established, by delay',
    description:
      'One sign a client and delay; dashed steps: the delay itself. The figures are in Tables 1 and 2.',
    yTitle: 'mean time to established, ms; dashed: d',
    ticks: Array.from(
      { length: Math.ceil(shown / TICKS_APART_MS) + 1 },
      (_, index) => TICKS_APART_MS * index,
    ),
    series: whole,
    reference: cells.map(({ delayMs }) => delayMs),
  });
  const right = pointPlotSvg({
    ...common,
    id: 'mean-over-delay',
    title: 'Mean time to established over the delay',
    description:
      'The same means less the delay, without Alt-Svc and browsers, with 95 % intervals; dashed: the goal of 2 ms.',
    yTitle: `mean less d, ms; dashed: the goal, ${GOAL_OVER_MS} ms`,
    ticks: OVER_TICKS_MS,
    series: series(clients, ({ delayMs }) => delayMs),
    reference: cells.map(() => GOAL_OVER_MS),
  });
  const note = `Left everyone who tells it, against the delay itself (dashed); right the same without Alt-Svc and browsers, magnified: what they take beyond the delay. Whiskers are 95 % intervals: bootstrap here, from the published deviation for the paper. An arrow is beyond the axis. ${tableLink(1, 2)}`;
  return figure(
    'Mean time to established by delay',
    note,
    `${legend(all)}<div class="pair">${left}${right}</div>`,
  );
}

function stripsOf(derived: Derived, cell: Cell): Strip[] {
  const overMs = (ms: number) => Math.max(0, ms - cell.delayMs);
  return clientsOf(derived, () => true).flatMap(({ name, sign }): Strip[] => {
    if (name === 'paper') {
      const sides = [
        { rows: PAPER_RACE, label: `${PAPER_TITLE}, race` },
        { rows: PAPER_ALT_SVC, label: `${PAPER_TITLE}, Alt-Svc` },
      ];
      return sides.flatMap(({ rows, label }) => {
        const row = paperRow(rows, cell);
        return row ? { label, sign, valuesMs: [], failed: 0, meanMs: overMs(row.meanMs) } : [];
      });
    }
    const figures = derived.find(cell, name);
    if (figures === undefined) return [];
    const told =
      figures.established === null ? [] : figures.trials.flatMap(({ establishedMs }) => establishedMs ?? []);
    return [{ label: titleOf(figures), sign, valuesMs: told.map(overMs), failed: figures.failed }];
  });
}

function slowestMs(strips: readonly Strip[]): number {
  return strips.reduce(
    (slowest, { valuesMs, meanMs = 0 }) =>
      valuesMs.reduce((most, ms) => Math.max(most, ms), Math.max(slowest, meanMs)),
    0,
  );
}

/** The cells of one sweep on one axis, so that they can be compared. */
function stripFigures(derived: Derived, cells: readonly Cell[], tables: string): string {
  const measured = cells.filter((cell) => derived.all.some((figures) => figures.cell.id === cell.id));
  const all = measured.map((cell) => ({ cell, strips: stripsOf(derived, cell) }));
  const slowest = Math.max(0, ...all.map(({ strips }) => slowestMs(strips)));
  const toMs = STRIP_ENDS_MS.find((end) => end >= slowest) ?? DEADLINE_MS;
  return all
    .map(({ cell, strips }) => {
      const title = `Round trip ${cell.delayMs} ms${cell.loss > 0 ? `, ${lossText(cell.loss)} loss` : ''}`;
      const drawing = stripPlotSvg({
        id: `times-${cell.id}`,
        title: `Distribution of the time to established over the round trip: ${title}`,
        description: 'One strip a client, its median named. The figures are in the tables.',
        widthPx: WIDTH_PX,
        strips,
        fromMs: STRIPS_FROM_MS,
        toMs,
      });
      return figure(title, tables, drawing);
    })
    .join('');
}

/** The comparisons: adoption by loss, means by delay; markup, empty where there is only one cell to show. */
export function comparisonPlots(derived: Derived): string {
  const loss = lossCells(derived.run).length > 1 ? adoptionByLoss(derived) : '';
  return loss + (delayCells(derived.run).length > 1 ? meanByDelay(derived) : '');
}

/** The distributions, one figure a cell; markup. */
export function distributionPlots(derived: Derived): string {
  const delays = delayCells(derived.run);
  const losses = lossCells(derived.run).filter((cell) => !delays.includes(cell));
  return stripFigures(derived, delays, tableLink(1, 2)) + stripFigures(derived, losses, tableLink(3, 4));
}
