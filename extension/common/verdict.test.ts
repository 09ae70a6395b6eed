import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { ATTEMPT_ERROR_CODES, CERTIFICATE_REASONS } from '@photofinish/shared/race/terms';
import { allTexts, attempt, originRace, trial } from '@photofinish/shared/testing/race-samples';
import { otherFindings, verdictText } from '@photofinish/shared/verdict/verdict-text';
import { type Origin, OTHER_ORIGINS } from '@photofinish/shared/web/origin';
import { LANGUAGES, useLanguage } from '../testing/catalogs.ts';
import { aClearRace, aRace } from '../testing/samples.ts';
import { emptyRecord } from './records/fold.ts';
import { type OriginEvidence, verdictOfOrigin, verdictOfRecord } from './verdict.ts';

const A = 'https://a.test' as Origin;
const H3 = 'h3=":443"; ma=60';
const record = emptyRecord(A, 'a.test', 0);
const advertising = { ...record, altSvc: H3, advertisedSinceMs: 0 } as const;

function verdict(more: Partial<OriginEvidence>) {
  return verdictOfOrigin({
    origin: A,
    protocol: null,
    reason: null,
    elsewhere: null,
    record: undefined,
    race: undefined,
    ...more,
  });
}

test('without a race the browser’s own record decides', () => {
  assert.equal(verdict({ protocol: 'h3' }).code, 'h3-used');
  const first = verdict({ protocol: 'h2', record: advertising });
  assert.equal(first.code, 'h3-first-visit');
  const plain = verdict({ protocol: 'h2' });
  assert.equal(plain.code, 'unknown');
  assert.match(verdictText(plain), /^Reached over HTTP\/2\. No HTTP\/3 advertisement/);
});

test('of further origins, which are counted together, only that is said', () => {
  const others = emptyRecord(OTHER_ORIGINS, 'a.test', 0);
  const { code, findings } = verdictOfRecord({ ...others, protocol: 'h2' }, undefined);
  assert.deepEqual([code, findings.map(({ key }) => key)], ['unknown', ['pageOtherOrigins']]);
});

test('the verdict of a record without answers over the network says where its answers came from', () => {
  const said = (delivered: Partial<typeof record.delivered>, over: Partial<typeof record> = {}) =>
    verdictText(
      verdictOfRecord({ ...record, delivered: { ...record.delivered, ...delivered }, ...over }, undefined),
    );
  assert.match(said({ 'http-cache': 1 }), /^Served from the browser’s cache, not the network\./);
  assert.match(said({ 'service-worker': 1 }), /^Served by a service worker/);
  const unseen = { counts: { ...record.counts, unknown: 1 }, reason: 'missed' } as const;
  assert.match(said({ 'http-cache': 1 }, unseen), /^The browser did not report the protocol\./);
});

test('light mode claims nothing about advertisements that it cannot see', () => {
  const light = { ...record, protocol: 'h2', modes: ['light'] } as const;
  const plain = verdict({ protocol: 'h2', record: light });
  assert.match(verdictText(plain), /^Reached over HTTP\/2\. Light mode does not show whether it advertises/);
  const read = verdict({ protocol: 'h2', record: { ...light, altSvcRead: true } });
  assert.match(verdictText(read), /The response that light mode could read does not advertise HTTP\/3\./);
  const code = (over: Partial<typeof record>) =>
    verdict({ protocol: 'h2', record: { ...light, ...over }, race: aRace() }).code;
  assert.equal(code({}), 'h3-available', 'not the first visit, which nobody knows');
  assert.equal(code({ altSvcRead: true }), 'h3-available', 'other responses may have advertised it');
  assert.equal(code({ counts: { ...record.counts, h3: 1, h2: 1 } }), 'h3-used-before');
  const seen = {
    altSvc: H3,
    advertisedSinceMs: 0,
    visitsSinceAdvertised: 3,
    visitsNetwork: 'home',
    visitsProxied: false,
  };
  assert.equal(code(seen), 'h3-browser-avoids', 'what was seen is counted in any mode');
});

test('the next connection can use only what an answer advertised to the browser', () => {
  const protocol = 'h2';
  const raced = (known: typeof record | undefined) =>
    verdict({ protocol, record: known, race: aRace() }).code;
  const untold: typeof record = { ...record, protocol, modes: ['full'] };
  assert.equal(raced(untold), 'h3-available', 'only the race received an advertisement');
  assert.equal(raced({ ...untold, altSvc: 'clear' }), 'h3-available', 'it was withdrawn');
  assert.equal(raced(undefined), 'h3-available', 'nothing is recorded');
  assert.equal(raced({ ...advertising, protocol }), 'h3-first-visit');
});

test('a race that was told over HTTP/3 only, and the browser’s own record', () => {
  const discovered = { altSvc: H3, altSvcOver: { tcp: null, h3: H3 }, knownRoot: true };
  const race = aRace({ atMs: 1000, discovered });
  const code = (known?: typeof record) => verdict({ record: known, race }).code;
  assert.equal(code(), 'h3-not-advertised');
  assert.equal(code({ ...record, lastSeenMs: 500 }), 'h3-not-advertised');
  const told = { ...record, altSvc: H3, lastSeenMs: 1000 };
  assert.equal(code({ ...told, altSvcAtMs: 500 }), 'h3-available', 'the browser was told, over TCP perhaps');
  assert.equal(code({ ...told, altSvcAtMs: 2000, lastSeenMs: 2000 }), 'h3-available');
});

/** A race in which HTTP/3 is silent, and the answer over TCP advertises nothing. */
function silentRace(atMs: number) {
  const race = aRace({ atMs, discovered: { altSvc: null, knownRoot: true } });
  const error = { code: 'udp-timeout', message: 'no reply' } as const;
  const trials = race.trials.map((trial) => ({
    ...trial,
    attempts: trial.attempts.map((attempt) =>
      attempt.protocol === 'h3'
        ? { ...attempt, establishedMs: null, firstByteMs: null, outcome: 'failed' as const, error }
        : attempt,
    ),
  }));
  return { ...race, trials };
}

test('an expired advertisement advertises nothing, by a later race or answer', () => {
  const protocol = 'h2';
  const told = { ...advertising, protocol, altSvcAtMs: 1000, lastSeenMs: 1000 } as const;
  const code = (more: Partial<OriginEvidence>) => verdict({ protocol, record: told, ...more }).code;
  assert.equal(code({ race: silentRace(60_999) }), 'h3-advertised-unreachable');
  assert.equal(code({ race: silentRace(61_000) }), 'h3-not-offered');
  assert.equal(
    code({ race: silentRace(61_000), record: { ...told, altSvcAtMs: 2000 } }),
    'h3-advertised-unreachable',
  );
  assert.equal(code({ race: aRace({ atMs: 61_000 }) }), 'h3-available', 'the browser has forgotten it');

  assert.equal(code({}), 'h3-first-visit');
  const later = verdict({ protocol, record: { ...told, lastSeenMs: 61_000 } });
  assert.match(verdictText(later), /^Reached over HTTP\/2\. Its last HTTP\/3 advertisement has expired\./);
});

test('of a record without the time of its advertisement, the newest answer bounds it', () => {
  const protocol = 'h2';
  const older = { ...advertising, protocol, lastSeenMs: 1000 } as const;
  assert.equal(
    verdict({ protocol, record: older, race: silentRace(60_999) }).code,
    'h3-advertised-unreachable',
  );
  assert.equal(verdict({ protocol, record: older, race: silentRace(61_000) }).code, 'h3-not-offered');
});

test('a race adds its evidence and the gain', () => {
  const used = verdict({ protocol: 'h3', race: aClearRace() });
  assert.deepEqual([used.code, otherFindings(used).map((f) => f.code)], ['h3-used', ['h3-available']]);
  assert.match(verdictText(used), /HTTP\/3 connects in 10\.0 ms, HTTP\/2 in 31\.0 ms \(21\.0 ms faster\)/);
});

test('a browser that stays on HTTP/2 visit after visit avoids HTTP/3', () => {
  const visits = { visitsSinceAdvertised: 3, visitsNetwork: 'home', visitsProxied: false } as const;
  const seen = { ...advertising, protocol: 'h2', ...visits } as const;
  const avoids = verdict({ protocol: 'h2', record: seen, race: aRace() });
  assert.equal(avoids.code, 'h3-browser-avoids');
  // Unit tests run as Chromium.
  assert.match(verdictText(avoids), /In our measurements, Chromium \d+ tried again about 5 or 10 minutes/);
  assert.doesNotMatch(verdictText(avoids), /Firefox/);
});

test('visits on a network other than that of the race avoid nothing', () => {
  const stayed = { ...advertising, protocol: 'h2', visitsSinceAdvertised: 9 } as const;
  for (const [visited, raced] of [
    ['work', 'home'],
    [undefined, 'home'],
    ['unknown', 'unknown'],
  ] as const) {
    const record = { ...stayed, ...(visited && { visitsNetwork: visited }) };
    const { code, findings } = verdict({ protocol: 'h2', record, race: aRace({ network: raced }) });
    assert.equal(code, 'h3-available', `${visited} and ${raced}`);
    assert.deepEqual(
      findings.map(({ key }) => key),
      ['verdictAvailable', 'verdictStaysElsewhere'],
    );
  }
});

test('what an old race showed is told with its age, and that the browser avoids HTTP/3 is not concluded from it', () => {
  const DAY = 86_400_000;
  const visits = { visitsSinceAdvertised: 3, visitsNetwork: 'home', visitsProxied: false } as const;
  const altSvc = 'h3=":443"; ma=2592000';
  const at = (days: number, over: Partial<typeof record> = {}) => {
    const seenMs = aRace().atMs + days * DAY;
    const times = { altSvcAtMs: seenMs, protocolAtMs: seenMs, lastSeenMs: seenMs };
    const seen = { ...advertising, altSvc, protocol: 'h2', ...visits, ...times, ...over } as const;
    return verdictOfRecord(seen, aRace());
  };
  const keys = (judged: ReturnType<typeof at>) => [judged.code, ...judged.findings.map(({ key }) => key)];
  assert.deepEqual(keys(at(6.9)).slice(0, 2), ['h3-browser-avoids', 'verdictAvoids']);
  assert.ok(!keys(at(6.9)).includes('pageRacedDaysBefore'));
  assert.deepEqual(keys(at(9.9)), [
    ...['h3-available', 'pageRaceAvailable', 'verdictStaysSince', 'pageRacedDaysBefore'],
  ]);
  assert.match(verdictText(at(9.9)), /Its latest race ran 9 days earlier/);
  assert.deepEqual(keys(at(9, { protocol: 'h3' })), ['h3-used', 'verdictUsed', 'pageRaceAvailable']);
});

test('a proxy explains why the browser stays on HTTP/2, and one that may be there leaves it open', () => {
  const visits = { visitsSinceAdvertised: 3, visitsNetwork: 'home' };
  const seen = { ...advertising, protocol: 'h2', ...visits } as const;
  const judged = (over: Partial<typeof record>, race: ReturnType<typeof aRace> | undefined = aRace()) => {
    const { code, findings } = verdict({ protocol: 'h2', record: { ...seen, ...over }, race });
    return [code, ...findings.map(({ key }) => key)];
  };
  assert.deepEqual(judged({ visitsProxied: true, proxied: true }), [
    'h3-available',
    'verdictAvailable',
    'verdictProxied',
  ]);
  for (const unknown of [{}, { visitsProxied: null, proxied: false }])
    assert.deepEqual(judged(unknown).slice(0, 3), [
      'h3-available',
      'verdictAvailable',
      'verdictStaysPerhapsProxied',
    ]);
  const first = { visitsSinceAdvertised: 0, proxied: true };
  assert.deepEqual(judged(first), ['h3-available', 'verdictAvailable', 'verdictProxied']);
  const unraced = verdict({ protocol: 'h2', record: { ...seen, ...first } });
  assert.deepEqual(
    unraced.findings.map(({ key }) => key),
    ['pageReached', 'pageAdvertised', 'verdictProxied'],
  );
  const counts = { ...record.counts, h3: 4, h2: 1 };
  assert.deepEqual(judged({ counts, visitsProxied: true }).slice(0, 2), [
    'h3-used-before',
    'verdictUsedBeforeProxied',
  ]);
});

test('hidden says what hides it, and what was known before', () => {
  const hidden = verdict({ reason: 'no-timing-allow-origin' });
  assert.match(verdictText(hidden), /^The protocol is hidden: the response has no Timing-Allow-Origin/);
  const blocked = verdict({ reason: 'not-exposed' });
  assert.match(verdictText(blocked), /^The browser does not expose this response/);
  assert.doesNotMatch(verdictText(blocked), /Timing-Allow-Origin/);
  const before = verdict({ reason: 'missed', record: { ...record, protocol: 'h3', protocolAtMs: 1 } });
  assert.match(verdictText(before), /^The browser did not report .* Earlier: Reached over HTTP\/3\./);
});

test('that the newest race ran on another network is part of the verdict itself', () => {
  const faulty = { ...record, altSvc: 'h3=":443"; ma=0', protocol: 'h2' } as const;
  for (const known of [{ protocol: 'h3' }, { protocol: 'h2' }, { protocol: 'h2', record: faulty }] as const) {
    const moved = verdict({ ...known, racedElsewhere: true });
    assert.match(verdictText(moved), /Its latest race ran on another network/);
    assert.equal(moved.code, verdict(known).code);
    assert.deepEqual(otherFindings(moved), otherFindings(verdict(known)));
  }
});

test('apart from a page, “this network” is the one that the race ran on', () => {
  const known = { ...record, protocol: 'h2' } as const;
  const there = /^Supports HTTP\/3 on the network on which its latest race ran\./;
  assert.match(
    verdictText(verdict({ protocol: 'h2', race: aRace() })),
    /^Supports HTTP\/3 on this network\./,
  );
  assert.match(verdictText(verdictOfRecord(known, aRace())), there);
  const hidden = verdictOfRecord({ ...record, reason: 'not-exposed' }, aRace());
  assert.match(hidden.findings.map(({ key }) => key).join(), /pageNotExposed,pageRaceAvailable/);
});

test('apart from a page, “your network” and “here” are said to be those of the race', () => {
  const silent = { code: 'udp-timeout', message: 'no answer' } as const;
  const failed = trial(
    [
      attempt({ protocol: 'h3', outcome: 'failed', error: silent }),
      attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 5 }),
    ],
    'h2',
  );
  const known = { ...record, protocol: 'h2' } as const;
  for (const [failedHosts, reachedHosts, says] of [
    [2, 0, /your network blocks UDP.* “Your network” means the one on which its latest race ran\.$/],
    [0, 2, /Other hosts work over HTTP\/3 here.* “Here” means where its latest race ran\.$/],
  ] as const) {
    const race = originRace([failed], { otherHosts: { failedHosts, reachedHosts } });
    const there = verdictText(verdictOfRecord(known, race));
    assert.match(there, says);
    assert.equal(there.match(/its latest race ran/g)?.length, 1, 'only the words that are there');
    assert.doesNotMatch(verdictText(verdict({ protocol: 'h2', race })), /its latest race ran/);
  }
  const alone = verdictText(verdictOfRecord(known, originRace([failed])));
  assert.doesNotMatch(alone, /its latest race ran/);
});

/** The words for the network and the machine of the race, by the message that explains them. */
const WORDS_THERE = {
  en: {
    pageRacedThisNetwork: /\bthis network\b/i,
    pageRacedYourNetwork: /\byour network\b/i,
    pageRacedThisMachine: /\bthis machine\b/i,
    // Before a colon it is the origin.
    pageRacedHere: /\bhere\b(?!:)/i,
  },
  de: {
    pageRacedThisNetwork: /\bdiese[ms] Netz/i,
    pageRacedYourNetwork: /\bdas eigene Netz/i,
    pageRacedThisMachine: /\bdiese[rms] Rechner/i,
    pageRacedHere: /\bhier\b(?! nichts sagen:)/i,
  },
};

test('apart from a page, the words for its network and machine that are in a verdict are explained, no others', () => {
  const known = { ...record, protocol: 'h2' } as const;
  const errors: AttemptError[] = [
    ...ATTEMPT_ERROR_CODES.map((code) => ({ code, message: 'm' })),
    ...CERTIFICATE_REASONS.map((reason) => ({ code: 'certificate-invalid' as const, message: 'm', reason })),
  ];
  const h2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 5 });
  const races = errors.flatMap((error) => {
    const h3 = attempt({ protocol: 'h3', outcome: 'failed', error });
    const races = [trial([h3, h2], 'h2'), trial([h3, { ...h3, protocol: 'h2' }], null)];
    return races.map((each) => originRace([each]));
  });
  const busy = originRace([{ ...trial([h2], 'h2'), disturbed: 'outcome' }]);
  const explained = new Set<string>();
  for (const language of LANGUAGES) {
    useLanguage(language);
    for (const race of [...races, busy]) {
      const { code, findings } = verdictOfRecord(known, race);
      const keys = findings.map(({ key }) => key).filter((key) => Object.hasOwn(WORDS_THERE.en, key));
      const said = findings.filter(({ key }) => !keys.includes(key));
      const text = allTexts({ code, findings: said }).join('\n');
      const there = Object.entries(WORDS_THERE[language]).filter(([, words]) => words.test(text));
      assert.deepEqual(keys.toSorted(), there.map(([key]) => key).toSorted(), text);
      for (const key of keys) explained.add(key);
    }
  }
  useLanguage('en');
  assert.ok(explained.has('pageRacedThisNetwork') && explained.has('pageRacedThisMachine'));
});

test('a cached page says so before anything else', () => {
  assert.match(verdictText(verdict({ elsewhere: 'http-cache' })), /^Served from the browser’s cache/);
  assert.match(verdictText(verdict({ elsewhere: 'service-worker' })), /^Served by a service worker/);
});

test('a race that could not be run is no evidence', () => {
  const failed = aRace({ trials: [], error: { code: 'dns-failed', message: 'no such host' } });
  assert.match(verdictText(verdict({ protocol: 'h2', race: failed })), /^Reached over HTTP\/2\./);
});

test('a revalidated copy says that its protocol is not revealed, and what it was before', () => {
  const seen = { ...record, protocol: 'h2', protocolAtMs: 1 } as const;
  const text = verdictText(verdict({ reason: 'revalidated', record: seen }));
  assert.match(text, /304 Not Modified.* Earlier: Reached over HTTP\/2\. No HTTP\/3 advertisement/);
});

test('HTTP/3 before and HTTP/2 now follows from the browser’s own counts', () => {
  const counts = { ...record.counts, h3: 4, h2: 1 };
  const seen = { ...advertising, protocol: 'h2', counts, visitsSinceAdvertised: 3 } as const;
  assert.equal(verdict({ protocol: 'h2', record: seen }).code, 'h3-used-before');
  assert.equal(verdict({ protocol: 'h2', record: seen, race: aRace() }).code, 'h3-used-before');
});

test('HTTP/3 only on the newest visit is no earlier use, whichever answer of that visit was the newest', () => {
  const counts = { ...record.counts, h3: 4, h2: 2 };
  const visited = { ...advertising, protocol: 'h2', counts, newestPageMs: 100, h3SinceMs: 120 } as const;
  const first = verdictOfRecord(visited, undefined);
  assert.equal(first.code, 'h3-first-visit');
  assert.match(
    verdictText(first),
    /^Reached over HTTP\/2\. Other requests of the visit already use HTTP\/3\.$/,
  );
  const inView = (page: OriginEvidence['page']) =>
    verdict({ protocol: 'h2', record: visited, ...(page && { page }) }).code;
  assert.equal(inView({ begunMs: 100, newest: 'h2', usedH3: true }), 'h3-first-visit');
  assert.equal(inView({ begunMs: 121, newest: 'h2', usedH3: true }), 'h3-used-before');
  const later = verdictOfRecord({ ...visited, newestPageMs: 121 }, undefined);
  assert.equal(later.code, 'h3-used-before');
  assert.ok(!verdictText(later).includes('Other requests'));
  const silent = { ...visited, altSvc: null, advertisedSinceMs: null };
  assert.equal(verdictOfRecord(silent, undefined).code, 'h3-first-visit', 'known from DNS, perhaps');
});

test('that the browser has used HTTP/3 is evidence without any advertisement, until a header advertises none', () => {
  const counts = { ...record.counts, h3: 10, h2: 1 };
  const codeOf = (more: Partial<typeof record>, race?: OriginEvidence['race']) =>
    verdict({ protocol: 'h2', record: { ...record, counts, protocol: 'h2', ...more }, race }).code;
  for (const modes of [['light'], ['full']] as const) {
    assert.equal(codeOf({ modes }), 'h3-used-before');
    for (const altSvc of ['clear', 'h2=":443"']) assert.equal(codeOf({ modes, altSvc }), 'unknown', altSvc);
    const expired = { altSvc: H3, altSvcAtMs: 0, lastSeenMs: 61_000 };
    assert.equal(codeOf({ modes, ...expired }), 'h3-used-before');
    assert.equal(codeOf({ modes }, silentRace(1)), 'h3-not-offered', 'a race shows more');
  }
});

test('the result of a race after the last answer is included, that of an older race is not', () => {
  const [trial] = aRace().trials;
  assert.ok(trial);
  const error = { code: 'udp-refused', message: 'refused' } as const;
  const attempts = trial.attempts.flatMap((attempt) =>
    (['h3', 'h2'] as const).map((protocol) => ({
      ...attempt,
      ...{ protocol, establishedMs: null, firstByteMs: null, outcome: 'failed' as const, error },
    })),
  );
  const race = aRace({ atMs: 1000, trials: [{ ...trial, adopted: null, attempts }] });
  const reachedAt = (protocolAtMs: number) =>
    verdictText(verdict({ protocol: 'h3', race, record: { ...record, protocol: 'h3', protocolAtMs } }));
  assert.match(reachedAt(999), /^Reached over HTTP\/3\. A later race could not reach it/);
  assert.equal(reachedAt(1001), 'Reached over HTTP/3.');
  const weeksLater = verdictOfRecord({ ...record, protocol: 'h3' }, { ...race, atMs: 1_209_600_000 });
  assert.doesNotMatch(verdictText(weeksLater), /just now/i, 'a report is read at any time');
  const overTcp = (protocolAtMs: number) =>
    verdictText(verdict({ protocol: 'h2', race, record: { ...record, protocol: 'h2', protocolAtMs } }));
  assert.match(overTcp(999), /^Reached over HTTP\/2\. A later race could not reach it/);
  assert.match(overTcp(1001), /^Reached over HTTP\/2\. No HTTP\/3 advertisement/);
});

test('a race that found no HTTP/3 says nothing once the browser has used it', () => {
  const known = { ...record, protocol: 'h3', counts: { ...record.counts, h3: 1 } } as const;
  const race = silentRace(1000);
  const codes = (protocolAtMs: number) =>
    verdict({ protocol: 'h3', race, record: { ...known, protocolAtMs } }).findings.map(({ code }) => code);
  assert.deepEqual(codes(999), ['h3-used', 'h3-not-offered']);
  assert.deepEqual(codes(1001), ['h3-used']);
});

test('an advertisement to a race ends with its lifetime, and with a newer header to the browser', () => {
  const silent = { ...silentRace(1000), discovered: { altSvc: H3, knownRoot: true } };
  const code = (over: Partial<typeof record>) =>
    verdict({ protocol: 'h2', race: silent, record: { ...record, protocol: 'h2', ...over } }).code;
  assert.equal(code({ lastSeenMs: 60_999 }), 'h3-advertised-unreachable');
  assert.equal(code({ lastSeenMs: 61_000 }), 'h3-not-offered');
  const told = { altSvc: 'clear', lastSeenMs: 2000 } as const;
  assert.equal(code({ ...told, altSvcAtMs: 500 }), 'h3-advertised-unreachable', 'older than the race');
  assert.equal(code({ ...told, altSvcAtMs: 2000 }), 'h3-not-offered');
});
