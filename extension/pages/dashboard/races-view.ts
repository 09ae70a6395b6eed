// Races of all origins or of one: the distribution of how long each protocol took in comparisons, and the list of every
// race of the period. A line opens its photo finish.

import { markPaint } from '@photofinish/shared/drawing/svg';
import { formatNumber } from '@photofinish/shared/language/catalog';
import { formatMs } from '@photofinish/shared/language/markup';
import { median, percentile } from '@photofinish/shared/race/statistics';
import { differenceText, unclearText } from '@photofinish/shared/verdict/gain';
import type { Origin } from '@photofinish/shared/web/origin';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { DAY_MS } from '../../common/records/schema.ts';
import { troubleText } from '../../ledger/database.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { dayStartMs } from '../charts/days.ts';
import {
  countUpTo,
  ECDF_CHART_HEIGHT,
  type EcdfChart,
  ecdfAxisMs,
  ecdfChartSvg,
  ecdfMs,
  ecdfX,
} from '../charts/ecdf-chart.ts';
import { lineSwatch } from '../charts/paint.ts';
import { byId, make, setText, wideRow } from '../ui/elements.ts';
import { type Entry, headCell, hostName, openerCell, options, replaceLines } from './controls.ts';
import { createFigure, type Drawing, raceFigure } from './figures.ts';
import { instantText, modeText, networkText, percentText } from './labels.ts';
import { type Distributions, distributionsOf, type RaceSummary, type Samples } from './race-samples.ts';
import type { Period, State } from './state.ts';

const HISTORY_ROWS = 25;
/** Readout positions along the axis. */
const STOPS = 100;
/** Limits the list of origins to a readable length. */
const MAX_ORIGINS = 200;

interface RacesModel {
  readonly races: readonly RaceSummary[];
  readonly complete: boolean;
  readonly state: State;
  readonly period: Period;
}

interface Kind {
  readonly id: string;
  readonly title: MessageKey;
  readonly of: (distributions: Distributions) => Samples;
}

const ESTABLISHED: Kind = { id: 'established', title: 'dashboardEstablishedTitle', of: (d) => d.established };
const FIRST_BYTE: Kind = { id: 'first-byte', title: 'dashboardFirstByteTitle', of: (d) => d.firstByte };

function sideText(valuesMs: readonly number[], name: string): string {
  const ms = median(valuesMs);
  return ms === null
    ? ''
    : getMessage('dashboardMedianText', { name, ms: formatMs(ms), count: valuesMs.length });
}

function sidesOf({ h3, h2 }: Samples) {
  return [
    { mark: 'h3', name: PROTOCOL_NAMES.h3, valuesMs: h3 },
    { mark: 'h2', name: getMessage('dashboardOverTcp'), valuesMs: h2 },
  ] as const;
}

const QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1];

/** One distribution of both sides on its own axis. */
export function ecdfDrawing(distributions: Distributions, kind: Kind, maxMs: number): Drawing {
  const sides = sidesOf(kind.of(distributions));
  const counted = sides.filter(({ valuesMs }) => valuesMs.length > 0);
  const chart: Omit<EcdfChart, 'widthPx'> = {
    id: kind.id,
    series: sides,
    maxMs,
    title: getMessage(kind.title),
    description: counted.map(({ valuesMs, name }) => sideText(valuesMs, name)).join(' '),
  };
  const beyond = sides.map(({ valuesMs }) => valuesMs.length - countUpTo(valuesMs, maxMs));
  const late = beyond.reduce((sum, n) => sum + n, 0);
  const msAt = (index: number) => (maxMs * index) / STOPS;
  return {
    svg: (widthPx) => ecdfChartSvg({ ...chart, widthPx }),
    heightPx: ECDF_CHART_HEIGHT,
    count: STOPS + 1,
    first: Math.round((STOPS * (median(sides[0].valuesMs) ?? 0)) / maxMs),
    xOf: (index, widthPx) => ecdfX({ widthPx, maxMs })(msAt(index)),
    indexAt: (x, widthPx) => Math.round((STOPS * ecdfMs({ widthPx, maxMs }, x)) / maxMs),
    readout: (index) =>
      getMessage('dashboardEcdfText', {
        ms: formatMs(msAt(index)),
        sides: counted
          .map(({ valuesMs, name }) => {
            const done = countUpTo(valuesMs, msAt(index));
            return getMessage('dashboardEcdfSide', { name, share: percentText(done, valuesMs.length) });
          })
          .join(', '),
      }),
    scrubLabel: getMessage('dashboardTime'),
    legend: [
      ...counted.map(({ mark, name, valuesMs }) => ({
        swatch: lineSwatch(mark === 'h2', markPaint(mark)),
        words: getMessage('dashboardSeries', {
          name,
          count: valuesMs.length,
          number: formatNumber(valuesMs.length),
        }),
      })),
      ...(late > 0
        ? [
            {
              swatch: '',
              words: getMessage('dashboardBeyond', { count: late, ms: formatMs(maxMs) }),
            },
          ]
        : []),
    ],
    table: () => ({
      head: [getMessage('dashboardShareOfTrials'), ...counted.map(({ name }) => name)],
      rows: QUANTILES.map((share) => [
        share === 0.5 ? getMessage('dashboardMedian') : percentText(share, 1),
        ...counted.map(({ valuesMs }) => formatMs(percentile(valuesMs, share))),
      ]),
    }),
    nothing: counted.length === 0 ? getMessage('dashboardNoComparisons') : null,
  };
}

function originEntries(races: readonly RaceSummary[]): Entry<string>[] {
  const counts = new Map<Origin, number>();
  for (const { origin, mode } of races)
    if (mode === 'compare') counts.set(origin, (counts.get(origin) ?? 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_ORIGINS);
  return [
    { value: '', words: getMessage('dashboardAllOrigins') },
    ...most.map(([origin, count]) => ({
      value: origin,
      words: `${origin.slice('https://'.length)} (${formatNumber(count)})`,
    })),
  ];
}

/** A race's result, in few words. */
export function resultText({ mode, comparison, adopted, pairs, failed, trials }: RaceSummary): string {
  if (trials === 0) return getMessage('dashboardCouldNotRace');
  if (mode === 'compare') {
    if (comparison === null)
      return getMessage('dashboardTooFewPairs', { whole: pairs.whole, count: pairs.all });
    const ms = differenceText(comparison);
    if (comparison.quicker === null || ms === null) return unclearText(comparison);
    return getMessage('dashboardSooner', { name: PROTOCOL_NAMES[comparison.quicker], ms });
  }
  if (adopted === null) return getMessage('dashboardAllFailed', { count: failed });
  return getMessage('dashboardAdopted', { name: PROTOCOL_NAMES[adopted] });
}

/** How many races there are, what of them the distributions show, and why not the rest. */
export function racesText(races: number, { comparisons, origins, pairs }: Distributions): string {
  if (races === 0) return getMessage('dashboardRacesNone');
  const { whole, late, all } = pairs;
  const unconnected = all - whole - late;
  const what = getMessage('dashboardRacesWhat', {
    races: getMessage('dashboardRacesWhatRaces', { count: races }),
    comparisons: getMessage('dashboardRacesWhatComparisons', { count: comparisons }),
    origins: getMessage('dashboardRacesWhatOrigins', { count: origins }),
    whole,
    all,
  });
  return [
    what,
    ...(late === 0 ? [] : [getMessage('dashboardRacesLate', { count: late })]),
    ...(unconnected === 0 ? [] : [getMessage('dashboardRacesUnconnected', { count: unconnected })]),
  ].join(' ');
}

function within({ fromDay, toDay }: Period, race: RaceSummary): boolean {
  return race.atMs >= dayStartMs(fromDay) && race.atMs < dayStartMs(toDay) + DAY_MS;
}

const HISTORY_HEAD: readonly MessageKey[] = [
  'dashboardWhen',
  'dashboardOrigin',
  'dashboardMode',
  'dashboardResult',
  'dashboardTrialCount',
  'dashboardNetwork',
];

function historyHead(): HTMLTableRowElement {
  const cells = HISTORY_HEAD.map((key) =>
    headCell('col', key === 'dashboardTrialCount' ? 'number' : '', getMessage(key)),
  );
  return make('tr', '', ...cells);
}

/** Creates the section; photo finishes are read from the ledger when opened. */
export class RacesView {
  readonly #ledger: Pick<Ledger, 'races'>;
  readonly #figures = {
    established: createFigure(byId('established-figure')),
    firstByte: createFigure(byId('first-byte-figure')),
  };
  readonly #table = byId<HTMLTableElement>('race-table');
  readonly #body: HTMLTableSectionElement;
  readonly #select = byId<HTMLSelectElement>('race-origin');
  #model: RacesModel | null = null;
  #shown = HISTORY_ROWS;
  readonly #opened = new Map<string, HTMLTableRowElement>();

  constructor(ledger: Pick<Ledger, 'races'>) {
    this.#ledger = ledger;
    this.#body = this.#table.tBodies[0] as HTMLTableSectionElement;
    this.#table.tHead?.replaceChildren(historyHead());
    this.#select.addEventListener('change', () => {
      this.#shown = HISTORY_ROWS;
      this.#redraw();
    });
    byId('more-races').addEventListener('click', () => {
      this.#shown += HISTORY_ROWS;
      this.#redraw();
    });
  }

  render(next: RacesModel): void {
    this.#model = next;
    this.#redraw();
  }

  #openRace(race: RaceSummary, key: string): void {
    if (this.#opened.delete(key)) {
      this.#redraw();
      return;
    }
    const { row: line, cell } = wideRow('detail', HISTORY_HEAD.length);
    this.#opened.set(key, line);
    this.#ledger.races(race.origin).then(
      (races) => {
        const found = races.find(({ atMs }) => atMs === race.atMs);
        cell.replaceChildren(found ? raceFigure(found) : make('p', 'gone', getMessage('dashboardGone')));
      },
      (error) => cell.replaceChildren(make('p', 'gone', troubleText(error))),
    );
    this.#redraw();
  }

  #lineOf(race: RaceSummary): HTMLTableRowElement[] {
    const key = `${race.atMs} ${race.origin}`;
    const detail = this.#opened.get(key);
    const line = make(
      'tr',
      detail ? 'main open' : 'main',
      openerCell(detail !== undefined, () => this.#openRace(race, key), instantText(race.atMs)),
      make('td', '', hostName(race.origin.slice('https://'.length))),
      make('td', '', modeText(race.mode)),
      make('td', '', resultText(race)),
      make('td', 'number', formatNumber(race.trials)),
      make('td', '', networkText(race.network)),
    );
    line.dataset['key'] = key;
    return detail ? [line, detail] : [line];
  }

  #drawHistory(races: readonly RaceSummary[]): void {
    replaceLines(
      this.#body,
      races.slice(0, this.#shown).flatMap((race) => this.#lineOf(race)),
    );
    byId('history').hidden = races.length === 0;
    byId('more-races').hidden = races.length <= this.#shown;
  }

  #redraw(): void {
    if (this.#model === null) return;
    const { state, period, complete } = this.#model;
    const inPeriod = this.#model.races.filter(
      (race) => within(period, race) && (state.network === null || race.network === state.network),
    );
    options(this.#select, originEntries(inPeriod));
    const chosen = inPeriod.filter((race) => this.#select.value === '' || race.origin === this.#select.value);
    const distributions = distributionsOf(chosen);
    const maxMs = ecdfAxisMs([ESTABLISHED, FIRST_BYTE].flatMap((kind) => sidesOf(kind.of(distributions))));
    this.#figures.established.draw(ecdfDrawing(distributions, ESTABLISHED, maxMs));
    this.#figures.firstByte.draw(ecdfDrawing(distributions, FIRST_BYTE, maxMs));
    const words = racesText(chosen.length, distributions);
    setText(byId('races-what'), complete ? words : getMessage('dashboardCounting'));
    byId('distributions').hidden = distributions.comparisons === 0;
    this.#drawHistory(chosen);
  }
}
