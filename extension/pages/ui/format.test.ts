import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparisonOf } from '@photofinish/shared/race/statistics';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import {
  attempt,
  clearComparison,
  comparison,
  originRace,
  trial,
  verdictSaying,
} from '@photofinish/shared/testing/race-samples';
import type { Gain } from '@photofinish/shared/verdict/gain';
import { verdictOf } from '@photofinish/shared/verdict/verdict';
import { verdictParts, verdictText } from '@photofinish/shared/verdict/verdict-text';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import type { Protocol } from '@photofinish/shared/web/protocol';
import type { OriginView } from '../../common/messages.ts';
import { useLanguage } from '../../testing/catalogs.ts';
import { originView as view } from '../../testing/samples.ts';
import {
  adoptionText,
  capitalSentence,
  forecastText,
  originLabel,
  protocolCell,
  protocolTag,
  raceText,
  reasonText,
  typedHost,
  unmeasuredText,
  visitsText,
} from './format.ts';
import { FIGURES } from './origin.ts';

const counts = (over: Partial<ProtocolCounts>): ProtocolCounts => ({ ...NO_REQUESTS, ...over });

function forecast(
  protocol: Protocol,
  basis: 'observed' | 'advertised' | 'none' = 'observed',
): OriginView['forecast'] {
  return {
    origin: 'https://a.test' as Origin,
    reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
    expected: { protocol, basis },
    hit: true,
  };
}

const compared = (gainMs: number) => clearComparison(100, 100 + gainMs);

const raced = originRace([
  trial([
    attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 10 }),
    attempt({ protocol: 'h2', outcome: 'established-late', establishedMs: 30 }),
  ]),
]);

test('an origin is shown without its scheme, with a port other than 443', () => {
  assert.equal(originLabel('https://a.test:8443' as Origin), 'a.test:8443');
});

/** The verdict of a browser that used HTTP/3, with the result of a comparison. */
function usedVerdict(gain: Gain | null): Verdict {
  const evidence = { origin: originParts('https://a.test' as Origin), attempts: [], gain };
  const discovered = { altSvc: null, knownRoot: null };
  return verdictOf({ ...evidence, discovered, browser: { lastProtocol: 'h3', visitsSinceAdvertised: 0 } });
}

const figuresIn = (verdict: Verdict) =>
  verdictParts(verdict).flatMap(({ text, param }) => (FIGURES.has(param) ? [text] : []));

test('what a race measured is emphasised in the verdict, in any language, and no part of the sentence is lost', () => {
  const verdict = usedVerdict(comparisonOf(clearComparison(51.5, 112)));
  const strong = (of: Verdict) => {
    const parts = verdictParts(of);
    assert.equal(parts.map(({ text }) => text).join(''), verdictText(of));
    return parts.flatMap(({ text, param }) => (param === 'differenceMs' ? [text] : []));
  };
  assert.match(verdictText(verdict), /^Reached over HTTP\/3\. HTTP\/3 connects in 52 ms/);
  assert.deepEqual(strong(verdict), ['60 ms']);
  assert.deepEqual(strong(verdictSaying('h3-used', 'A server log said (60 ms faster).')), [], 'no gain');
  assert.deepEqual(strong(usedVerdict(null)), []);
  assert.deepEqual(figuresIn(verdict), ['52 ms', '112 ms', '60 ms']);
  useLanguage('de');
  assert.match(verdictText(verdict), /^Über HTTP\/3 erreicht\. HTTP\/3 verbindet sich in 52 ms/);
  assert.deepEqual(strong(verdict), ['60 ms']);
  useLanguage('en');
});

test('unclear results are not emphasised', () => {
  const race = comparison([14, 15, 13], [15, 13, 14]);
  const unclear = usedVerdict(comparisonOf(race));
  assert.match(verdictText(unclear), /no clear difference in 3 pairs \(from HTTP\/2 2.0 ms faster/);
  assert.deepEqual(figuresIn(unclear), ['14.0 ms', '14.0 ms', '3', '2.0 ms', '1.0 ms']);
  assert.ok(verdictParts(unclear).every(({ param }) => param !== 'differenceMs'));
  const { text, title } = raceText(race);
  assert.equal(text, 'unclear');
  assert.match(
    title,
    /^No clear difference: from HTTP\/2 2.0 ms faster to HTTP\/3 1.0 ms faster \(median of 3 pairs\)\.$/,
  );
});

test('an unmeasured gain is mentioned, unless a race showed that there is none to measure', () => {
  const said = (race: OriginView['race']) =>
    unmeasuredText(view('a.test', { race, verdict: verdictSaying('h3-used', 'Used.') }));
  assert.match(said(null), /^HTTP\/3 gain not measured yet; a race measures it$/);
  assert.equal(unmeasuredText(view('a.test')), '', 'a verdict that knows nothing asks for a race itself');
  const busy = verdictSaying('machine-too-busy', 'Race it again.');
  assert.equal(unmeasuredText(view('a.test', { verdict: busy })), '', 'and so does this one');
  assert.match(said(comparison([10, 11], [20, 21])), /gain not measured/);
  assert.match(said(raced), /gain not measured/);
  assert.doesNotMatch(said(compared(20)), /gain not measured/);
  const failed = trial([attempt({ protocol: 'h3', outcome: 'failed' })], null);
  const old = trial([attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9 })], 'h2');
  assert.doesNotMatch(said(originRace([failed, old], { mode: 'compare' })), /not measured/);
});

test('what the mark does not show has a label of its own', () => {
  const tag = (over: Partial<ProtocolCounts>, protocol: Protocol, reason: OriginView['reason']) =>
    protocolTag(counts(over), protocol, reason, 'full').text;
  assert.equal(tag({ h3: 4 }, 'h3', null), '');
  assert.equal(tag({ h3: 4, unknown: 1 }, 'h3', 'no-timing-allow-origin'), '');
  assert.equal(tag({ h3: 4, h2: 1 }, 'h3', null), 'mixed');
  assert.equal(tag({ unknown: 1 }, 'unknown', 'no-timing-allow-origin'), 'hidden');
  assert.equal(tag({}, 'unknown', 'missed'), '');
});

test('earlier visits are shown once there are any', () => {
  const sinceMs = new Date(2026, 10, 3, 12).getTime();
  assert.equal(visitsText(null), '');
  assert.equal(visitsText({ navigations: counts({ h2: 1 }), sinceMs }), '');
  const words = visitsText({ navigations: counts({ h2: 3, h3: 12, unknown: 1 }), sinceMs });
  assert.equal(words, 'Visits since Nov 3, 2026: 12 × HTTP/3, 3 × HTTP/2, 1 × unknown');
});

const seen = (of: ProtocolCounts) => ({ counts: of, origins: [], mode: 'full' as const });

test('adoption has its denominator and its hidden part', () => {
  const words = adoptionText(seen(counts({ h3: 21, h2: 12, 'http/1.0': 1, unknown: 9 })));
  assert.deepEqual(
    [words.share, words.of, words.hidden, words.bound],
    ['62 %', 'HTTP/3 of 34 known', '9 hidden by their origins', ''],
  );
  assert.equal(words.label, 'Requests by protocol: 21 × HTTP/3, 12 × HTTP/2, 1 × HTTP/1.0, 9 × unknown');
});

test('in light mode the hidden part is an upper bound, which has its reason', () => {
  const light = (over: Partial<ProtocolCounts>) => adoptionText({ ...seen(counts(over)), mode: 'light' });
  const words = light({ h3: 2, unknown: 9 });
  assert.equal(words.hidden, 'at most 9 hidden by their origins');
  assert.equal(words.label, 'Requests by protocol: 2 × HTTP/3, at most 9 × unknown');
  assert.match(words.bound, /^Counted in light mode,.* may have come from a cache\. /);
  assert.equal(light({ h3: 2 }).hidden, 'none hidden');
  assert.match(
    protocolTag(counts({ h3: 1, h2: 1, unknown: 3 }), 'h3', null, 'light').title,
    /at most 3 × unknown/,
  );
});

test('unknown is not zero percent', () => {
  const hidden = view('a.test', {
    protocol: 'unknown',
    reason: 'service-worker',
    counts: counts({ unknown: 4 }),
  });
  const words = adoptionText({ ...seen(counts({ unknown: 4 })), origins: [hidden] });
  assert.deepEqual([words.share, words.hidden], ['Share unknown', '4 unknown']);
  const partly = (hiddenReason: OriginView['hiddenReason']) =>
    adoptionText({
      ...seen(counts({ h2: 1, unknown: 3 })),
      origins: [view('a.test', { counts: counts({ h2: 1, unknown: 3 }), hiddenReason })],
    }).hidden;
  assert.equal(partly('revalidated'), '3 unknown', 'its site hides nothing');
  assert.equal(partly('no-timing-allow-origin'), '3 hidden by their origins');
  assert.equal(adoptionText(seen(NO_REQUESTS)).share, 'No requests');
});

test('a forecast is right, wrong, not scored, or was never made', () => {
  const result = (over: Partial<OriginView>) => forecastText(view('a.test', over)).result;
  assert.equal(result({ forecast: forecast('h3'), forecastRight: true }), 'right');
  assert.equal(result({ forecast: forecast('h3'), forecastRight: false }), 'wrong');
  assert.equal(result({ forecast: forecast('h3'), forecastRight: null }), 'open');
  assert.equal(result({ forecast: forecast('unknown', 'none'), forecastRight: null }), 'none');
  assert.equal(result({}), 'none');
});

test('what the browser used is called unknown only if it is', () => {
  const title = (protocol: Protocol, basis: 'observed' | 'advertised') =>
    forecastText(view('a.test', { forecast: forecast('h3', basis), forecastRight: null, protocol })).title;
  for (const basis of ['observed', 'advertised'] as const) {
    assert.match(title('unknown', basis), /before\)\. What the browser used is unknown\.$/);
    assert.match(title('h2', basis), /before\)\. Not scored: the response came first, or /);
  }
});

test('only a comparison has a margin', () => {
  assert.equal(raceText(compared(20)).text, 'H3 20 ms');
  assert.equal(raceText(compared(-5)).text, 'H2 5 ms');
  assert.equal(raceText(comparison([10, 11], [20, 21])).text, 'no result');
  assert.equal(raceText(raced).text, 'H3 first');
  assert.equal(raceText(null).text, '–');
  const unknown = originRace([], { error: { code: 'no-address', message: 'a.test has no address' } });
  const { text, title } = raceText(unknown);
  assert.equal(text, 'can’t race');
  assert.match(
    title,
    /^Could not be raced: there is no address .* \(a\.test has no address\)\. Check the name/,
  );
});

test('a protocol that was never established is named', () => {
  const failed = (protocol: 'h3' | 'h2') =>
    trial([attempt({ protocol, outcome: 'failed', error: { code: 'udp-refused', message: 'm' } })], null);
  const old = trial([attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9 })], 'h2');
  assert.equal(raceText(originRace([failed('h3'), old], { mode: 'compare' })).text, 'H3 failed');
  assert.equal(raceText(originRace([failed('h3'), failed('h2')], { mode: 'compare' })).text, 'both failed');
  const busy = { ...failed('h3'), disturbed: 'outcome' } as const;
  const told = raceText(
    originRace([busy, { ...busy, ...failed('h2'), disturbed: 'outcome' }], { mode: 'compare' }),
  );
  assert.equal(told.text, 'no result');
  assert.match(told.title, /machine was too busy/);
  const error = { code: 'internal', message: 'EMFILE' } as const;
  const faulty = trial([attempt({ protocol: 'h3', outcome: 'failed', error })], null);
  assert.notEqual(raceText(originRace([faulty, old], { mode: 'compare' })).text, 'H3 failed');
});

test('unknown has a reason', () => {
  assert.equal(protocolCell('unknown', 'no-timing-allow-origin'), 'hidden');
  assert.equal(protocolCell('unknown', 'missed'), 'unknown');
  assert.equal(protocolCell('unknown', 'not-exposed'), 'unknown');
  assert.equal(protocolCell('h3', null), 'h3');
  assert.match(reasonText('unknown', 'service-worker'), /service worker responded/);
  assert.match(reasonText('unknown', 'not-exposed'), /browser does not expose this response/);
  assert.equal(reasonText('h3', null), '');
});

test('messages of other programs become sentences', () => {
  assert.equal(capitalSentence('the budget is used up'), 'The budget is used up.');
  assert.equal(capitalSentence('Why?'), 'Why?');
});

test('a host is found by its own letters, and a part of one is left as typed', () => {
  assert.equal(typedHost(' Bücher.example '), 'xn--bcher-kva.example');
  assert.deepEqual(['10', 'cdn.', 'a b', 'ü b'].map(typedHost), ['10', 'cdn.', 'a b', 'ü b']);
});
