// Draws the overview: headline numbers, adoption over time, and how good the forecasts were.

import { formatNumber } from '@photofinish/shared/language/catalog';
import { atMostText, hiddenCountText, lightNote } from '@photofinish/shared/web/observation';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { dayText } from '../charts/days.ts';
import { bandSwatch, lineSwatch } from '../charts/paint.ts';
import {
  SHARE_CHART_HEIGHT,
  type ShareChart,
  shareChartIndex,
  shareChartSvg,
  shareChartX,
} from '../charts/share-chart.ts';
import { byId, make, setText } from '../ui/elements.ts';
import { createFigure, type Drawing } from './figures.ts';
import { adoptionText, percentText } from './labels.ts';
import type { Total } from './load.ts';
import { adoptionDay, type Overview, overviewOf, type Ratio, ratioDay } from './overview.ts';
import { BASES, type Basis, type Period, type State } from './state.ts';

/** Share of look-ups in Firefox's own cache that found a fresh entry: paper P1. */
const FIREFOX_HIT_SHARE = 0.84;

const BASIS_WORDS: Record<Basis, Readonly<Record<'headline' | 'perDay' | 'nothing', MessageKey>>> = {
  request: {
    headline: 'dashboardOfRequests',
    perDay: 'dashboardRequestsADay',
    nothing: 'dashboardNoRequests',
  },
  origin: {
    headline: 'dashboardOfOrigins',
    perDay: 'dashboardOriginsADay',
    nothing: 'dashboardNoRequests',
  },
  navigation: {
    headline: 'dashboardOfNavigations',
    perDay: 'dashboardNavigationsADay',
    nothing: 'dashboardNoNavigations',
  },
};

/** What a chart by day says beside its drawing. */
interface DayTexts extends Pick<Drawing, 'legend' | 'nothing'> {
  /** The columns of the table, after that of the day. */
  readonly head: readonly string[];
  /** A day in words, and its cells in the table; null if it has no data. */
  readonly textsOf: (index: number) => { readonly words: string; readonly cells: readonly string[] } | null;
}

/** A chart by day as a figure, which starts at the newest day with data. */
function dayDrawing(chart: Omit<ShareChart, 'widthPx'>, { head, textsOf, ...more }: DayTexts): Drawing {
  const count = chart.days.length;
  const newest = chart.values.findLastIndex((value) => value !== null);
  return {
    svg: (widthPx) => shareChartSvg({ ...chart, widthPx }),
    heightPx: SHARE_CHART_HEIGHT,
    count,
    first: Math.max(0, newest),
    xOf: (index, widthPx) => shareChartX(widthPx, count, index),
    indexAt: (x, widthPx) => shareChartIndex(widthPx, count, x),
    readout(index) {
      const day = dayText(chart.days[index] ?? '', true);
      const texts = textsOf(index);
      return texts === null
        ? getMessage('dashboardDayNothing', { day })
        : getMessage('dashboardDayText', { day, words: texts.words });
    },
    table: () => ({
      head: [getMessage('dashboardDay'), ...head],
      rows: chart.days.flatMap((day, index) => {
        const texts = textsOf(index);
        return texts === null ? [] : [[day, ...texts.cells]];
      }),
    }),
    scrubLabel: getMessage('dashboardDay'),
    ...more,
  };
}

/** Adoption over time by one of the three ways to count it. */
export function adoptionDrawing(overview: Overview, basis: Basis, id: string): Drawing {
  const { days, values, sum, recordedDays } = overview;
  const adoption = values.map((value) => (value === null ? null : value.adoption[basis]));
  const modesAt = (index: number) => values[index]?.modes ?? [];
  const shares = adoption.map((value) => (value === null ? null : adoptionDay(value)));
  const perDay = getMessage(BASIS_WORDS[basis].perDay);
  const words = adoptionText(sum.adoption[basis], sum.modes);
  // A day may have data, such as responses from caches, and nothing that is counted here.
  const counted = shares.filter((share) => share !== null).length;
  const nothing = recordedDays === 0 ? 'dashboardNothingInPeriod' : BASIS_WORDS[basis].nothing;
  return dayDrawing(
    {
      id,
      days,
      values: shares,
      bands: ['h3', 'older', 'hidden'],
      reference: null,
      ofText: perDay,
      title: getMessage('dashboardAdoptionTitle', { what: perDay }),
      description: getMessage('dashboardAdoptionDescription', {
        words,
        recorded: counted,
        count: days.length,
      }),
    },
    {
      head: [
        'HTTP/3',
        getMessage('dashboardLegendOlder'),
        getMessage('dashboardHidden'),
        getMessage('dashboardLegendLine'),
      ],
      textsOf(index) {
        const value = adoption[index];
        if (value == null || value.known + value.hidden === 0) return null;
        const { h3, known } = value;
        const hidden = hiddenCountText(value.hidden, modesAt(index));
        const cells = [...[h3, known - h3].map(formatNumber), hidden, percentText(h3, known)];
        return { words: adoptionText(value, modesAt(index)), cells };
      },
      legend: [
        { swatch: bandSwatch('h3', `${id}-l3`), words: getMessage('dashboardLegendH3') },
        { swatch: bandSwatch('older', `${id}-l2`), words: getMessage('dashboardLegendOlder') },
        { swatch: bandSwatch('hidden', `${id}-lh`), words: getMessage('dashboardLegendHidden') },
        { swatch: lineSwatch(), words: getMessage('dashboardLegendLine') },
      ],
      nothing: counted === 0 ? getMessage(nothing) : null,
    },
  );
}

type RatioText = Record<'title' | 'description' | 'perDay' | 'day' | 'hits' | 'nothing', MessageKey> & {
  readonly reference: number | null;
};

const HIT_WORDS: RatioText = {
  title: 'dashboardHitTitle',
  description: 'dashboardHitDescription',
  perDay: 'dashboardLookupsADay',
  day: 'dashboardHitText',
  hits: 'dashboardHits',
  nothing: 'dashboardHitNothing',
  reference: FIREFOX_HIT_SHARE,
};
const ACCURACY_WORDS: RatioText = {
  title: 'dashboardAccuracyTitle',
  description: 'dashboardAccuracyDescription',
  perDay: 'dashboardScoredADay',
  day: 'dashboardAccuracyText',
  hits: 'dashboardRight',
  nothing: 'dashboardAccuracyNothing',
  reference: null,
};

/** A ratio as a share with its counts. */
export function ratioText({ hits, of }: Ratio, { day }: Pick<RatioText, 'day'>): string {
  return getMessage(day, { share: percentText(hits, of), hits, count: of });
}

function ratioDrawing(
  days: readonly string[],
  ratios: readonly (Ratio | null)[],
  sum: Ratio,
  id: string,
  words: RatioText,
): Drawing {
  const percent = percentText(words.reference ?? 0, 1);
  const reference =
    words.reference === null
      ? null
      : { share: words.reference, label: getMessage('dashboardFirefoxLine', { percent }) };
  return dayDrawing(
    {
      id,
      days,
      values: ratios.map((ratio) => (ratio === null ? null : ratioDay(ratio))),
      bands: ['plain'],
      reference,
      ofText: getMessage(words.perDay),
      title: getMessage(words.title),
      description: getMessage(words.description, { words: ratioText(sum, words) }),
    },
    {
      head: [getMessage(words.hits), getMessage(words.perDay), getMessage('dashboardShare')],
      textsOf(index) {
        const ratio = ratios[index];
        if (ratio == null || ratio.of === 0) return null;
        const { hits, of } = ratio;
        const cells = [formatNumber(hits), formatNumber(of), percentText(hits, of)];
        return { words: ratioText(ratio, words), cells };
      },
      legend:
        reference === null
          ? []
          : [{ swatch: lineSwatch(true), words: getMessage('dashboardFirefoxWhat', { percent }) }],
      nothing: sum.of === 0 ? getMessage(words.nothing) : null,
    },
  );
}

function headline(share: string, of: string, counts: string): HTMLElement {
  return make('div', 'headline', make('strong', '', share), make('span', '', of), make('small', '', counts));
}

function writeHeadlines(overview: Overview): void {
  const { adoption, modes } = overview.sum;
  const boxes = BASES.map((basis) => {
    const { h3, known } = adoption[basis];
    const hidden = hiddenCountText(adoption[basis].hidden, modes);
    return headline(
      percentText(h3, known),
      getMessage(BASIS_WORDS[basis].headline),
      getMessage('dashboardCounts', { h3, known, hidden }),
    );
  });
  const { known, hidden } = adoption.request;
  const all = known + hidden;
  const counts = { hidden: hiddenCountText(hidden, modes), all };
  boxes.push(
    headline(
      atMostText(percentText(hidden, all), hidden, modes),
      getMessage('dashboardHiddenHeadline'),
      getMessage('dashboardHiddenCounts', counts),
    ),
  );
  byId('headlines').replaceChildren(...boxes);
  const note = lightNote(modes);
  byId('light').hidden = note === null;
  setText(byId('light'), note ?? '');
}

/** Makes the overview's figures. */
export function createOverviewView() {
  const figures = {
    adoption: createFigure(byId('adoption-figure')),
    hit: createFigure(byId('hit-figure')),
    accuracy: createFigure(byId('accuracy-figure')),
  };
  return {
    render(totals: readonly Total[], period: Period, { network, by }: State): void {
      const overview = overviewOf(totals, period, network);
      const { days, values, sum } = overview;
      writeHeadlines(overview);
      figures.adoption.draw(adoptionDrawing(overview, by, 'adoption'));
      const hits = values.map((value) => value?.hitRatio ?? null);
      figures.hit.draw(ratioDrawing(days, hits, sum.hitRatio, 'hits', HIT_WORDS));
      const right = values.map((value) => value?.accuracy ?? null);
      figures.accuracy.draw(ratioDrawing(days, right, sum.accuracy, 'accuracy', ACCURACY_WORDS));
      setText(byId('hit-total'), sum.hitRatio.of === 0 ? '' : ratioText(sum.hitRatio, HIT_WORDS));
      setText(byId('accuracy-total'), sum.accuracy.of === 0 ? '' : ratioText(sum.accuracy, ACCURACY_WORDS));
    },
  };
}
