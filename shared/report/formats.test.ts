// The other formats of reports and comparisons: summaries that fit a ticket, pages and tables that are inert.
import { comparison, report, reportOrigin, verdictSaying } from '../testing/race-samples.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyReport, renderedMarkdown } from '../testing/reports.ts';
import type { Origin } from '../web/origin.ts';
import { DIFF_FORMATS, REPORT_FORMATS } from './formats.ts';
import type { Report, ReportSite } from './report.ts';
import { compareReports } from './report-compare.ts';

const { html: reportToHtml, markdown: reportToMarkdown, csv: reportToCsv } = REPORT_FORMATS;
const { html: reportDiffToHtml, markdown: reportDiffToMarkdown, csv: reportDiffToCsv } = DIFF_FORMATS;

const HOSTILE = `"><script>alert(1)</script> | [x](javascript:a) \`b\` @all =1+1`;
const hostile: Report = {
  ...report([
    reportOrigin({
      origin: HOSTILE as Origin,
      protocols: { h3: 0, h2: 9, 'http/1.1': 0, unknown: 0 },
      verdict: verdictSaying('unknown', HOSTILE, ['unknown', HOSTILE]),
      races: [{ ...comparison([1, 2, 3], [2, 3, 4]), network: HOSTILE }],
    }),
  ]),
  network: HOSTILE,
  browser: { name: 'firefox', version: HOSTILE },
};
const hostileSite: Report = { ...hostile, sites: hostile.sites.map((site) => ({ ...site, site: HOSTILE })) };
const diff = compareReports(report(), hostileSite);

const PLAIN = /<(?!\/?(h2|p|table|thead|tbody|tr|th|td|code|strong|ul|li)>)/;

test('hostile names and verdicts are text in every Markdown format', () => {
  for (const markdown of [reportToMarkdown(hostileSite), reportDiffToMarkdown(diff)])
    assert.doesNotMatch(renderedMarkdown(markdown), PLAIN);
});

test('hostile names and verdicts are text in the page of a comparison, which can load nothing', () => {
  const html = reportDiffToHtml(diff);
  assert.doesNotMatch(
    html,
    /<script|<img|<iframe|javascript:(?!a\))|\s(src|srcset|data)=|\shref="(?!#)|url\(/i,
  );
  for (const tag of html.match(/<[a-z][^>]*>/gi) ?? [])
    assert.doesNotMatch(tag.replaceAll(/"[^"]*"/g, ''), /\son\w+\s*=/i, tag);
  assert.match(html, /Content-Security-Policy" content="default-src 'none'/);
});

test('no cell of a comparison’s table begins a formula', () => {
  const formula = '=HYPERLINK("https://evil.test")';
  const after = report([reportOrigin({ verdict: verdictSaying('unknown', formula) })]);
  const csv = reportDiffToCsv(compareReports(report(), after));
  assert.match(csv, /"'=HYPERLINK\(""https:\/\/evil\.test""\)"/);
  const [head = '', row = ''] = csv.split('\r\n');
  assert.equal(head.split(',').length, 33);
  assert.match(row, /^example\.org,https:\/\/example\.org,verdict,3,1,0,2,h3-used,/);
});

test('a summary fits a ticket: at most 40 lines, for any report', () => {
  const many = Array.from({ length: 300 }, (_, i) =>
    reportOrigin({
      origin: `https://o${i}.test` as Origin,
      protocols: { h3: 0, h2: i, 'http/1.1': 0, unknown: 0 },
    }),
  );
  const lines = (text: string) => text.trimEnd().split('\n').length;
  const markdown = reportToMarkdown(report(many));
  assert.ok(lines(markdown) <= 40);
  assert.match(markdown, /\*\*The 10 origins with the most requests not over HTTP\/3, of 299\*\*/);
  assert.ok(markdown.indexOf('o299.test') < markdown.indexOf('o298.test'));
  fc.assert(
    fc.property(anyReport, anyReport, (a, b) => {
      assert.ok(lines(reportToMarkdown(a)) <= 40);
      assert.ok(lines(reportDiffToMarkdown(compareReports(a, b))) <= 40);
      for (const text of [reportToMarkdown(a), reportDiffToMarkdown(compareReports(a, b))])
        assert.doesNotMatch(text, /undefined|NaN|\{\w+\}/);
    }),
  );
});

test('conditions, totals with their counts, and the reason for each origin are in the summary', () => {
  const markdown = reportToMarkdown(
    report([reportOrigin({ protocols: { h3: 0, h2: 4, 'http/1.1': 0, unknown: 0 } })]),
  );
  for (const part of [
    'Chromium 156.0 · net · 2026-01-01 00:00 UTC to 2026-01-02 03:04 UTC',
    'by request: 75 % (3 of 4, 2 hidden);',
    '| `https://example.org` | 4 of 4 | 21.0 → 11.0 ms | Reached over HTTP/3. |',
  ])
    assert.ok(markdown.includes(part), `${part}\n${markdown}`);
});

test('that every known request used HTTP/3 is said only if any is known', () => {
  const said = /Every request whose protocol is known used HTTP\/3/;
  const markdownOf = (h3: number, unknown: number) => {
    const origin = reportOrigin({ protocols: { h3, h2: 0, 'http/1.1': 0, unknown }, hidden: unknown });
    const own = { h3, known: h3, hidden: unknown };
    const adoption = { byRequest: own, byOrigin: own, byNavigation: own };
    const sites = report([origin]).sites.map((site) => ({ ...site, adoption, hidden: unknown }));
    return reportToMarkdown(report([], { sites }));
  };
  assert.match(markdownOf(1, 3), said);
  assert.doesNotMatch(markdownOf(0, 4), said);
});

test('shares of origins say that an origin of several sites is counted at each', () => {
  const [site] = report().sites;
  const two = report([], {
    sites: ['a.test', 'b.test'].map((name) => ({ ...(site as ReportSite), site: name })),
  });
  const changed = compareReports(two, two);
  for (const text of [reportToMarkdown(two), reportToHtml(two)])
    assert.match(text, /(?:of origins over HTTP\/3|by origin), each counted once per site/);
  for (const text of [reportDiffToMarkdown(changed), reportDiffToHtml(changed)])
    assert.match(text, /By origin, each counted once per site/);
});

test('a comparison names which origins changed, how, and why, with both sides’ counts', () => {
  const refused = verdictSaying('h3-advertised-unreachable', 'The UDP port is closed.');
  const after = report([
    reportOrigin({ protocols: { h3: 0, h2: 40, 'http/1.1': 0, unknown: 0 }, verdict: refused, races: [] }),
  ]);
  const changed = compareReports(report(), { ...after, browser: { name: 'firefox', version: '153' } });
  const markdown = reportDiffToMarkdown(changed);
  for (const part of [
    'HTTP/3 stopped (few requests), verdict changed',
    '75 % (3 of 4, 2 hidden). Reached over HTTP/3.',
    '0 % (0 of 40, 0 hidden). The UDP port is closed.',
    '−75 points',
    'Different browser: Chromium 156.0, then Firefox 153.',
  ])
    assert.ok(markdown.includes(part), `${part}\n${markdown}`);
  const html = reportDiffToHtml(changed);
  for (const part of [
    'HTTP/3 stopped (few requests), verdict changed',
    'The UDP port is closed.',
    'role="note"',
    '<title>HTTP/2 40</title>',
  ])
    assert.ok(html.includes(part), part);
  const same = reportDiffToHtml(compareReports(report(), report()));
  assert.match(same, /No origin changed/);
  assert.doesNotMatch(same, /class="diff"/);
});

test('a comparison says as of when the verdicts of both reports are', () => {
  const later = { ...report(), createdAt: '2026-02-03T04:05:06.000Z' };
  const changed = compareReports(report(), later);
  for (const text of [reportDiffToMarkdown(changed), reportDiffToHtml(changed)])
    assert.match(
      text,
      /as of when each report was generated: 2026-01-02 03:04 UTC, then 2026-02-03 04:05 UTC\./,
    );
});

test('names of networks are in every format of a report that has them, as text, or else their labels', () => {
  const race = { ...comparison([1, 2, 3], [2, 3, 4]), network: 'net' };
  const plain = report([reportOrigin({ races: [race] })]);
  const named = { ...plain, networkNames: { net: `Café <b>` } };
  const html = reportToHtml(named);
  assert.equal(html.split('Café &lt;b&gt;').length - 1, 3, 'conditions, the race and the gains');
  assert.doesNotMatch(html, /<dd>net<|<b>\s*<|Café <b>/);
  assert.match(reportToMarkdown(named), /Café/);
  assert.match(reportToCsv(named), /,Café <b>,none,1,1,full,net,Café <b>,h2\r\n$/);
  assert.match(reportDiffToMarkdown(compareReports(plain, named)), /Café/);
  assert.match(reportToHtml(plain), /<dd>net<\/dd>/);
  assert.match(reportToHtml({ ...plain, network: 'constructor', networkNames: {} }), /<dd>constructor<\/dd>/);
});

test('a comparison names its networks as its conditions do, and says that unknown ones may differ', () => {
  const over = (network: string, name?: string) =>
    report(undefined, { network, ...(name && { networkNames: { [network]: name } }) });
  assert.match(
    reportDiffToMarkdown(compareReports(over('net-1', 'Home'), over('net-2', 'Office'))),
    /Different network: Home, then Office\./,
  );
  assert.match(
    reportDiffToMarkdown(compareReports(over('net-1', 'Home'), over('net-2', 'Home'))),
    /Different network: Home \(net-1\), then Home \(net-2\)\./,
  );
  const unknown = compareReports(over('unknown'), over('unknown'));
  for (const text of [reportDiffToMarkdown(unknown), reportDiffToHtml(unknown)])
    assert.match(text, /the networks may differ: unknown \(no helper\), then unknown \(no helper\)\./);
});

test('a report counted in full is the same whether or not it says so', () => {
  const told = report([reportOrigin({ modes: ['full'] })], { modes: ['full'] });
  for (const written of [reportToHtml, reportToMarkdown, reportToCsv])
    assert.equal(written(told), written(report()));
  const [plain, both] = [compareReports(report(), report()), compareReports(told, report())];
  for (const written of [reportDiffToHtml, reportDiffToMarkdown, reportDiffToCsv])
    assert.equal(written(both), written(plain));
});

test('what light mode counted as hidden is an upper bound, and what it lacks is said once', () => {
  const light = report([reportOrigin({ modes: ['light'] })]);
  const html = reportToHtml(light);
  assert.equal(html.split('Counted in light mode').length - 1, 1);
  assert.equal(html.split('are upper bounds').length - 1, 1);
  for (const part of ['of 4 known, at most 2 hidden', '<td class="n">at most 2</td>', ', at most 2 hidden.'])
    assert.ok(html.includes(part), part);
  assert.doesNotMatch(html, /[^t] 2 hidden|at most 0/);
  const markdown = reportToMarkdown(light);
  for (const part of [
    'Counted in light mode',
    'by request: 75 % (3 of 4, at most 2 hidden);',
    'unknown at most 2',
  ])
    assert.ok(markdown.includes(part), `${part}\n${markdown}`);
  const partly = reportToMarkdown(report([reportOrigin(), reportOrigin({ modes: ['light'] })]));
  assert.match(partly, /Partly counted in light mode/);
});

test('an origin counted in full keeps its exact counts beside others', () => {
  const other = reportOrigin({ origin: 'https://b.test' as Origin, modes: ['light'], races: [] });
  const html = reportToHtml(report([reportOrigin({ races: [] }), other]));
  const rows = html.slice(html.indexOf('class="origins"')).split('<tr>').slice(2, 4);
  assert.deepEqual(
    rows.map((row) => row.includes('at most 2')),
    [false, true],
  );
});

test('reports counted in different modes are not compared without a warning', () => {
  const light = report([
    reportOrigin({ modes: ['light'], protocols: { h3: 9, h2: 1, 'http/1.1': 0, unknown: 2 } }),
  ]);
  const changed = compareReports(report(), light);
  for (const text of [reportDiffToHtml(changed), reportDiffToMarkdown(changed)])
    for (const part of [
      'Counted in different modes: full, then light.',
      'Partly counted in light mode',
      'at most 2 hidden',
    ])
      assert.ok(text.includes(part), `${part}\n${text}`);
  const [head = '', row = ''] = reportDiffToCsv(changed).split('\r\n');
  assert.match(head, /,modes_before,modes_after,/);
  assert.match(row, /,full,light,/);
  const same = reportDiffToMarkdown(compareReports(light, light));
  assert.match(same, /Counted in light mode/);
  assert.doesNotMatch(same, /different modes/);
});
