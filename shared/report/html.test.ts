import {
  clearComparison,
  comparison,
  originRace,
  report,
  reportOrigin,
  verdictSaying,
} from '../testing/race-samples.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import german from '../_locales/de/shared.json' with { type: 'json' };
import english from '../_locales/en/shared.json' with { type: 'json' };
import { useCatalog } from '../language/catalog.ts';
import type { Origin } from '../web/origin.ts';
import { addAdoption, NO_ADOPTION } from './adoption.ts';
import { REPORT_FORMATS } from './formats.ts';
import { addProtocols, type Report, type ReportOrigin, type ReportSite } from './report.ts';
import { adoptionOf, totalAdoption } from './report-compare.ts';

const reportToHtml = REPORT_FORMATS.html;
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&`;

test('hostile strings are output as text in every position', () => {
  const verdict = verdictSaying('unknown', HOSTILE, ['unknown', HOSTILE]);
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

test('the page needs nothing from elsewhere, and forbids itself to load anything', () => {
  const html = reportToHtml(report());
  assert.doesNotMatch(html, /\s(src|srcset|data)=|\shref="(?!#)|@import|url\(/i);
  assert.match(html, /Content-Security-Policy" content="default-src 'none'/);
});

test('every number of the plots is in a table too', () => {
  const html = reportToHtml(report());
  assert.match(
    html,
    /<td class="n">3<\/td><td class="n">1<\/td><td class="n zero">0<\/td><td class="n">2<\/td>/,
  );
  assert.match(html, /<b>75 %<\/b> <small>3 of 4<br>2 hidden<\/small>/);
  assert.match(html, /<td class="n">11\.0 ms<\/td>/);
  assert.match(html, /10 ms, 11 ms, 12 ms/);
});

test('the page contains its conditions: browser, network and period', () => {
  const html = reportToHtml(report());
  for (const part of ['Chromium 156.0', '<dd>net</dd>', '2026-01-01 00:00 UTC', '2026-01-02 03:04 UTC'])
    assert.ok(html.includes(part), part);
});

test('ids are unique, so that every drawing is labelled by its own title', () => {
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

test('many sites have a table of contents, fold on screen, and are drawn within bounds', () => {
  const race = comparison([10, 11, 12], [20, 21, 22]);
  const [site] = report().sites;
  const sites = Array.from({ length: 200 }, (_, i) => ({
    ...(site as ReportSite),
    site: `site${i}.test`,
    origins: Array.from({ length: 10 }, (_, k) => {
      const origin = `https://cdn${k}.site${i}.test` as Origin;
      return reportOrigin({ origin, races: [{ ...race, origin }, race, race, race] });
    }),
  }));
  const html = reportToHtml(report([], { sites }));
  assert.equal(html.match(/<li><a href="#site-\d+">/g)?.length, 200);
  assert.equal(html.match(/<details open>/g), null);
  assert.equal(html.match(/class="photo-finish"/g)?.length, 120);
  assert.match(html, /Races are drawn for the origins with the most requests only/);
  assert.ok(html.length < 4_000_000, `${html.length} characters for 2,000 origins`);
  assert.match(reportToHtml(report()), /<details open>/);
});

test('bars and table list the sites in one order', () => {
  const [site] = report().sites;
  const sites = [1, 9, 5].map((h3, i) => ({
    ...(site as ReportSite),
    site: `site${i}.test`,
    origins: [reportOrigin({ protocols: { h3, h2: 0, 'http/1.1': 0, unknown: 0 } })],
  }));
  const html = reportToHtml(report([], { sites }));
  const bars = [...html.matchAll(/<span class="name" title="([^"]+)"/g)].map(([, name]) => name);
  assert.deepEqual(
    bars,
    sites.map((each) => each.site),
  );
});

test('gains are shown pair by pair on an axis that contains 0, with those beyond it counted', () => {
  const spread = comparison([10, 10, 10, 10], [12, 14, 8, 13]);
  const html = reportToHtml(report([reportOrigin({ races: [spread] })]));
  assert.match(html, /<title>Gain per pair: 2 ms, 4 ms, −2 ms, 3 ms<\/title>/);
  const labels = [...html.matchAll(/class="tick-label"[^>]*>([^<]+)/g)].map(([, label]) => label);
  assert.deepEqual([labels.at(-2), labels.at(-1)], ['3', '4 ms']);
  const zero = /class="zero-line" x1="([\d.]+)%"/.exec(html)?.[1];
  assert.ok(Number(zero) > 4 && Number(zero) < 96, zero);
  const fast = Array.from({ length: 40 }, () => 10);
  const outlier = comparison([...fast, 10], [...fast.map(() => 20), 9000]);
  assert.match(reportToHtml(report([reportOrigin({ races: [outlier] })])), /1 pair is off the scale/);
});

test('an unclear result is neither bold nor a filled dot, and no figure is finer than its spread', () => {
  const pairs = [14.12, 15.34, 13.56, 14.78, 15.91, 13.23, 14.45, 19.67];
  const unclear = comparison(pairs, pairs.toReversed());
  const html = reportToHtml(report([reportOrigin({ races: [unclear] })]));
  assert.match(html, /<td class="n">no clear difference<\/td>/);
  assert.match(html, /<circle class="flag unclear"/);
  assert.match(
    html,
    /<figcaption>No clear difference: from HTTP\/2 [\d.]+ ms faster to HTTP\/3 [\d.]+ ms faster, median of 8 pairs<br>/,
  );
  assert.match(html, /<td class="n">14 ms<\/td>/);
  assert.doesNotMatch(html, /<td class="n">14\.\d* ms<\/td>/);
  const clear = reportToHtml(report());
  assert.match(clear, /<td class="n"><b>21\.0 → 11\.0 ms<\/b><\/td>/);
  assert.match(clear, /<circle class="flag gains"/);
});

test('a gain over HTTP/1.1 is not told as one over HTTP/2', () => {
  const race = clearComparison(11, 21);
  const trials = race.trials.map((each) =>
    each.adopted === 'h3' ? each : { ...each, adopted: 'http/1.1' as const },
  );
  const html = reportToHtml(report([reportOrigin({ races: [{ ...race, trials }] })]));
  assert.match(html, /TCP → HTTP\/3/);
  assert.match(html, /<td class="n"><b>21\.0 → 11\.0 ms \(HTTP\/1\.1\)<\/b><\/td>/);
  assert.doesNotMatch(html, /HTTP\/2 → HTTP\/3|HTTP\/2 was faster/);
});

test('verdicts in a language other than the page’s are marked', () => {
  assert.match(reportToHtml(report(undefined, { language: 'de' })), /<td class="verdict"><span lang="de">/);
  assert.match(reportToHtml(report()), /<td class="verdict">/);
});

test('every verdict links to its meaning, and only the codes that occur are explained, once each', () => {
  const verdict = verdictSaying('h3-not-advertised', 'It answers.', ['h3-private-root', 'Private.']);
  const failed = originRace([], { error: { code: 'blocked', message: 'loopback' } });
  const html = reportToHtml(report([reportOrigin({ verdict, races: [failed] })]));
  const explained = [...html.matchAll(/<dt id="means-([^"]+)"/g)].map(([, code]) => code);
  assert.deepEqual(explained, ['h3-not-advertised', 'h3-private-root', 'blocked']);
  const links = [...html.matchAll(/href="#(means-[^"]+)"/g)].map(([, id]) => id);
  assert.deepEqual(links, ['means-h3-not-advertised', 'means-h3-not-advertised']);
});

// A very large report: its page is small enough to be opened, with everything in its totals.

const MAX_BYTES = 5_000_000;
const ADVICE =
  'Advertises HTTP/3 on port 443, but UDP there is refused. Open UDP 443 on the server or withdraw the Alt-Svc header.';

function siteOf(name: string, origins: ReportOrigin[]): ReportSite {
  const byRequest = origins.map(adoptionOf).reduce(addAdoption, NO_ADOPTION);
  return {
    site: name,
    origins,
    adoption: { byRequest, byOrigin: { h3: 1, known: 2, hidden: 3 }, byNavigation: byRequest },
    hidden: byRequest.hidden,
    hitRatio: { hits: 1, of: 2 },
    accuracy: { hits: 2, of: 3 },
  };
}

/** Origins with different counts, so that a total that misses one is wrong. */
function manyOrigins(count: number, site: number): ReportOrigin[] {
  return Array.from({ length: count }, (_, i) =>
    reportOrigin({
      origin: `https://d1a2b3c4.s${i}.cdn${site}.example` as Origin,
      protocols: { h3: site + i, h2: (site * 7) % 50, 'http/1.1': i % 3, unknown: i % 5 },
      hidden: i % 5,
      bytes: 1000 + i,
      verdict: verdictSaying('h3-advertised-unreachable', ADVICE),
      races: i === 0 && site % 10 === 0 ? [comparison([10, 11, 12], [20, 21, 22])] : [],
    }),
  );
}

const HEAVY: Report = report([], {
  sites: Array.from({ length: 20_000 }, (_, s) => siteOf(`site${s}.example`, manyOrigins(6, s))),
});

/** The counts by protocol in each row of the first table of a class, without the marks. */
function rowsOf(html: string, table: string): { name: string; counts: number[] }[] {
  const body = html.split(`<table class="${table}">`)[1]?.split('<tbody>')[1]?.split('</tbody>')[0] ?? '';
  return body.split('<tr').flatMap((row) => {
    const name = /<th scope="row">(.*?)<\/th>/.exec(row)?.[1];
    if (name === undefined) return [];
    const cells = [...row.matchAll(/<td class="n(?: zero)?">([\d,]+)<\/td>/g)];
    return [{ name, counts: cells.slice(0, 4).map((cell) => Number(cell[1]?.replaceAll(',', ''))) }];
  });
}

function summed(rows: readonly { counts: number[] }[]): number[] {
  return [0, 1, 2, 3].map((column) => rows.reduce((sum, { counts }) => sum + (counts[column] ?? 0), 0));
}

const bytes = (html: string) => Buffer.byteLength(html);
const inOrder = ({ h3, h2, 'http/1.1': h1, unknown }: ReportOrigin['protocols']) => [h3, h2, h1, unknown];

test('120,000 origins on 20,000 sites fit into 5 MB, and the table of sites still adds up', () => {
  const html = reportToHtml(HEAVY);
  assert.ok(bytes(html) < MAX_BYTES, `${bytes(html)} bytes`);
  assert.ok(bytes(html) > MAX_BYTES / 2, 'what fits is shown');
  const rows = rowsOf(html, 'sites');
  const rest = rows.at(-1);
  const counted = 20_000 - (rows.length - 1);
  assert.match(rest?.name ?? '', new RegExp(`^${counted.toLocaleString('en')} further sites$`));
  assert.deepEqual(summed(rows), inOrder(addProtocols(HEAVY.sites.flatMap((site) => site.origins))));
  const further = `${counted.toLocaleString('en')} further sites with ${(counted * 6).toLocaleString('en')} origins are counted here; the CSV and JSON reports list all.`;
  assert.equal(html.split(further).length - 1, 2, 'said before the table and at the end');
  const { known } = totalAdoption(HEAVY).byRequest;
  assert.ok(html.includes(`of ${known.toLocaleString('en')}`), 'the sums are of everything');
});

test('the sites in full are those with the most requests, in the order of the report', () => {
  const html = reportToHtml(HEAVY);
  const shown = [...html.matchAll(/<h2 id="site-(\d+)">/g)].map((match) => Number(match[1]));
  assert.ok(shown.length > 400, `${shown.length} sites`);
  assert.deepEqual(
    shown,
    shown.toSorted((a, b) => a - b),
  );
  const requests = (site: ReportSite) =>
    inOrder(addProtocols(site.origins)).reduce((sum, count) => sum + count, 0);
  const all = HEAVY.sites.map(requests).toSorted((a, b) => b - a);
  const least = Math.min(...shown.map((index) => requests(HEAVY.sites[index] as ReportSite)));
  assert.ok(least >= (all[shown.length] ?? 0));
  const links = [...html.matchAll(/<a href="#site-(\d+)">/g)].map((match) => Number(match[1]));
  assert.deepEqual(links, shown, 'contents lead to what is there');
});

test('one site with more origins than fit shows those with the most requests and counts the others', () => {
  const site = siteOf('huge.example', manyOrigins(30_000, 1));
  const html = reportToHtml(report([], { sites: [site] }));
  assert.ok(bytes(html) < MAX_BYTES / 2, `${bytes(html)} bytes`);
  const rows = rowsOf(html, 'origins');
  assert.deepEqual(summed(rows), inOrder(addProtocols(site.origins)));
  const counted = 30_000 - (rows.length - 1);
  assert.match(rows.at(-1)?.name ?? '', new RegExp(`^${counted.toLocaleString('en')} further origins$`));
  assert.match(rows.at(-2)?.name ?? '', /s29999\.cdn1/);
  assert.doesNotMatch(html, /s0\.cdn1\.example/);
});

test('texts of the maximum length in an imported report do not exceed the limit', () => {
  const page = (length: number, chars: number) => {
    const long = reportOrigin({ verdict: verdictSaying('unknown', 'é'.repeat(chars)), races: [] });
    const sites = Array.from({ length }, (_, s) => siteOf(`site${s}.example`, [long]));
    return reportToHtml(report([], { sites }));
  };
  assert.match(page(5, 450_000), /1 further site with 1 origin is counted here;/);
  const html = page(20, 900_000);
  assert.ok(bytes(html) < MAX_BYTES, `${bytes(html)} bytes`);
  assert.match(html, /1 further origin</);
});

test('if everything fits, no further sites are mentioned', () => {
  assert.doesNotMatch(reportToHtml(report()), /further|class="rest"/);
});

test('German says the same', () => {
  useCatalog((key) => (german as Record<string, { message: string }>)[key]?.message ?? '', 'de');
  const html = reportToHtml(HEAVY);
  useCatalog((key) => (english as Record<string, { message: string }>)[key]?.message ?? '', 'en');
  assert.match(html, /[\d.]+ weitere Websites mit [\d.]+ Origins sind hier nur gezählt/);
  assert.ok(bytes(html) < MAX_BYTES);
});
