// The page of a very large report: small enough to be opened, with everything in its totals.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import german from '../_locales/de/shared.json' with { type: 'json' };
import english from '../_locales/en/shared.json' with { type: 'json' };
import { useCatalog } from '../language/catalog.ts';
import { comparison, report, reportOrigin, verdictSaying } from '../testing/race-samples.ts';
import type { Origin } from '../web/origin.ts';
import { addAdoption, NO_ADOPTION } from './adoption.ts';
import { REPORT_FORMS } from './forms.ts';
import { addProtocols, type Report, type ReportOrigin, type ReportSite } from './report.ts';
import { adoptionOf, totalAdoption } from './report-compare.ts';

const reportToHtml = REPORT_FORMS.html;
const MOST_BYTES = 5_000_000;
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
  assert.ok(bytes(html) < MOST_BYTES, `${bytes(html)} bytes`);
  assert.ok(bytes(html) > MOST_BYTES / 2, 'what fits is shown');
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
  assert.ok(bytes(html) < MOST_BYTES / 2, `${bytes(html)} bytes`);
  const rows = rowsOf(html, 'origins');
  assert.deepEqual(summed(rows), inOrder(addProtocols(site.origins)));
  const counted = 30_000 - (rows.length - 1);
  assert.match(rows.at(-1)?.name ?? '', new RegExp(`^${counted.toLocaleString('en')} further origins$`));
  assert.match(rows.at(-2)?.name ?? '', /s29999\.cdn1/);
  assert.doesNotMatch(html, /s0\.cdn1\.example/);
});

test('texts of the maximum length in an imported report do not exceed the limit', () => {
  const long = verdictSaying('unknown', 'é'.repeat(900_000));
  const sites = Array.from({ length: 20 }, (_, s) =>
    siteOf(`site${s}.example`, [reportOrigin({ verdict: long, races: [] })]),
  );
  const html = reportToHtml(report([], { sites }));
  assert.ok(bytes(html) < MOST_BYTES, `${bytes(html)} bytes`);
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
  assert.ok(bytes(html) < MOST_BYTES);
});
