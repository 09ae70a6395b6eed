import '@photofinish/shared/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from './origin.ts';
import { comparison, originRace, report, reportOrigin } from './race-samples.fixture.ts';
import { reportToHtml } from './report-html.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&`;

test('hostile strings come out as text everywhere they can stand', () => {
  const verdict = {
    code: 'unknown' as const,
    text: HOSTILE,
    findings: [{ code: 'unknown' as const, text: HOSTILE }],
  };
  const failed = originRace([], { network: HOSTILE, error: { code: 'blocked', message: HOSTILE } });
  const origin = reportOrigin({ origin: HOSTILE as Origin, verdict, races: [failed, comparison([1], [2])] });
  const base = report([origin]);
  const html = reportToHtml({
    ...base,
    network: HOSTILE,
    browser: { name: 'chromium', version: HOSTILE },
    sites: base.sites.map((site) => ({ ...site, site: HOSTILE })),
  });
  assert.doesNotMatch(html, /<script|<img|<iframe|<object|<link|javascript:/i);
  // Handlers exist as text inside escaped quotes only, never as an attribute of a tag.
  for (const tag of html.match(/<[a-z][^>]*>/gi) ?? [])
    assert.doesNotMatch(tag.replaceAll(/"[^"]*"/g, ''), /\son\w+\s*=/i, tag);
  assert.ok(html.includes('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'));
});

test('it needs nothing from elsewhere, and forbids itself to ask', () => {
  const html = reportToHtml(report());
  assert.doesNotMatch(html, /\s(src|href|srcset|data)=|@import|url\(/i);
  assert.match(html, /Content-Security-Policy" content="default-src 'none'/);
});

test('every number of the plots stands in a table too', () => {
  const html = reportToHtml(report());
  assert.match(
    html,
    /<td class="n">3<\/td><td class="n">1<\/td><td class="n zero">0<\/td><td class="n">2<\/td>/,
  );
  assert.match(html, /<b>75 %<\/b> <small>3 of 4<br>2 hidden<\/small>/);
  assert.match(html, /<td class="n">11 ms<\/td>/);
  assert.match(html, /10 ms, 11 ms, 12 ms/);
});

test('conditions are part of it: browser, network and period', () => {
  const html = reportToHtml(report());
  for (const part of ['Chromium 156.0', '<dd>net</dd>', '2026-01-01 00:00 UTC', '2026-01-02 03:04 UTC'])
    assert.ok(html.includes(part), part);
});

test('ids are unique, so that every drawing is named by its own title', () => {
  const origin = reportOrigin({
    races: [comparison([1, 2, 3], [4, 5, 6]), comparison([2, 3, 4], [5, 6, 7])],
  });
  const ids = [...reportToHtml(report([origin, origin])).matchAll(/\sid="([^"]+)"/g)].map((m) => m[1]);
  assert.ok(ids.length > 8);
  assert.equal(new Set(ids).size, ids.length);
});

test('an empty report and an origin without a known request say so', () => {
  assert.match(reportToHtml(report([], { sites: [] })), /Nothing was recorded in this period/);
  const base = report([reportOrigin({ protocols: { h3: 0, h2: 0, 'http/1.1': 0, unknown: 4 } })]);
  const none = { h3: 0, known: 0, hidden: 4 };
  const html = reportToHtml({
    ...base,
    sites: base.sites.map((s) => ({
      ...s,
      adoption: { byRequest: none, byOrigin: none, byNavigation: none },
    })),
  });
  assert.match(html, /<b>unknown<\/b>/);
  assert.doesNotMatch(html, /<b>0 %/);
});
