// The overview in the document: headline numbers, adoption over time, and how good the forecasts were.

import { sayNumber } from '@photofinish/shared/language/words';
import type { WordKey } from '../../common/words.ts';
import { say } from '../../common/words.ts';
import { dayWords } from '../charts/days.ts';
import { bandSwatch, lineSwatch } from '../charts/paint.ts';
import {
  SHARE_CHART_HEIGHT,
  type ShareChart,
  shareChartIndex,
  shareChartSvg,
  shareChartX,
} from '../charts/share-chart.ts';
import { byId, make, setText } from '../ui/elements.ts';
import { createFigure, type Drawing, type Figure } from './figure.ts';
import { adoptionWords, percentWords } from './labels.ts';
import type { Total } from './load.ts';
import { adoptionDay, type Overview, overviewOf, type Ratio, ratioDay } from './overview.ts';
import { BASES, type Basis, type Period, type State } from './state.ts';

/** Look-ups of Firefox's own cache that found a fresh entry: paper P1. */
const FIREFOX_HIT_SHARE = 0.84;

const BASIS_WORDS: Record<Basis, { readonly headline: WordKey; readonly perDay: WordKey }> = {
  request: { headline: 'dashboardOfRequests', perDay: 'dashboardRequestsADay' },
  origin: { headline: 'dashboardOfOrigins', perDay: 'dashboardOriginsADay' },
  navigation: { headline: 'dashboardOfNavigations', perDay: 'dashboardNavigationsADay' },
};

/** A chart by day as a figure; the readout stands at the newest day that has something. */
function dayDrawing(
  chart: Omit<ShareChart, 'widthPx'>,
  more: Pick<Drawing, 'readout' | 'legend' | 'table' | 'nothing'>,
): Drawing {
  const count = chart.days.length;
  const newest = chart.values.findLastIndex((value) => value !== null);
  return {
    svg: (widthPx) => shareChartSvg({ ...chart, widthPx }),
    heightPx: SHARE_CHART_HEIGHT,
    count,
    first: Math.max(0, newest),
    xOf: (index, widthPx) => shareChartX(widthPx, count, index),
    indexAt: (x, widthPx) => shareChartIndex(widthPx, count, x),
    scrubLabel: say('dashboardDay'),
    ...more,
  };
}

/** Adoption over time by one of the three ways to count it. */
export function adoptionDrawing(overview: Overview, basis: Basis, id: string): Drawing {
  const { days, values, sum, recordedDays } = overview;
  const adoption = values.map((value) => (value === null ? null : value.adoption[basis]));
  const shares = adoption.map((value) => (value === null ? null : adoptionDay(value)));
  const perDay = say(BASIS_WORDS[basis].perDay);
  const words = adoptionWords(sum.adoption[basis]);
  const numbers = { count: recordedDays, of: days.length, words };
  return dayDrawing(
    {
      id,
      days,
      values: shares,
      bands: ['h3', 'older', 'hidden'],
      reference: null,
      ofWords: perDay,
      title: say('dashboardAdoptionTitle', { what: perDay }),
      description: say('dashboardAdoptionDescription', numbers),
    },
    {
      readout(index) {
        const day = dayWords(days[index] ?? '', true);
        const value = adoption[index];
        if (value == null || value.known + value.hidden === 0) return say('dashboardDayNothing', { day });
        return say('dashboardDayWords', { day, words: adoptionWords(value) });
      },
      legend: [
        { swatch: bandSwatch('h3', `${id}-l3`), words: say('dashboardLegendH3') },
        { swatch: bandSwatch('older', `${id}-l2`), words: say('dashboardLegendOlder') },
        { swatch: bandSwatch('hidden', `${id}-lh`), words: say('dashboardLegendHidden') },
        { swatch: lineSwatch(), words: say('dashboardLegendLine') },
      ],
      table: () => ({
        head: [
          say('dashboardDay'),
          'HTTP/3',
          say('dashboardLegendOlder'),
          say('dashboardHidden'),
          say('dashboardLegendLine'),
        ],
        rows: days.flatMap((day, i) => {
          const value = adoption[i];
          if (value == null) return [];
          const { h3, known, hidden } = value;
          return [[day, ...[h3, known - h3, hidden].map(sayNumber), percentWords(h3, known)]];
        }),
      }),
      nothing: recordedDays === 0 ? say('dashboardNothingInPeriod') : null,
    },
  );
}

interface RatioWords {
  readonly title: WordKey;
  readonly description: WordKey;
  readonly perDay: WordKey;
  readonly day: WordKey;
  readonly hits: WordKey;
  readonly nothing: WordKey;
  readonly reference: number | null;
}

const HIT_WORDS: RatioWords = {
  title: 'dashboardHitTitle',
  description: 'dashboardHitDescription',
  perDay: 'dashboardLookupsADay',
  day: 'dashboardHitWords',
  hits: 'dashboardHits',
  nothing: 'dashboardHitNothing',
  reference: FIREFOX_HIT_SHARE,
};
const ACCURACY_WORDS: RatioWords = {
  title: 'dashboardAccuracyTitle',
  description: 'dashboardAccuracyDescription',
  perDay: 'dashboardScoredADay',
  day: 'dashboardAccuracyWords',
  hits: 'dashboardRight',
  nothing: 'dashboardAccuracyNothing',
  reference: null,
};

function ratioDrawing(
  days: readonly string[],
  ratios: readonly (Ratio | null)[],
  sum: Ratio,
  id: string,
  words: RatioWords,
): Drawing {
  const say1 = ({ hits, of }: Ratio) => say(words.day, { share: percentWords(hits, of), hits, of });
  const percent = percentWords(words.reference ?? 0, 1);
  const reference =
    words.reference === null
      ? null
      : { share: words.reference, label: say('dashboardFirefoxLine', { percent }) };
  return dayDrawing(
    {
      id,
      days,
      values: ratios.map((ratio) => (ratio === null ? null : ratioDay(ratio))),
      bands: ['plain'],
      reference,
      ofWords: say(words.perDay),
      title: say(words.title),
      description: say(words.description, { words: say1(sum) }),
    },
    {
      readout(index) {
        const day = dayWords(days[index] ?? '', true);
        const ratio = ratios[index];
        if (ratio == null || ratio.of === 0) return say('dashboardDayNothing', { day });
        return say('dashboardDayWords', { day, words: say1(ratio) });
      },
      legend:
        reference === null
          ? []
          : [{ swatch: lineSwatch(true), words: say('dashboardFirefoxWhat', { percent }) }],
      table: () => ({
        head: [say('dashboardDay'), say(words.hits), say(words.perDay), say('dashboardShare')],
        rows: days.flatMap((day, i) => {
          const ratio = ratios[i];
          if (ratio == null || ratio.of === 0) return [];
          return [[day, sayNumber(ratio.hits), sayNumber(ratio.of), percentWords(ratio.hits, ratio.of)]];
        }),
      }),
      nothing: sum.of === 0 ? say(words.nothing) : null,
    },
  );
}

function headline(share: string, of: string, counts: string): HTMLElement {
  const box = make('div', 'headline');
  box.append(make('strong', '', share), make('span', '', of), make('small', '', counts));
  return box;
}

function writeHeadlines(overview: Overview): void {
  const { adoption } = overview.sum;
  const boxes = BASES.map((basis) => {
    const { h3, known, hidden } = adoption[basis];
    return headline(
      percentWords(h3, known),
      say(BASIS_WORDS[basis].headline),
      say('dashboardCounts', { h3, known, hidden }),
    );
  });
  const { known, hidden } = adoption.request;
  const all = known + hidden;
  boxes.push(
    headline(
      percentWords(hidden, all),
      say('dashboardHiddenHeadline'),
      say('dashboardHiddenCounts', { hidden, all }),
    ),
  );
  byId('headlines').replaceChildren(...boxes);
}

export interface OverviewView {
  render(totals: readonly Total[], period: Period, state: State): void;
}

/** Makes the overview's figures. */
export function createOverviewView(): OverviewView {
  const figures: Record<'adoption' | 'hit' | 'accuracy', Figure> = {
    adoption: createFigure(byId('adoption-figure')),
    hit: createFigure(byId('hit-figure')),
    accuracy: createFigure(byId('accuracy-figure')),
  };
  return {
    render(totals, period, { network, by }) {
      const overview = overviewOf(totals, period, network);
      const { days, values, sum } = overview;
      writeHeadlines(overview);
      figures.adoption.draw(adoptionDrawing(overview, by, 'adoption'));
      const hits = values.map((value) => value?.hitRatio ?? null);
      figures.hit.draw(ratioDrawing(days, hits, sum.hitRatio, 'hits', HIT_WORDS));
      const right = values.map((value) => value?.accuracy ?? null);
      figures.accuracy.draw(ratioDrawing(days, right, sum.accuracy, 'accuracy', ACCURACY_WORDS));
      setText(byId('hit-total'), sum.hitRatio.of === 0 ? '' : totalWords(sum.hitRatio, HIT_WORDS));
      setText(byId('accuracy-total'), sum.accuracy.of === 0 ? '' : totalWords(sum.accuracy, ACCURACY_WORDS));
    },
  };
}

function totalWords({ hits, of }: Ratio, words: RatioWords): string {
  return say(words.day, { share: percentWords(hits, of), hits, of });
}
