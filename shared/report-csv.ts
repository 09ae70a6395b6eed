// The report as CSV (RFC 4180): one row per (site, origin), conditions repeated in every row so that rows of several
// reports can be put into one sheet. Made to be opened in spreadsheets, which run cells that look like formulas.
import type { OriginRace } from './outcome.ts';
import { wholePairs } from './photo-finish.ts';
import type { Report, ReportOrigin } from './report.ts';

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
] as const;

/** What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"). */
const FORMULA_START = /^[\s]*[=+\-@|\t\r]/;

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The newest race that measured a gain. */
function measured(origin: ReportOrigin): OriginRace | undefined {
  return origin.races.filter((race) => race.summary.gainMs !== null).toSorted((a, b) => b.atMs - a.atMs)[0];
}

/**
 * The document as CSV with a header row and CRLF line ends. Counts are plain numbers; `gain_ms` is empty where nothing
 * was measured, negative where HTTP/2 connects sooner.
 */
export function reportToCsv(report: Report): string {
  const { browser, network, period, createdAt } = report;
  const conditions = [browser.name, browser.version, network, period.from, period.to, createdAt];
  const rows = report.sites.flatMap(({ site, origins }) =>
    origins.map((origin) => {
      const { h3, h2, 'http/1.1': h1, unknown } = origin.protocols;
      const race = measured(origin);
      const gain = race
        ? [race.summary.gainMs ?? '', wholePairs(race.trials).length, race.network]
        : ['', '', ''];
      const counts = [h3, h2, h1, unknown, origin.hidden, origin.bytes];
      const verdict = [origin.verdict.code, origin.verdict.text, origin.races.length];
      return [site, origin.origin, ...counts, ...verdict, ...gain, ...conditions];
    }),
  );
  return [COLUMNS, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
