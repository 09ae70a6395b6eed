// The report as CSV: one row per (site, origin), conditions repeated in every row so that rows of several reports can
// be put into one sheet.

import { gainMsOf, roundedMs } from '../verdict/gain.ts';
import { verdictText } from '../verdict/verdict-text.ts';
import { csvText } from './csv.ts';
import type { Report } from './report.ts';
import { type Compared, newestComparison } from './report-compare.ts';

const COLUMNS = [
  'site',
  'origin',
  'h3',
  'h2',
  'http/1.1',
  'unknown',
  'hidden',
  'bytes',
  'verdict',
  'verdict_text',
  'races',
  'gain_ms',
  'gain_pairs',
  'gain_network',
  'browser',
  'browser_version',
  'network',
  'period_from',
  'period_to',
  'created_at',
  'network_name',
  'quicker',
  'gain_low_ms',
  'gain_high_ms',
] as const;

function gainCells(compared: Compared | undefined): (string | number)[] {
  if (compared === undefined) return ['', '', ''];
  const { race, comparison } = compared;
  return [gainMsOf(comparison) ?? '', comparison.pairs, race.network];
}

function rangeCells(compared: Compared | undefined): (string | number)[] {
  if (compared === undefined) return ['', '', ''];
  const { quicker, lowMs, highMs } = compared.comparison;
  return [quicker ?? 'none', roundedMs(lowMs), roundedMs(highMs)];
}

/**
 * The document as CSV with a header row and CRLF line ends. Counts are plain numbers; `gain_ms` is empty where nothing
 * was measured and where there is no clear difference, negative where HTTP/2 connects sooner. `quicker` tells the two apart:
 * it is `h3`, `h2` or `none`, and empty where nothing was measured.
 */
export function reportToCsv(report: Report): string {
  const { browser, network, networkNames, period, createdAt } = report;
  const name =
    networkNames !== undefined && Object.hasOwn(networkNames, network) ? networkNames[network] : '';
  const conditions = [browser.name, browser.version, network, period.from, period.to, createdAt, name ?? ''];
  const rows = report.sites.flatMap(({ site, origins }) =>
    origins.map((origin) => {
      const { h3, h2, 'http/1.1': h1, unknown } = origin.protocols;
      const compared = newestComparison(origin);
      const counts = [h3, h2, h1, unknown, origin.hidden, origin.bytes];
      const verdict = [origin.verdict.code, verdictText(origin.verdict), origin.races.length];
      return [
        site,
        origin.origin,
        ...counts,
        ...verdict,
        ...gainCells(compared),
        ...conditions,
        ...rangeCells(compared),
      ];
    }),
  );
  return csvText([COLUMNS, ...rows]);
}
