// The report as CSV: one row per (site, origin), conditions repeated in every row so that rows of several reports can
// be put into one sheet.
import { csvText } from './csv.ts';
import { wholePairs } from './photo-finish.ts';
import type { Report } from './report.ts';
import { newestGain } from './report-compare.ts';

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
] as const;

/**
 * The document as CSV with a header row and CRLF line ends. Counts are plain numbers; `gain_ms` is empty where nothing
 * was measured, negative where HTTP/2 connects sooner.
 */
export function reportToCsv(report: Report): string {
  const { browser, network, networkNames, period, createdAt } = report;
  const name =
    networkNames !== undefined && Object.hasOwn(networkNames, network) ? networkNames[network] : '';
  const conditions = [browser.name, browser.version, network, period.from, period.to, createdAt, name ?? ''];
  const rows = report.sites.flatMap(({ site, origins }) =>
    origins.map((origin) => {
      const { h3, h2, 'http/1.1': h1, unknown } = origin.protocols;
      const race = newestGain(origin);
      const gain = race
        ? [race.summary.gainMs ?? '', wholePairs(race.trials).length, race.network]
        : ['', '', ''];
      const counts = [h3, h2, h1, unknown, origin.hidden, origin.bytes];
      const verdict = [origin.verdict.code, origin.verdict.text, origin.races.length];
      return [site, origin.origin, ...counts, ...verdict, ...gain, ...conditions];
    }),
  );
  return csvText([COLUMNS, ...rows]);
}
