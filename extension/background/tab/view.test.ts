import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { attempt, trial } from '@photofinish/shared/testing/race-samples';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { applyBatch, newPage, type Page, withForecasts, withoutOrigins } from '../../common/page/model.ts';
import { emptyRecord } from '../../common/records/fold.ts';
import { aRace, racedOnce } from '../../testing/samples.ts';
import { emptyView, failedOrigin, failedView, pageView, type TabDocument, usedOrigins } from './view.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;
const C = 'https://c.test' as Origin;
const page = newPage({ documentId: 'd', tabId: 1, origin: A, site: 'a.test', startedMs: 0, begunMs: 0 });
const background = {
  history: { records: new Map(), races: new Map() },
  helper: { state: 'missing' },
  mode: 'full',
  trouble: null,
  pending: 0,
  steer: null,
} as const;

function seen(origin: Origin, more: Partial<Observation> = {}): Observation {
  return {
    id: '0',
    origin,
    site: 'a.test',
    kind: 'resource',
    delivery: 'network',
    atMs: 10,
    bytes: null,
    protocol: 'h2',
    ...more,
  };
}

function loaded(...steps: (readonly [Origin, Partial<Observation>?])[]): Page {
  const observations = steps.map(([origin, more], i) => seen(origin, { id: String(i), ...more }));
  return applyBatch(page, 'x:1', observations, null).page;
}

test('until its document has reported how it arrived, a page is loading', () => {
  assert.equal(pageView(page, background).state, 'loading');
});

test('an origin of which only a forecast is known is not shown, nor has the page reported', () => {
  const forecast = {
    origin: B,
    reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
    expected: { protocol: 'h3', basis: 'observed' },
    hit: true,
  } as const;
  assert.equal(pageView(withForecasts(page, [forecast], 1), background).state, 'loading');
  const used = withForecasts(loaded([A, { kind: 'navigation' }]), [forecast], 1);
  assert.deepEqual(usedOrigins(used), [A]);
  assert.deepEqual(
    pageView(used, background).origins.map(({ origin }) => origin),
    [A],
  );
  assert.equal(
    pageView(
      withoutOrigins(used, () => true),
      background,
    ).state,
    'recorded',
  );
});

test('the page’s own origin comes first, then by number of requests', () => {
  const view = pageView(
    loaded([C], [B, { protocol: 'h3' }], [B, { protocol: 'h3' }], [A, { kind: 'navigation' }]),
    background,
  );
  assert.deepEqual(
    view.origins.map((o) => [o.origin, o.protocol]),
    [
      [A, 'h2'],
      [B, 'h3'],
      [C, 'h2'],
    ],
  );
  assert.deepEqual([view.state, view.protocol, view.delivery], ['recorded', 'h2', 'network']);
  assert.deepEqual([view.counts.h3, view.counts.h2], [2, 2]);
});

/** A first visit: the document over HTTP/2, which advertises HTTP/3, and a script over HTTP/3. */
const SWITCHED = [
  [A, { kind: 'navigation' }],
  [A, { protocol: 'h3', atMs: 11 }],
] as const;

test('the page has its document’s protocol, and its origin the same, although resources already use HTTP/3', () => {
  const record = {
    ...emptyRecord(A, 'a.test', 0),
    protocol: 'h3',
    advertisedSinceMs: 10,
    h3SinceMs: 11,
  } as const;
  const told = { ...record, altSvc: 'h3=":443"', counts: { ...NO_REQUESTS, h2: 1, h3: 1 } };
  const history = { records: new Map([[A, told]]), races: new Map() };
  const view = pageView(loaded(...SWITCHED), { ...background, history });
  assert.deepEqual([view.documentProtocol, view.protocol, view.origins[0]?.protocol], ['h2', 'h2', 'h2']);
  assert.equal(view.verdict?.code, 'h3-first-visit');
  assert.equal(
    verdictText(view.verdict),
    'Reached over HTTP/2. Other requests of the visit already use HTTP/3.',
  );
  const before = new Map([[A, { ...told, h3SinceMs: -1 }]]);
  const again = pageView(loaded(...SWITCHED), { ...background, history: { ...history, records: before } });
  assert.equal(again.verdict?.code, 'h3-used-before');
  assert.match(
    verdictText(again.verdict),
    /HTTP\/3 before; .* Other requests of the visit already use HTTP\/3\.$/,
  );
  for (const [begunMs, startedMs, code] of [
    [null, 11, 'h3-first-visit'],
    [null, 12, 'h3-used-before'],
    [11, 12, 'h3-first-visit'],
  ] as const)
    assert.equal(
      pageView({ ...loaded(...SWITCHED), begunMs, startedMs }, { ...background, history }).verdict?.code,
      code,
    );
  const reverse = pageView(
    loaded([A, { kind: 'navigation', protocol: 'h3' }], [A, { atMs: 11 }]),
    background,
  );
  assert.deepEqual([reverse.protocol, reverse.verdict?.code], ['h3', 'h3-used']);
});

test('while the document’s protocol is not known, the page has the newest of its origin', () => {
  const hidden = { kind: 'navigation', protocol: 'unknown', reason: 'missed' } as const;
  const view = pageView(loaded([A, hidden], [A, { protocol: 'h3', atMs: 11 }]), background);
  assert.deepEqual([view.documentProtocol, view.protocol, view.verdict?.code], ['unknown', 'h3', 'h3-used']);
  const unreported = pageView(loaded([A, { protocol: 'h3' }]), background);
  assert.deepEqual([unreported.documentProtocol, unreported.protocol], [null, 'h3']);
  assert.deepEqual([unreported.state, unreported.delivery], ['recorded', 'network']);
});

test('a failed race is refuted by the newest answer over HTTP/3, whatever the document used', () => {
  const [h2] = aRace().trials.slice(1);
  assert.ok(h2);
  const failed = attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-refused', message: '' } });
  const race = aRace({ atMs: 5, trials: [trial([failed]), h2] });
  const record = { ...emptyRecord(A, 'a.test', 0), protocol: 'h3', protocolAtMs: 11, h3SinceMs: 11 } as const;
  const records = new Map([[A, { ...record, counts: { ...NO_REQUESTS, h2: 1, h3: 1 } }]]);
  const history = { records, races: new Map([[A, racedOnce(race)]]) };
  assert.equal(pageView(loaded(...SWITCHED), { ...background, history }).verdict?.code, 'h3-first-visit');
});

test('steering says if the newest race saw a private root that the browser has not accepted', () => {
  const offered = { enabled: true, chosen: false, active: null, possible: 'to-h3', undone: null } as const;
  const steerOf = (knownRoot: boolean, reachedOverH3: boolean) => {
    const records = new Map([
      [A, { ...emptyRecord(A, 'a.test', 0), ...(reachedOverH3 && { reachedOverH3 }) }],
    ]);
    const races = new Map([[A, racedOnce(aRace({ discovered: { altSvc: null, knownRoot } }))]]);
    return pageView(loaded([A, { kind: 'navigation' }]), {
      ...background,
      history: { records, races },
      steer: () => offered,
    }).steer;
  };
  assert.deepEqual(steerOf(false, false), { ...offered, privateRoot: true });
  assert.deepEqual(steerOf(false, true), offered);
  assert.deepEqual(steerOf(true, false), offered);
});

test('how a page can be steered depends on whether its own origin advertises HTTP/3', () => {
  const advertised = { altSvc: 'h3=":443"', altSvcAtMs: 0, advertisedSinceMs: 0 };
  for (const [more, expected] of [
    [{}, false],
    [advertised, true],
  ] as const) {
    const records = new Map([[A, { ...emptyRecord(A, 'a.test', 0), ...more }]]);
    const asked: boolean[] = [];
    const steer = (_: Origin, advertises: boolean) => {
      asked.push(advertises);
      return { enabled: true, chosen: false, active: null, possible: 'to-h3', undone: null } as const;
    };
    pageView(loaded([A]), { ...background, history: { records, races: new Map() }, steer });
    assert.deepEqual(asked, [expected]);
  }
});

test('a cached page shows no old protocol', () => {
  const view = pageView(
    loaded([A, { kind: 'navigation', delivery: 'http-cache', protocol: 'h3' }]),
    background,
  );
  assert.deepEqual([view.protocol, view.delivery, view.counts.h3], ['unknown', 'http-cache', 0]);
  assert.equal(view.documentProtocol, 'unknown');
  const [own] = view.origins;
  assert.deepEqual(
    [own?.site, own?.reason, own?.delivered['http-cache'], own?.verdict.findings[0]?.key],
    ['a.test', 'missed', 1, 'pageFromCache'],
  );
});

test('hidden origins are unknown with their reason', () => {
  const view = pageView(
    loaded([A], [B, { protocol: 'unknown', reason: 'no-timing-allow-origin' }]),
    background,
  );
  const hidden = view.origins.find((o) => o.origin === B);
  assert.deepEqual([hidden?.protocol, hidden?.reason], ['unknown', 'no-timing-allow-origin']);
  const [partly] = pageView(loaded([A], [A, { protocol: 'unknown', reason: 'missed' }]), background).origins;
  assert.deepEqual([partly?.protocol, partly?.reason, partly?.hiddenReason], ['h2', null, 'missed']);
});

test('the newest race is beside its origin', () => {
  const races = new Map([[B, racedOnce(aRace({ origin: B }))]]);
  const view = pageView(loaded([A], [B]), { ...background, history: { records: new Map(), races } });
  assert.equal(view.origins[0]?.race, null);
  assert.equal(view.origins[1]?.race?.summary.gainMs, 21);
});

test('a race on another network than the helper sees is no evidence on this page', () => {
  const history = { records: new Map(), races: new Map([[A, racedOnce(aRace({ network: 'home' }))]]) };
  const page = loaded([A]);
  const shownOn = (network: string) => {
    const helper = { state: 'ready', program: 'p', network, networkName: null } as const;
    const [view] = pageView(page, { ...background, history, helper }).origins;
    const told = view?.verdict.findings.map(({ key }) => key) ?? [];
    return [view?.race?.network, told.includes('verdictAvailable'), told.includes('pageRacedElsewhere')];
  };
  assert.deepEqual(shownOn('home'), ['home', true, false]);
  assert.deepEqual(shownOn('office'), [undefined, false, true]);
  assert.deepEqual(shownOn('home'), ['home', true, false], 'back again');
  for (const unknown of ['unknown', 'unidentified', 'offline'])
    assert.deepEqual(shownOn(unknown), ['home', false, false], 'it is not said to be on this network');
  const nowhere = aRace({ network: 'unidentified' });
  history.races.set(A, racedOnce(nowhere));
  assert.deepEqual(shownOn('unidentified'), ['unidentified', false, false], 'which may be two networks');
  history.races.set(A, racedOnce(aRace({ network: 'home' })));
  const [without] = pageView(page, { ...background, history }).origins;
  assert.equal(without?.race?.network, 'home', 'without a helper the network is unknown');
  assert.deepEqual(
    without?.verdict.findings.map(({ key }) => key),
    ['pageRaceAvailable'],
  );
});

test('a race that could not be run is shown, and hides nothing that the one before it found', () => {
  const judged = aRace({ atMs: 1 });
  const error = { code: 'dns-failed', message: 'no such host' } as const;
  const newest = aRace({ atMs: 2, trials: [], error });
  const of = (network: string) => {
    const races = new Map([[A, { newest: { ...newest, network }, judged }]]);
    const helper = { state: 'ready', program: 'p', network: 'home', networkName: null } as const;
    return { ...background, history: { records: new Map(), races }, helper };
  };
  for (const network of ['home', 'office']) {
    const [view] = pageView(loaded([A]), of(network)).origins;
    assert.equal(view?.race?.atMs, network === 'home' ? 2 : undefined);
    assert.deepEqual(
      view?.verdict.findings.map(({ key }) => key),
      ['verdictAvailable'],
    );
  }
  const failure = { documentId: 'd', error: 'net::ERR_FAILED', atMs: 2 };
  const shown = { documentId: 'd', url: `${A}/`, failed: true, failure, withheld: null };
  const failed = failedView(1, shown, { origin: A, site: 'a.test' }, of('home'));
  assert.equal(failed.origins[0]?.race?.atMs, 2, 'what was found out since the page failed');
  assert.ok(failed.verdict !== null && failed.origins[0]?.verdict === failed.verdict);
  assert.deepEqual([failed.state, failed.complete, failed.error], ['failed', true, 'net::ERR_FAILED']);
  const raceOf = (failedMs: number, network: string) => {
    const later = { ...shown, failure: { ...failure, atMs: failedMs } };
    return failedView(1, later, { origin: A, site: 'a.test' }, of(network));
  };
  for (const view of [raceOf(3, 'home'), raceOf(2, 'office')])
    assert.deepEqual([view.origins[0]?.race, view.verdict], [null, null]);
  const unread = failedView(1, shown, { origin: A, site: 'a.test' }, { ...background, history: null });
  assert.deepEqual(
    [unread.complete, unread.verdict, unread.origins[0]?.verdict.code],
    [false, null, 'unknown'],
  );
});

test('unchanged rows keep the same view object, so that nothing is computed again', () => {
  const before = loaded([A], [B]);
  const after = applyBatch(before, 'x:2', [{ ...seen(C), id: '9' }], null).page;
  const [old, next] = [pageView(before, background), pageView(after, background)];
  assert.equal(next.origins[1], old.origins[1]);
  const races = new Map([[B, racedOnce(aRace({ origin: B, network: 'home' }))]]);
  const raced = pageView(after, { ...background, history: { records: new Map(), races } });
  assert.notEqual(raced.origins[1], next.origins[1]);
  const on = (network: string) => {
    const helper = { state: 'ready', program: 'p', network, networkName: null } as const;
    return pageView(after, { ...background, helper, history: { records: new Map(), races } }).origins[1];
  };
  assert.ok(on('home')?.race !== null && on('office')?.race === null);
  const known = { records: new Map([[B, emptyRecord(B, 'a.test', 0)]]), races };
  const recorded = () => pageView(after, { ...background, history: known }).origins[1];
  assert.equal(recorded(), recorded());
  const told = pageView({ ...after, documentProtocol: 'h3' }, background);
  assert.deepEqual(
    [pageView(after, background).origins[0]?.protocol, told.origins[0]?.protocol],
    ['h2', 'h3'],
  );
});

test('earlier visits are listed by protocol; null if there are none', () => {
  const record = { ...emptyRecord(A, 'a.test', 7), navigations: { ...NO_REQUESTS, h2: 2, h3: 1 } };
  const records = new Map([[A, record]]);
  const view = pageView(loaded([A]), { ...background, history: { records, races: new Map() } });
  assert.deepEqual([view.visits?.sinceMs, view.visits?.navigations.h2], [7, 2]);
  assert.equal(pageView(loaded([A]), background).visits, null);
  const unvisited = new Map([[A, emptyRecord(A, 'a.test', 7)]]);
  const history = { records: unvisited, races: new Map() };
  assert.equal(pageView(loaded([A]), { ...background, history }).visits, null);
  assert.equal(pageView(loaded([A]), { ...background, history: null }).complete, false);
});

test('a page from which the browser keeps extensions away is not loading', () => {
  const origin = 'https://addons.mozilla.org' as Origin;
  const store = newPage({ documentId: 'd', tabId: 1, origin, site: 'mozilla.org', startedMs: 0, begunMs: 0 });
  assert.equal(pageView(store, background).state, 'guarded');
});

test('tabs without a record say why', () => {
  const stateOf = (url: string, more: Partial<TabDocument> = {}) =>
    emptyView(
      1,
      { documentId: 'd', url, failed: false, failure: null, withheld: null, ...more },
      { helper: { state: 'missing' }, mode: 'full' },
    ).state;
  assert.equal(stateOf('', { documentId: '' }), 'loading');
  assert.equal(stateOf('http://a.test/'), 'not-https');
  assert.equal(stateOf('http://a.test/', { failed: true }), 'failed');
  assert.equal(stateOf('chrome://version/'), 'browser-page');
  assert.equal(stateOf('about:reader?url=https://a.test'), 'browser-page');
  assert.equal(stateOf('file:///home/a.html'), 'file');
  assert.equal(stateOf('view-source:https://a.test/'), 'source');
  assert.equal(stateOf('https://a.test/'), 'not-recorded');
  assert.equal(stateOf('https://a.test/', { failed: true }), 'failed');
  for (const withheld of ['private', 'excluded', 'no-options', 'no-access'] as const)
    assert.equal(stateOf('https://a.test/', { withheld }), withheld);
  for (const withheld of ['private', 'excluded', 'no-options'] as const)
    assert.equal(stateOf('https://a.test/', { withheld, failed: true }), withheld);
  assert.equal(stateOf('https://a.test/', { withheld: 'no-access', failed: true }), 'failed');
  assert.equal(stateOf('https://addons.mozilla.org/'), 'guarded');
  assert.equal(stateOf('https://a.test/webstore'), 'not-recorded');
  assert.equal(stateOf('https://chrome.google.com/webstore/detail/x'), 'guarded');
  assert.equal(stateOf('https://chrome.google.com/other'), 'not-recorded');
  const view = emptyView(-1, null, { helper: { state: 'missing' }, mode: 'full' });
  assert.deepEqual([view.state, view.complete, view.pending, view.error], ['browser-page', true, 0, null]);
});

test('only a page that failed over https has an origin to race', () => {
  const shown = { documentId: 'd', url: `${A}/x`, failed: true, failure: null, withheld: null } as const;
  assert.deepEqual(failedOrigin(shown), { origin: A, site: 'a.test' });
  for (const other of [{ failed: false }, { url: 'http://a.test/' }, { withheld: 'private' }] as const)
    assert.equal(failedOrigin({ ...shown, ...other }), null);
  assert.equal(failedOrigin(null), null);
});
