// What figures show: readouts and tables contain the numbers drawn, with their denominators.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { clearComparison, comparison } from '@photofinish/shared/testing/race-samples';
import { getMessage } from '../../common/catalog.ts';
import { emptyTotal } from '../../ledger/row-changes.ts';
import { speak } from '../../testing/catalogs.ts';
import { aRace } from '../../testing/samples.ts';
import { overviewOf } from './overview.ts';
import { adoptionDrawing, ratioText } from './overview-view.ts';
import { distributionsOf, summariseRace } from './race-samples.ts';
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
  assert.equal(drawing.readout(0), 'Nov 19, 2026: nothing recorded');
  assert.deepEqual(drawing.table().rows, [['2026-11-20', '3', '1', '2', '75 %']]);
  assert.match(drawing.svg(600), /<desc [^>]*>HTTP\/3 75 % \(3 of 4 known\), 2 hidden over the period/);
  assert.equal(drawing.nothing, null);
});

test('origins count once per network too, and the words say so', (t) => {
  t.after(() => speak('en'));
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
  speak('de');
  for (const said of words()) assert.match(said ?? '', /pro Tag, Website und Netz/);
});

test('if nothing was recorded there is a sentence, not an empty chart', () => {
  const drawing = adoptionDrawing(overviewOf([], PERIOD, null), 'request', 'a');
  assert.match(drawing.nothing ?? '', /Nothing was recorded/);
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
  assert.equal(drawing.legend.at(-1)?.words, '1 trial took longer than 20 ms and is not shown');
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
  assert.equal(words({}), '1 of 1 pair complete, too few for a margin');
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
  t.after(() => speak('en'));
  const race = summariseRace(aRace());
  const hits = (of: number) => ratioText({ hits: 1, of }, { day: 'dashboardHitText' });
  const right = (of: number) => ratioText({ hits: 1, of }, { day: 'dashboardAccuracyText' });
  const said = () => [hits(1), hits(2), right(1), right(2), resultText(race)];
  assert.deepEqual(said(), [
    '100 %, 1 of 1 lookup',
    '50 %, 1 of 2 lookups',
    '100 %, 1 of 1 scored forecast',
    '50 %, 1 of 2 scored forecasts',
    '1 of 1 pair complete, too few for a margin',
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
  speak('de');
  assert.deepEqual(
    said().map((words) => words.replaceAll('\u00a0', ' ')),
    [
      '100 %, 1 von 1 Abfrage',
      '50 %, 1 von 2 Abfragen',
      '100 %, 1 von 1 gewerteten Prognose',
      '50 %, 1 von 2 gewerteten Prognosen',
      '1 von 1 Paar vollständig, zu wenige für einen Abstand',
    ],
  );
  assert.match(racesText(1, distributionsOf([race])), /^1 Rennen, davon 1 Vergleich von 1 Origin\./);
  assert.match(racesText(2, distributionsOf([race, race])), /^2 Rennen, davon 2 Vergleiche von 1 Origin\./);
});
