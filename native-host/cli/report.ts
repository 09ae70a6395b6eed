// `photofinish report`: shows reports exported by the extension, converts them, and compares two of them. A report is a
// file like any other: validated before anything is said about it.
import { readFileSync, writeFileSync } from 'node:fs';
import { diffListing } from '@photofinish/shared/report/diff-document';
import type { Block, ReportDocument, Row, Table, Value } from '@photofinish/shared/report/document';
import { DIFF_FORMATS, type Formats, REPORT_FORMATS } from '@photofinish/shared/report/formats';
import {
  futureInstantOf,
  modesOfSites,
  REPORT_SCHEMA,
  type Report,
  reportDocumentSchema,
} from '@photofinish/shared/report/report';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { reportListing } from '@photofinish/shared/report/report-document';
import { ratioText, shareText, valueText } from '@photofinish/shared/report/report-text';
import { issueText, printableDeep } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { systemClock } from '../clock.ts';
import { withOwnCommand } from '../install/own-command.ts';
import { REPORT_OPTIONS } from './command-table.ts';
import type { Terminal } from './terminal.ts';
import { type Paint, printable, table, wrapped } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, listed, parseCommand } from './usage.ts';

/** The report in a file, read at `nowMs` since the epoch. Throws a Complaint that names the file and its fault. */
function readReport(path: string, nowMs: number): Report {
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
  const result = v.safeParse(reportDocumentSchema, json, { abortEarly: true });
  if (result.success) {
    const future = futureInstantOf(result.output, nowMs);
    if (future === null) return printableDeep(result.output);
    throw new Complaint(
      'bad-report',
      `${path}: ${future} is more than a day in the future; a clock was wrong, or the file is`,
    );
  }
  throw new Complaint(
    'bad-report',
    `${path} is not a ${REPORT_SCHEMA} document: ${issueText(result.issues[0])}`,
  );
}

/** Only the given sites of all reports. Throws a Complaint for a site that is in none of them. */
function onlySites(reports: readonly Report[], sites: readonly string[]): Report[] {
  const wanted = sites.map((site) => site.toLowerCase());
  const there = new Set(reports.flatMap((report) => report.sites.map(({ site }) => site)));
  const absent = wanted.filter((site) => !there.has(site));
  if (absent.length > 0) throw new Complaint('bad-usage', `no report has the site ${listed(absent)}`);
  return reports.map((report) => {
    const kept = report.sites.filter(({ site }) => wanted.includes(site));
    return { ...report, ...(report.modes && { modes: modesOfSites(kept) }), sites: kept };
  });
}

const INDENT = '  ';

function words(value: Value): string {
  if (typeof value !== 'object' || value.kind !== 'adoption') return printable(valueText(value));
  const { adoption } = value;
  // Narrow, so that a row of shares fits a terminal.
  return printable(adoption.known === 0 ? shareText(adoption) : ratioText(adoption.h3, adoption.known));
}

/** A row too wide for columns: its key on one line, and each sentence below. */
function entry(cells: Row, { columns }: Table, paint: Paint): string[] {
  const named = columns.map((column, i) => ({ ...column, value: cells[i] ?? '' }));
  const isLong = ({ kind }: (typeof named)[number]) => kind === 'verdict' || kind === 'side';
  const name = named
    .filter((each) => !isLong(each))
    .map(({ value }) => {
      const host = typeof value === 'object' && value.kind === 'host';
      return host ? paint('bold', words(value)) : words(value);
    });
  const long = named.filter(isLong);
  const label = (title: string) => (long.length > 1 ? `${INDENT}${title.toLowerCase()}` : '');
  const width = Math.max(0, ...long.map(({ title }) => label(words(title)).length)) + INDENT.length;
  const lines = long.flatMap(({ title, value }) =>
    wrapped(withOwnCommand(words(value)), label(words(title)).padEnd(width), ' '.repeat(width)),
  );
  return ['', name.join(' · '), ...lines];
}

function tableLines(block: Table, paint: Paint): string[] {
  if (block.columns.some(({ kind }) => kind === 'verdict' || kind === 'side'))
    return block.rows.flatMap((row) => entry(row, block, paint)).slice(1);
  return table(
    block.columns.map(({ kind, title }) => ({
      title: words(title).toUpperCase(),
      align: kind === 'number' ? 'right' : 'left',
    })),
    block.rows.map((row) => row.map(words)),
    paint,
  );
}

function lines(block: Block, paint: Paint): string[] {
  switch (block.kind) {
    case 'paragraph':
      return wrapped(words(block.words), '').map((line) =>
        block.tone === 'strong' ? paint('bold', line) : line,
      );
    case 'list':
      return block.items.flatMap((item) => wrapped(words(item), '- ', INDENT));
    case 'warning':
      return [
        ...wrapped(printable(block.words), ''),
        ...block.reasons.flatMap((reason) =>
          wrapped(printable(reason), '- ', INDENT).map((line) => paint('yellow', line)),
        ),
      ];
    case 'table':
      return tableLines(block, paint);
  }
}

/** The document, with blank lines between blocks and without its footer, which is for saved documents. */
export function documentText({ title, conditions, blocks }: ReportDocument, paint: Paint): string {
  const under = conditions.map(([, value]) => words(value)).join(' · ');
  const parts = [
    [paint('bold', printable(title)), ...(under === '' ? [] : wrapped(under, ''))],
    ...blocks.map((block) => lines(block, paint)),
  ];
  return parts.map((part) => part.join('\n')).join('\n\n');
}

const FORMATS = '--html, --csv, --markdown and --json';

/** Writes a conversion to a file, or to stdout for `-`. Throws a Complaint if it cannot be written. */
export function deliver(out: string, text: string, terminal: Terminal): void {
  if (out === '-') {
    terminal.result(text.trimEnd());
    return;
  }
  try {
    writeFileSync(out, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Complaint('cannot-write', `cannot write ${out}: ${code}`, EXIT_FAILED);
  }
}

interface FormatOptions {
  readonly html?: string | undefined;
  readonly csv?: string | undefined;
  readonly markdown?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Delivers the requested form; false if none was requested. */
function writeFormat<D>(
  document: D,
  options: FormatOptions,
  formats: Formats<D>,
  terminal: Terminal,
): boolean {
  if (options.html !== undefined) deliver(options.html, formats.html(document), terminal);
  else if (options.csv !== undefined) deliver(options.csv, formats.csv(document), terminal);
  else if (options.markdown) deliver('-', formats.markdown(document), terminal);
  else if (options.json) deliver('-', JSON.stringify(document), terminal);
  else return false;
  return true;
}

function compare(before: Report, after: Report, options: FormatOptions, terminal: Terminal): number {
  const diff = compareReports(before, after);
  if (writeFormat(diff, options, DIFF_FORMATS, terminal)) return EXIT_OK;
  terminal.result(documentText(diffListing(diff), terminal.paint));
  return EXIT_OK;
}

/** Runs `report`; every file is checked before anything is printed. */
export function runReport(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('report', args, REPORT_OPTIONS);
  const { html, csv, markdown, json } = values;
  const formats = [html, csv, markdown, json].filter((format) => format !== undefined).length;
  if (positionals.length === 0) throw new Complaint('bad-usage', 'report needs at least one FILE');
  if (formats > 1) throw new Complaint('bad-usage', `report takes one of ${FORMATS}`);
  if (values.diff && positionals.length !== 2)
    throw new Complaint('bad-usage', '--diff takes two FILEs: before and after');
  if (formats === 1 && positionals.length > 1 && !values.diff)
    throw new Complaint('bad-usage', `${FORMATS} take one FILE; run once for each`);
  const nowMs = systemClock.epochMs();
  const read = positionals.map((path) => readReport(path, nowMs));
  const reports = values.site === undefined ? read : onlySites(read, values.site);
  const [first, second] = reports;
  if (values.diff && first !== undefined && second !== undefined)
    return compare(first, second, values, terminal);
  if (first !== undefined && writeFormat(first, values, REPORT_FORMATS, terminal)) return EXIT_OK;
  terminal.result(
    reports.map((report) => documentText(reportListing(report), terminal.paint)).join('\n\n\n'),
  );
  return EXIT_OK;
}
