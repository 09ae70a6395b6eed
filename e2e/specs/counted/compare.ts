// Compares a report's counts with the server's log, for every kind of request and over several visits: no response is
// counted under a wrong protocol, and inexact counts are exactly those in the table of docs/counts.md. A run with
// PHOTOFINISH_WRITE_COUNTS writes its own columns of that table; any other run is compared with them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { markdownTable } from '@photofinish/shared/report/markdown';
import type { Report } from '@photofinish/shared/report/report';
import type { ObservationMode } from '@photofinish/shared/web/observation';
import type { Request } from '@playwright/test';
import type { Tab } from '../../browsers/browser.ts';
import { playwrightPage } from '../../browsers/chromium.ts';
import type { Popup } from '../../browsers/session.ts';
import { storedRecords } from '../../browsers/stored.ts';
import { onPath } from '../../run/find-browser.mjs';
import { TOP } from '../../scratch.ts';
import { GO_MISSING, isGoProgramCurrent } from '../../test-programs.ts';
import { expect, exportedReport, type TestFixtures, test } from '../fixtures.ts';
import { COUNTED } from '../steps.ts';
import { hostOf, KINDS } from './kinds.ts';
import { type CountedSite, LAST, type ServedRequest, startCountedSite } from './site.ts';

const PAGE = join(TOP, 'docs', 'counts.md');
const MARKED = /(<!-- begin measured -->\n)[\s\S]*?(\n<!-- end measured -->)/;
const HEADS = {
  'chromium, full': 'Chromium, full mode',
  'chromium, light': 'Chromium, light mode',
  'firefox, full': 'Firefox',
};
/** A browser with its observation mode. */
type ColumnName = keyof typeof HEADS;
const COLUMNS = Object.keys(HEADS) as ColumnName[];
const NOT_MEASURED = 'not measured';

/** Requests by protocol; protocols without requests are absent. */
type Counts = Readonly<Record<string, number>>;

/** One kind as counted by its server and by the report. */
interface KindCounts {
  readonly served: Counts;
  readonly reported: Counts;
  /** Why the protocol of the most recent response of unknown protocol is unknown. */
  readonly reason: string | null;
}

/** A column: cells by name of the kind. */
type Column = Readonly<Record<string, string>>;

/** The sum over all protocols. */
const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/**
 * Responses counted under a wrong protocol, or more often than they occurred, which only light mode may do with those of
 * unknown protocol; empty if there are none.
 */
function faultsOf({ served, reported }: KindCounts, column: ColumnName): string[] {
  const more = Object.entries(reported).flatMap(([protocol, count]) =>
    protocol !== 'unknown' && count > (served[protocol] ?? 0)
      ? [`${count} over ${protocol}, which carried ${served[protocol] ?? 0}`]
      : [],
  );
  const [sent, counted] = [total(served), total(reported)];
  if (column === 'chromium, light' && counted - (reported.unknown ?? 0) <= sent) return more;
  return counted > sent ? [...more, `${counted} in all, of ${sent}`] : more;
}

/** The table's cell for the accuracy of a kind's counts. */
function cellOf({ served, reported, reason }: KindCounts): string {
  const [sent, counted] = [total(served), total(reported)];
  const unknown = reported.unknown ?? 0;
  if (sent === 0) return 'no request';
  if (counted === 0) return 'not counted';
  if (counted < sent) return 'partly not counted';
  if (unknown === 0) return 'exact';
  if (counted > sent) return `at most (${reason})`;
  return `${unknown < counted ? 'partly unknown' : 'unknown'} (${reason})`;
}

function rowsOf(page: string): Map<string, string[]> {
  const [table = ''] = MARKED.exec(page) ?? [];
  const rows = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map(([what = '', ...cells]) => [what, cells]));
}

/** The column as committed. */
function committedColumn(column: ColumnName): Column {
  const rows = rowsOf(readFileSync(PAGE, 'utf8'));
  const at = COLUMNS.indexOf(column);
  return Object.fromEntries(KINDS.map(({ name, what }) => [name, rows.get(what)?.[at] ?? NOT_MEASURED]));
}

/** Writes the column, with the text around the table. */
function writeColumn(name: ColumnName, column: Column): void {
  const page = readFileSync(PAGE, 'utf8');
  const columns = COLUMNS.map((each) => (each === name ? column : committedColumn(each)));
  const rows = KINDS.map(({ name: kind, what, why = '' }) => [
    what,
    ...columns.map((each) => each[kind] ?? NOT_MEASURED),
    why,
  ]);
  const table = markdownTable(['Requests', ...COLUMNS.map((each) => HEADS[each]), 'Why'], rows).join('\n');
  writeFileSync(
    PAGE,
    page.replace(MARKED, (_, begin, end) => `${begin}\n${table}\n${end}`),
  );
}

/** The first is over HTTP/2; later ones are over HTTP/3 and use stored responses. */
const VISITS = 4;
/** The page of `LAST` and, unless observed in light mode, its worker's request. */
const LAST_REQUESTS: Readonly<Record<ObservationMode, number>> = { full: 2, light: 1 };
/** By then, responses without a timing are counted too. What is written is measured once, not until it agrees. */
const SETTLED_MS = 30_000;
/** Each poll is a download. */
const POLL = { ...COUNTED, intervals: [1000] };
const LOADED = { timeout: 30_000 };

/**
 * Navigates to a page and waits until it has made its requests; the pending ones are in its attributes, which do not say
 * why a request failed.
 */
async function visited(tab: Tab, url: string, kind: TestFixtures['kind']): Promise<void> {
  const failed: string[] = [];
  const onFailed = (request: Request) => failed.push(`${request.url()}: ${request.failure()?.errorText}`);
  if (kind === 'chromium') playwrightPage(tab).on('requestfailed', onFailed);
  await tab.goto(url);
  const state = async () => ({ ...(await tab.find('html').look()).attributes, failed });
  await expect.poll(state, LOADED).toMatchObject({ 'data-done': '' });
  if (kind === 'chromium') playwrightPage(tab).off('requestfailed', onFailed);
}

function countsOf(each: Iterable<readonly [protocol: string, count: number]>): Counts {
  const counts: Record<string, number> = {};
  for (const [protocol, count] of each) if (count > 0) counts[protocol] = (counts[protocol] ?? 0) + count;
  return counts;
}

/**
 * Firefox requests the icon of a page restored from the back/forward cache, and may abort that when another tab opens:
 * requests without a response are not reported.
 */
const ICON = '/favicon.ico';

/** From the server's log; an icon only if `reported` has a response for it. */
function servedOf(served: readonly ServedRequest[], name: string, reported: Counts): Counts {
  const own = served.filter(({ host }) => host === hostOf(name));
  const pages = own.filter(({ path }) => path !== ICON);
  const meant = total(reported) === pages.length ? pages : own;
  return countsOf(meant.map(({ protocol }) => [protocol, 1]));
}

function reportedOf({ sites }: Report, name: string): Counts {
  const own = sites
    .flatMap((site) => site.origins)
    .filter(({ origin }) => new URL(origin).hostname === hostOf(name));
  return countsOf(own.flatMap(({ protocols }) => Object.entries(protocols)));
}

/** Why responses of each host have no protocol, from the ledger's records. */
async function reasonsByHost({ tab }: Popup): Promise<Record<string, string | null>> {
  const records = await storedRecords(tab);
  return Object.fromEntries(records.map(({ origin, reason }) => [new URL(origin).hostname, reason]));
}

/** What the popup exports now, and what the servers have logged by then. */
async function measure(popup: Popup, dir: string, site: CountedSite) {
  const report = await exportedReport(popup, dir);
  const served = await site.served();
  const reasons = await reasonsByHost(popup);
  const kinds = KINDS.map(({ name }): [string, KindCounts] => {
    const reported = reportedOf(report, name);
    const reason = reasons[hostOf(name)] ?? null;
    return [name, { served: servedOf(served, name, reported), reported, reason }];
  });
  return { served, kinds: Object.fromEntries(kinds) };
}

/** Visits the pages in this mode, and compares the counts with the server's log and the committed column. */
export async function compareCounts(
  { open, dir, kind }: Pick<TestFixtures, 'open' | 'dir' | 'kind'>,
  mode: ObservationMode,
): Promise<void> {
  const column = `${kind}, ${mode}` as ColumnName;
  test.skip(onPath('go') === null && !isGoProgramCurrent('caddy'), GO_MISSING);
  const site = await startCountedSite(dir);
  try {
    const session = await open({ own: true, local: site.local, mode });
    const tab = await session.newTab();
    // Each page's visits in sequence, so that its process keeps its memory cache.
    for (const page of ['service-worker', 'shared-worker', 'early-hints', 'document'])
      for (let visit = 0; visit < VISITS; visit += 1) await visited(tab, site.pageOf(page), kind);
    await visited(tab, site.pageOf('back'), kind);
    await visited(tab, site.pageOf('document'), kind);
    await tab.back();
    // Firefox's driver loses a tab after a history navigation.
    await visited(await session.newTab(), site.pageOf(LAST), kind);
    const popup = await session.openPopup(null);
    // The last to be counted: in full mode a worker's request, which nothing else reports.
    await expect
      .poll(async () => total(reportedOf(await exportedReport(popup, dir), LAST)), POLL)
      .toBe(LAST_REQUESTS[mode]);

    const writes = process.env.PHOTOFINISH_WRITE_COUNTS !== undefined;
    if (writes) await pause(SETTLED_MS);
    let { kinds, served } = await measure(popup, dir, site);
    const columnNow = () =>
      Object.fromEntries(Object.entries(kinds).map(([name, each]) => [name, cellOf(each)]));
    if (writes) writeColumn(column, columnNow());
    // Anything the browser requests on its own, such as a worker's script update, came after the last request.
    // And the server logs a response after it was sent.
    await expect(async () => {
      ({ kinds, served } = await measure(popup, dir, site));
      const [now, committed] = [columnNow(), committedColumn(column)];
      // A cell alone does not tell which request was counted twice, or not at all.
      const differing = Object.keys(now).filter((name) => now[name] !== committed[name]);
      const requests = served.filter(({ host }) => differing.some((name) => host === hostOf(name)));
      expect(now, JSON.stringify({ kinds: differing.map((name) => kinds[name]), requests })).toEqual(
        committed,
      );
      const faults = Object.entries(kinds).flatMap(([name, each]) =>
        faultsOf(each, column).map((fault) => `${name}: ${fault}`),
      );
      expect(faults).toEqual([]);
    }).toPass(POLL);
    await test.info().attach('counts', { contentType: 'application/json', body: JSON.stringify(kinds) });
    // Otherwise the test proves nothing: revalidations over HTTP/3 of responses from HTTP/2 are easily miscounted.
    expect(served.some(({ protocol }) => protocol === 'h2')).toBe(true);
    const confirmed = served.filter(({ status, protocol }) => status === 304 && protocol === 'h3');
    expect(confirmed.length).toBeGreaterThan(KINDS.length / 4);
    const cells = columnNow();
    const inexact = KINDS.filter(({ name }) => cells[name] !== 'exact');
    expect(inexact.filter(({ why }) => why === undefined).map(({ name }) => name)).toEqual([]);
  } finally {
    await site.stop();
  }
}
