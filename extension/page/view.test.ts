import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '@photofinish/shared/observation';
import type { Origin } from '@photofinish/shared/origin';
import { aRace } from '../report/race.fixture.ts';
import { applyBatch, newPage, type Page } from './model.ts';
import { emptyView, pageView } from './view.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;
const C = 'https://c.test' as Origin;
const page = newPage({ documentId: 'd', tabId: 1, origin: A, site: 'a.test', startedMs: 0 });
const background = {
  records: new Map(),
  races: new Map(),
  helper: { state: 'missing' },
  trouble: null,
} as const;

function loaded(...steps: (readonly [Origin, Partial<Observation>?])[]): Page {
  const observations = steps.map(
    ([origin, more], i): Observation => ({
      id: String(i),
      origin,
      site: 'a.test',
      kind: 'resource',
      delivery: 'network',
      atMs: 10,
      bytes: null,
      protocol: 'h2',
      ...more,
    }),
  );
  return applyBatch(page, 'x:1', observations, null).page;
}

test('until its document told how it came a page is loading', () => {
  assert.equal(pageView(page, background).state, 'loading');
});

test('the page’s own origin comes first, then by number of requests', () => {
  const view = pageView(
    loaded([C], [B, { protocol: 'h3' }], [B, { protocol: 'h3' }], [A, { kind: 'navigation' }]),
    background,
  );
  assert.deepEqual(
    view.origins.map((o) => o.origin),
    [A, B, C],
  );
  assert.deepEqual([view.state, view.protocol, view.delivery], ['recorded', 'h2', 'network']);
  assert.deepEqual([view.counts.h3, view.counts.h2], [2, 2]);
});

test('a cached page shows no old protocol', () => {
  const view = pageView(
    loaded([A, { kind: 'navigation', delivery: 'http-cache', protocol: 'h3' }]),
    background,
  );
  assert.deepEqual([view.protocol, view.delivery, view.counts.h3], ['unknown', 'http-cache', 0]);
});

test('hidden origins are unknown with their reason', () => {
  const view = pageView(
    loaded([A], [B, { protocol: 'unknown', reason: 'no-timing-allow-origin' }]),
    background,
  );
  const hidden = view.origins.find((o) => o.origin === B);
  assert.deepEqual([hidden?.protocol, hidden?.reason], ['unknown', 'no-timing-allow-origin']);
});

test('the newest race is beside its origin', () => {
  const races = new Map([[B, aRace({ origin: B })]]);
  const view = pageView(loaded([A], [B]), { ...background, races });
  assert.equal(view.origins[0]?.race, null);
  assert.equal(view.origins[1]?.race?.summary.gainMs, 21);
});

test('tabs without a record say why', () => {
  const stateOf = (url: string, failed = false) =>
    emptyView(1, { documentId: 'd', url, failed }, { state: 'missing' }).state;
  assert.equal(stateOf('http://a.test/'), 'not-https');
  assert.equal(stateOf('chrome://version/'), 'browser-page');
  assert.equal(stateOf('https://a.test/'), 'not-recorded');
  assert.equal(stateOf('https://a.test/', true), 'failed');
  assert.equal(emptyView(-1, null, { state: 'missing' }).state, 'browser-page');
});
