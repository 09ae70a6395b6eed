import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/adoption';
import type { Origin } from '@photofinish/shared/origin';
import type { Protocol } from '@photofinish/shared/protocol';
import { attempt, comparison, originRace, trial } from '@photofinish/shared/race-samples.fixture';
import type { HelperState, OriginView } from '../messages.ts';
import {
  adoptionWords,
  asideWords,
  capitalSentence,
  emphasise,
  exportName,
  forecastWords,
  helperWords,
  nextSorting,
  originLabel,
  protocolCell,
  raceWords,
  reasonWords,
  type Sorting,
  sortOrigins,
  stateWords,
} from './format.ts';

const counts = (over: Partial<ProtocolCounts>): ProtocolCounts => ({ ...NO_REQUESTS, ...over });

function view(host: string, over: Partial<OriginView> = {}): OriginView {
  return {
    origin: `https://${host}` as Origin,
    protocol: 'h2',
    reason: null,
    counts: counts({ h2: 1 }),
    delivered: { 'http-cache': 0, 'service-worker': 0, prefetch: 0 },
    forecast: null,
    forecastRight: null,
    race: null,
    verdict: { code: 'unknown', text: '', findings: [] },
    ...over,
  };
}

function forecast(protocol: Protocol, basis: 'observed' | 'none' = 'observed'): OriginView['forecast'] {
  return {
    origin: 'https://a.test' as Origin,
    reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
    expected: { protocol, basis },
    hit: true,
  };
}

const compared = (gainMs: number) => comparison([100, 100, 100], [100 + gainMs, 100 + gainMs, 100 + gainMs]);

const raced = originRace([
  trial([
    attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 10 }),
    attempt({ protocol: 'h2', outcome: 'established-late', establishedMs: 30 }),
  ]),
]);

test('an origin is written without its scheme, with a port that is not 443', () => {
  assert.equal(originLabel('https://a.test:8443' as Origin), 'a.test:8443');
});

test('the gain is set apart in the verdict and nothing of the sentence is lost', () => {
  const text = 'Reached over HTTP/3. HTTP/2 takes 60.5 ms longer to connect here.';
  const pieces = emphasise(text);
  assert.deepEqual(
    pieces.filter((p) => p.strong).map((p) => p.text),
    ['60.5 ms longer'],
  );
  assert.equal(pieces.map((p) => p.text).join(''), text);
  assert.deepEqual(emphasise('Speaks HTTP/3.'), [{ text: 'Speaks HTTP/3.', strong: false }]);
});

test('adoption has its denominator and its hidden part', () => {
  const words = adoptionWords({ counts: counts({ h3: 21, h2: 12, 'http/1.0': 1, unknown: 9 }), origins: [] });
  assert.deepEqual(
    [words.share, words.of, words.hidden],
    ['62 %', 'HTTP/3 of 34 known requests', '9 hidden by their sites'],
  );
  assert.equal(words.label, 'Requests by protocol: HTTP/3 21, HTTP/2 12, HTTP/1 1, unknown 9');
});

test('what is not known is no zero percent', () => {
  const hidden = view('a.test', {
    protocol: 'unknown',
    reason: 'service-worker',
    counts: counts({ unknown: 4 }),
  });
  const words = adoptionWords({ counts: counts({ unknown: 4 }), origins: [hidden] });
  assert.deepEqual([words.share, words.hidden], ['Share unknown', '4 unknown']);
  assert.equal(adoptionWords({ counts: NO_REQUESTS, origins: [] }).share, 'No requests');
});

test('a forecast is right, wrong, not scored, or was never made', () => {
  const result = (over: Partial<OriginView>) => forecastWords(view('a.test', over)).result;
  assert.equal(result({ forecast: forecast('h3'), forecastRight: true }), 'right');
  assert.equal(result({ forecast: forecast('h3'), forecastRight: false }), 'wrong');
  assert.equal(result({ forecast: forecast('h3'), forecastRight: null }), 'open');
  assert.equal(result({ forecast: forecast('unknown', 'none'), forecastRight: null }), 'none');
  assert.equal(result({}), 'none');
});

test('a margin only ever comes from a comparison', () => {
  assert.equal(raceWords(compared(20)).text, 'H3 20 ms');
  assert.equal(raceWords(compared(-5)).text, 'H2 5 ms');
  assert.equal(raceWords(comparison([10, 11], [20, 21])).text, 'no margin');
  assert.equal(raceWords(raced).text, 'H3 first');
  assert.equal(raceWords(null).text, '–');
  const refused = originRace([], { error: { code: 'blocked', message: 'not allowed' } });
  assert.deepEqual(raceWords(refused), { text: 'not raced', title: 'Could not be raced: not allowed.' });
});

test('a protocol that never got through is named', () => {
  const failed = (protocol: 'h3' | 'h2') =>
    trial([attempt({ protocol, outcome: 'failed', error: { code: 'udp-refused', message: 'm' } })], null);
  const old = trial([attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9 })], 'h2');
  assert.equal(raceWords(originRace([failed('h3'), old], { mode: 'compare' })).text, 'H3 failed');
  assert.equal(raceWords(originRace([failed('h3'), failed('h2')], { mode: 'compare' })).text, 'both failed');
});

test('every state of the helper has words, and the broken ones a command', () => {
  const states: HelperState[] = [
    { state: 'connecting' },
    { state: 'ready', program: 'photofinish 1.0.0', network: 'net' },
    { state: 'missing' },
    { state: 'crashed', message: 'it ended with code 1' },
    { state: 'incompatible', message: 'speaks version 2.' },
  ];
  const words = states.map(helperWords);
  assert.deepEqual(
    words.map((w) => w.label),
    ['helper starting', 'helper 1.0.0', 'no helper', 'helper stopped', 'helper does not fit'],
  );
  assert.deepEqual(
    words.map((w) => w.help?.command),
    [undefined, undefined, 'npx photofinish install', 'npx photofinish doctor', 'npx photofinish install'],
  );
  assert.match(words[4]?.help?.what ?? '', /speaks version 2\. Recording goes on/);
});

test('every page state but a record has its own words', () => {
  const states = ['loading', 'not-https', 'browser-page', 'not-recorded'] as const;
  const texts = states.map((state) => stateWords(state)?.text);
  assert.equal(new Set(texts).size, states.length);
  assert.ok(texts.every((text) => text?.endsWith('.')));
  assert.equal(stateWords('recorded'), null);
});

test('unknown comes with its reason', () => {
  assert.equal(protocolCell('unknown', 'no-timing-allow-origin'), 'hidden');
  assert.equal(protocolCell('unknown', 'missed'), 'unknown');
  assert.equal(protocolCell('h3', null), 'h3');
  assert.match(reasonWords('unknown', 'service-worker'), /service worker answered/);
  assert.equal(reasonWords('h3', null), '');
  assert.match(asideWords({ delivery: 'http-cache', protocol: 'h3' }), /HTTP cache/);
  assert.equal(asideWords({ delivery: 'network', protocol: 'h3' }), '');
  assert.equal(asideWords({ delivery: 'http-cache', protocol: 'unknown' }), '', 'the verdict says it');
});

test('origins sort by every column, in both directions, and equal ones keep their order', () => {
  const a = view('a.test', { counts: counts({ h2: 5 }), race: compared(3) });
  const b = view('b.test', { protocol: 'h3', counts: counts({ h3: 9 }) });
  const c = view('c.test', { counts: counts({ h2: 5 }), race: compared(-4) });
  const sorted = (sorting: Sorting | null) =>
    sortOrigins([b, c, a], sorting)
      .map((o) => o.origin.slice(8, 9))
      .join('');
  assert.equal(sorted(null), 'bca');
  assert.equal(sorted({ key: 'origin', direction: 'ascending' }), 'abc');
  assert.equal(sorted({ key: 'origin', direction: 'descending' }), 'cba');
  assert.equal(sorted({ key: 'protocol', direction: 'ascending' }), 'bca');
  assert.equal(sorted({ key: 'requests', direction: 'descending' }), 'bca');
  assert.equal(sorted({ key: 'race', direction: 'ascending' }), 'cab');
});

test('a header sorts numbers from the largest, words from the first, and turns round at the second click', () => {
  const first = nextSorting(null, 'requests');
  assert.equal(first.direction, 'descending');
  assert.equal(nextSorting(first, 'requests').direction, 'ascending');
  assert.equal(nextSorting(first, 'origin').direction, 'ascending');
});

test('a file name holds the site and the day, and nothing a file system refuses', () => {
  const at = '2026-11-21T09:45:00.000Z';
  assert.equal(exportName('example.org', at, 'html'), 'photofinish-example.org-2026-11-21.html');
  assert.equal(exportName(null, at, 'csv'), 'photofinish-all-sites-2026-11-21.csv');
  assert.equal(exportName('[::1]/../x', at, 'json'), 'photofinish--1-..-x-2026-11-21.json');
});

test('messages of other programs become sentences', () => {
  assert.equal(capitalSentence('the budget is used up'), 'The budget is used up.');
  assert.equal(capitalSentence('Why?'), 'Why?');
});
