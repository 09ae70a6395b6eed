// What figures show: readouts and tables contain the numbers drawn, with their denominators.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { clearComparison, comparison, SAMPLE_ORIGIN } from '@photofinish/shared/testing/race-samples';
import { verdictMeans, verdictName } from '@photofinish/shared/verdict/codes';
import type { Origin } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import { emptyTotal } from '../../ledger/row-changes.ts';
import { useLanguage } from '../../testing/catalogs.ts';
import { aClearRace, aRace } from '../../testing/samples.ts';
import { adoptionText, agoText, percentText } from './labels.ts';
import { overviewOf } from './overview.ts';
import { adoptionDrawing, ratioText } from './overview-view.ts';
import { distributionsOf, gainsOf, summariseRace } from './race-samples.ts';
import { ecdfDrawing, racesText, resultText } from './races-view.ts';

const PERIOD = { fromDay: '2026-11-19', toDay: '2026-11-21' };
const DAY = {
  ...emptyTotal('2026-11-20', 'home'),
  counts: { ...NO_REQUESTS, h3: 3, h2: 1, unknown: 2 },
  navigations: { ...NO_REQUESTS, unknown: 1 },
};

test('adoption has a readout by day, and its table omits days without data', () => {
  const drawing = adoptionDrawing(overviewOf([DAY], PERIOD, null), 'request', 'a');
  assert.equal(drawing.first, 1, 'the newest day with something');
  assert.equal(drawing.readout(1), 'Nov 20, 2026: HTTP/3 75 % (3 of 4 known), 2 hidden');
  assert.equal(drawing.readout(0), 'Nov 19, 2026: no data');
  assert.deepEqual(drawing.table().rows, [['2026-11-20', '3', '1', '2', '75 %']]);
  assert.match(drawing.svg(600), /<desc [^>]*>HTTP\/3 75 % \(3 of 4 known\), 2 hidden over the period/);
  assert.equal(drawing.nothing, null);
});

test('origins count once per network too, and the words say so', (t) => {
  t.after(() => useLanguage('en'));
  const day = (network: string) => ({
    ...emptyTotal('2026-11-20', network),
    origins: { h3: 1, known: 1, hidden: 0 },
  });
  const overview = overviewOf([day('home'), day('work')], PERIOD, null);
  const words = () => [
    adoptionDrawing(overview, 'origin', 'a')
      .svg(600)
      .match(/<title[^>]*>([^<]*)/)?.[1],
    getMessage('dashboardOfOrigins'),
  ];
  assert.equal(overview.sum.adoption.origin.known, 2);
  for (const said of words()) assert.match(said ?? '', /per day, site and network/);
  useLanguage('de');
  for (const said of words()) assert.match(said ?? '', /pro Tag, Website und Netz/);
});

test('if nothing was recorded there is a sentence, not an empty chart', () => {
  const drawing = adoptionDrawing(overviewOf([], PERIOD, null), 'request', 'a');
  assert.match(drawing.nothing ?? '', /Nothing was recorded/);
  const cached = adoptionDrawing(
    overviewOf([emptyTotal('2026-11-20', 'home')], PERIOD, null),
    'request',
    'a',
  );
  assert.equal(cached.nothing, 'No response came over the network in this period.');
});

test('a day whose data are not counted by a basis is a gap there, in words and in the table too', () => {
  const open = { ...DAY, day: '2026-11-21', navigations: NO_REQUESTS };
  const drawing = adoptionDrawing(overviewOf([DAY, open], PERIOD, null), 'navigation', 'a');
  assert.equal(drawing.readout(2), 'Nov 21, 2026: no data');
  assert.deepEqual(
    drawing.table().rows.map(([day]) => day),
    ['2026-11-20'],
  );
  assert.match(drawing.svg(600), /Data on 1 of 3 days; the other days are gaps\.<\/desc>/);
  const today = { fromDay: open.day, toDay: open.day };
  const one = adoptionDrawing(overviewOf([open], today, null), 'request', 'a');
  assert.match(one.svg(600), /Data on 1 of 1 day\.<\/desc>/);
  const none = adoptionDrawing(overviewOf([open], today, null), 'navigation', 'a');
  assert.equal(none.nothing, 'No navigation was answered over the network in this period.');
});

const ESTABLISHED = {
  id: 'established',
  title: 'dashboardEstablishedTitle',
  of: (distributions: ReturnType<typeof distributionsOf>) => distributions.established,
} as const;

test('a distribution says how many trials were done by a time, and how many it does not draw', () => {
  const distributions = distributionsOf([summariseRace(aRace())]);
  const drawing = ecdfDrawing(distributions, ESTABLISHED, 20);
  assert.equal(drawing.readout(100), 'After 20 ms: HTTP/3 100 %, HTTP over TCP 0 %');
  const late = { swatch: '', words: '1 trial took longer than 20 ms and is not shown' };
  assert.deepEqual(drawing.legend.at(-1), late, 'without a sample, which would be a third curve');
  const median = drawing.table().rows.find(([name]) => name?.includes('median'));
  assert.deepEqual(median?.slice(1), ['10 ms', '31 ms']);
});

test('a race is described by its measurement: a comparison by its margin, another by what it adopted', () => {
  const words = (more: Parameters<typeof aRace>[0]) => resultText(summariseRace(aRace(more)));
  const { summary } = aRace();
  assert.equal(words(clearComparison(10, 31)), 'HTTP/3 connects 21.0 ms faster');
  assert.equal(words(clearComparison(31, 10)), 'HTTP/2 connects 21.0 ms faster');
  assert.equal(
    words(comparison([10, 11, 12], [12, 11, 10])),
    'No clear difference: from HTTP/2 2.0 ms faster to HTTP/3 2.0 ms faster',
  );
  assert.equal(words({}), '1 of 1 pair complete, too few to measure a gain');
  assert.equal(
    words({ mode: 'race', summary: { ...summary, adoption: { h3: 0, h2: 2, 'http/1.1': 0 } } }),
    'HTTP/2 adopted',
  );
  assert.equal(
    words({ mode: 'race', summary: { ...summary, failed: 2, adoption: { h3: 0, h2: 0, 'http/1.1': 0 } } }),
    '2 trials failed',
  );
  assert.equal(words({ trials: [] }), 'Could not be raced');
});

test('what there is only one of is in the singular', (t) => {
  t.after(() => useLanguage('en'));
  const race = summariseRace(aRace());
  const hits = (of: number) => ratioText({ hits: 1, of }, { day: 'dashboardHitText' });
  const right = (of: number) => ratioText({ hits: 1, of }, { day: 'dashboardAccuracyText' });
  const said = () => [hits(1), hits(2), right(1), right(2), resultText(race)];
  assert.deepEqual(said(), [
    '100 %, 1 of 1 lookup',
    '50 %, 1 of 2 lookups',
    '100 %, 1 of 1 scored forecast',
    '50 %, 1 of 2 scored forecasts',
    '1 of 1 pair complete, too few to measure a gain',
  ]);
  assert.match(
    racesText(1, distributionsOf([race])),
    /^1 race, including 1 comparison of 1 origin\. The distributions show 1 of 1 pairs: [^.]*\. In [^.]*\.$/,
  );
  assert.match(
    racesText(3, distributionsOf([race, race])),
    /^3 races, including 2 comparisons of 1 origin\. The distributions show 2 of 2 pairs: /,
  );
  const some = { ...distributionsOf([race]), pairs: { whole: 9, late: 4, all: 14 } };
  assert.match(
    racesText(1, some),
    /show 9 of 14 pairs: .* 4 pairs were left out because this machine was too busy\. 1 pair was left out because a protocol did not connect\.$/,
  );
  useLanguage('de');
  assert.deepEqual(
    said().map((words) => words.replaceAll('\u00a0', ' ')),
    [
      '100 %, 1 von 1 Abfrage',
      '50 %, 1 von 2 Abfragen',
      '100 %, 1 von 1 gewerteten Prognose',
      '50 %, 1 von 2 gewerteten Prognosen',
      '1 von 1 Paar vollständig, zu wenige, um einen Gewinn zu messen',
    ],
  );
  assert.match(racesText(1, distributionsOf([race])), /^1 Rennen, davon 1 Vergleich von 1 Origin\./);
  assert.match(racesText(2, distributionsOf([race, race])), /^2 Rennen, davon 2 Vergleiche von 1 Origin\./);
});

// Displayed numbers: no share is rounded to nothing or everything if it is not.

test('shares are integer percents, finer if they are small or nearly all', () => {
  assert.equal(percentText(1, 3), '33 %');
  assert.equal(percentText(1, 60), '1.7 %');
  assert.equal(percentText(0, 60), '0 %');
  assert.equal(percentText(60, 60), '100 %');
  assert.equal(percentText(1, 100_000), '< 0.1 %');
  assert.equal(percentText(99_999, 100_000), '> 99.9 %');
  assert.equal(percentText(995, 1000), '99.5 %');
  assert.equal(percentText(0, 0), 'none known');
});

test('adoption is shown with its denominator, and without a share if nothing is known', () => {
  assert.equal(
    adoptionText({ h3: 3, known: 4, hidden: 2 }, ['full']),
    'HTTP/3 75 % (3 of 4 known), 2 hidden',
  );
  assert.equal(adoptionText({ h3: 0, known: 0, hidden: 2 }, ['full']), 'none known, 2 hidden');
});

test('what light mode counted as hidden is an upper bound', () => {
  assert.equal(
    adoptionText({ h3: 3, known: 4, hidden: 2 }, ['full', 'light']),
    'HTTP/3 75 % (3 of 4 known), at most 2 hidden',
  );
  assert.equal(adoptionText({ h3: 0, known: 0, hidden: 2 }, ['light']), 'none known, at most 2 hidden');
});

test('ages are shown in their largest whole unit', () => {
  const nowMs = 1e12;
  assert.equal(agoText(nowMs - 30_000, nowMs), 'just now');
  assert.equal(agoText(nowMs - 5 * 60_000, nowMs), '5 min. ago');
  assert.equal(agoText(nowMs - 25 * 3_600_000, nowMs), '1 day ago', 'which may be the day before yesterday');
  assert.equal(agoText(nowMs - 3 * 86_400_000, nowMs), '3 days ago');
  assert.equal(agoText(nowMs + 5000, nowMs), 'just now', 'clocks differ');
});

test('every verdict has a name of its own and a meaning', () => {
  assert.equal(new Set(VERDICT_CODES.map(verdictName)).size, VERDICT_CODES.length);
  for (const code of VERDICT_CODES) assert.match(verdictMeans(code), /\.$/);
});

// Races as numbers: only comparisons measure, only whole pairs count, and the newest measured one is the gain.

const A = 'https://a.test' as Origin;

test('a comparison gives samples of both sides, an ordinary race none', () => {
  const compared = summariseRace(aRace());
  assert.deepEqual(compared.established, { h3: [10], h2: [31] });
  assert.deepEqual(compared.firstByte, { h3: [12], h2: [35] });
  assert.deepEqual(compared.pairs, { whole: 1, late: 0, all: 1 });
  assert.equal(compared.adopted, null);
  const raced = summariseRace(aRace({ mode: 'race' }));
  assert.deepEqual(raced.established, { h3: [], h2: [] });
  assert.equal(raced.comparison, null, 'its loser was cancelled');
});

test('a pair with one failed side is counted, not measured', () => {
  const whole = aRace();
  const [h3, h2] = whole.trials;
  assert.ok(h3 && h2);
  const broken = { ...h2, adopted: null, establishedMs: null, firstByteMs: null };
  const summary = summariseRace(aRace({ trials: [h3, h2, h3, broken] }));
  assert.deepEqual(summary.pairs, { whole: 1, late: 0, all: 2 });
  assert.deepEqual(summary.established.h3, [10]);
  const late = { ...broken, disturbed: 'times' } as const;
  const busy = summariseRace(
    aRace({ trials: [h3, h2, h3, broken, h3, late, { ...h3, disturbed: 'times' }, h2] }),
  );
  assert.deepEqual(busy.pairs, { whole: 1, late: 2, all: 4 });
});

test('the gain of an origin is that of its newest comparison with enough pairs, clear or not', () => {
  const races = [
    aClearRace({ atMs: 4, mode: 'race' }),
    aRace({ atMs: 3 }),
    aClearRace({ atMs: 2 }),
    comparison([10, 11, 12], [12, 11, 10]),
  ].map(summariseRace);
  const gain = gainsOf(races).get(A);
  assert.deepEqual([gain?.quicker, gain?.h3Ms, gain?.h2Ms], ['h3', 10, 31]);
  assert.equal(gainsOf(races.slice(3)).get(SAMPLE_ORIGIN)?.quicker, null);
});

test('distributions pool comparisons, sorted, with their counts', () => {
  const slow = aRace({
    origin: 'https://b.test' as Origin,
    trials: aRace().trials.map((t) => ({ ...t, establishedMs: 5 })),
  });
  const all = distributionsOf([aRace(), slow, aRace({ mode: 'v3' })].map(summariseRace));
  assert.deepEqual(all.established, { h3: [5, 10], h2: [5, 31] });
  assert.equal(all.comparisons, 2);
  assert.equal(all.origins, 2);
  assert.deepEqual(all.pairs, { whole: 2, late: 0, all: 2 });
});
