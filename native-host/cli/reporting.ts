// `photofinish report`: reads exported reports, refuses what does not fit the schema, and shows or converts them.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Adoption, adoptionPercent } from '@photofinish/shared/adoption';
import { REPORT_SCHEMA, type Report, reportSchema } from '@photofinish/shared/report';
import { reportToCsv } from '@photofinish/shared/report-csv';
import { reportToHtml } from '@photofinish/shared/report-html';
import * as v from 'valibot';
import type { Terminal } from './terminal.ts';
import { type Paint, printable, table, wrapped } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, parseCommand } from './usage.ts';

const OPTIONS = {
  html: { type: 'string' },
  csv: { type: 'string' },
  json: { type: 'boolean' },
} as const;

function readReport(path: string): Report {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Complaint('bad-file', `cannot read ${path}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Complaint('bad-report', `${path} is not JSON`);
  }
  const result = v.safeParse(reportSchema, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue);
  throw new Complaint(
    'bad-report',
    `${path} is not a ${REPORT_SCHEMA} document: ${where === null ? '' : `${where}: `}${issue.message}`,
  );
}

function adoptionText(adoption: Adoption): string {
  const percent = adoptionPercent(adoption);
  return percent === null ? '–' : `${adoption.h3} of ${adoption.known} (${percent} %)`;
}

function ratioText({ hits, of }: { readonly hits: number; readonly of: number }): string {
  return of === 0 ? '–' : `${hits} of ${of} (${Math.round((100 * hits) / of)} %)`;
}

function summary(report: Report, paint: Paint): string {
  const { browser, period } = report;
  const head = [
    paint('bold', `${browser.name} ${printable(browser.version)}, network ${printable(report.network)}`),
    `${period.from} to ${period.to}`,
    '',
  ];
  if (report.sites.length === 0) return [...head, 'No site was recorded.'].join('\n');
  const rows = report.sites.map((site) => [
    { text: printable(site.site) },
    { text: adoptionText(site.adoption.byNavigation) },
    { text: adoptionText(site.adoption.byRequest) },
    { text: adoptionText(site.adoption.byOrigin) },
    { text: String(site.hidden) },
    { text: ratioText(site.accuracy) },
  ]);
  const columns = ['SITE', 'NAVIGATIONS H3', 'REQUESTS H3', 'ORIGINS H3', 'HIDDEN', 'FORECASTS RIGHT'].map(
    (title, index) => ({ title, align: index === 0 ? ('left' as const) : ('right' as const) }),
  );
  const verdicts = report.sites.flatMap((site) =>
    site.origins.flatMap((origin) => [
      '',
      paint('bold', origin.origin),
      ...wrapped(printable(origin.verdict.text), '  '),
    ]),
  );
  return [...head, ...table(columns, rows, paint), ...verdicts].join('\n');
}

/** Writes a conversion to a file, or to stdout for `-`; gives the exit code. */
function deliver(out: string, text: string, terminal: Terminal): number {
  if (out === '-') {
    terminal.result(text.trimEnd());
    return EXIT_OK;
  }
  try {
    writeFileSync(out, text);
    return EXIT_OK;
  } catch (error) {
    terminal.error('cannot-write', `cannot write ${out}: ${(error as NodeJS.ErrnoException).code}`);
    return EXIT_FAILED;
  }
}

/** Runs `report`; every file is checked before anything is printed. */
export function runReport(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('report', args, OPTIONS);
  const forms = [values.html, values.csv, values.json].filter((form) => form !== undefined).length;
  if (positionals.length === 0) throw new Complaint('bad-usage', 'report needs at least one FILE');
  if (forms > 1) throw new Complaint('bad-usage', 'report takes one of --html, --csv and --json');
  if (forms === 1 && positionals.length > 1)
    throw new Complaint('bad-usage', '--html, --csv and --json take one FILE; run once for each');
  const reports = positionals.map(readReport);
  const [first] = reports;
  if (first !== undefined && values.html !== undefined)
    return deliver(values.html, reportToHtml(first), terminal);
  if (first !== undefined && values.csv !== undefined)
    return deliver(values.csv, reportToCsv(first), terminal);
  if (first !== undefined && values.json) terminal.result(JSON.stringify(first));
  else terminal.result(reports.map((report) => summary(report, terminal.paint)).join('\n\n'));
  return EXIT_OK;
}
