// `photofinish report`: shows reports exported by the extension, converts them, and compares two of them.
import { writeFileSync } from 'node:fs';
import { diffListing } from '@photofinish/shared/report/diff-document';
import { DIFF_FORMS, type Forms, REPORT_FORMS } from '@photofinish/shared/report/forms';
import type { Report } from '@photofinish/shared/report/report';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { reportListing } from '@photofinish/shared/report/report-document';
import { systemClock } from '../clock.ts';
import { REPORT_OPTIONS } from './command-table.ts';
import { onlySites, readReport } from './report-file.ts';
import { documentText } from './report-text.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, parseCommand } from './usage.ts';

const FORMS = '--html, --csv, --markdown and --json';

/** Writes a conversion to a file, or to stdout for `-`; returns the exit code. */
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

interface FormOptions {
  readonly html?: string | undefined;
  readonly csv?: string | undefined;
  readonly markdown?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Delivers the requested form; null if none was requested. */
function deliverForm<D>(document: D, asked: FormOptions, forms: Forms<D>, terminal: Terminal): number | null {
  if (asked.html !== undefined) return deliver(asked.html, forms.html(document), terminal);
  if (asked.csv !== undefined) return deliver(asked.csv, forms.csv(document), terminal);
  if (asked.markdown) return deliver('-', forms.markdown(document), terminal);
  return asked.json ? deliver('-', JSON.stringify(document), terminal) : null;
}

function compare(before: Report, after: Report, asked: FormOptions, terminal: Terminal): number {
  const diff = compareReports(before, after);
  const delivered = deliverForm(diff, asked, DIFF_FORMS, terminal);
  if (delivered !== null) return delivered;
  terminal.result(documentText(diffListing(diff), terminal.paint));
  return EXIT_OK;
}

/** Runs `report`; every file is checked before anything is printed. */
export function runReport(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('report', args, REPORT_OPTIONS);
  const { html, csv, markdown, json } = values;
  const forms = [html, csv, markdown, json].filter((form) => form !== undefined).length;
  if (positionals.length === 0) throw new Complaint('bad-usage', 'report needs at least one FILE');
  if (forms > 1) throw new Complaint('bad-usage', `report takes one of ${FORMS}`);
  if (values.diff && positionals.length !== 2)
    throw new Complaint('bad-usage', '--diff takes two FILEs: before and after');
  if (forms === 1 && positionals.length > 1 && !values.diff)
    throw new Complaint('bad-usage', `${FORMS} take one FILE; run once for each`);
  const nowMs = systemClock.epochMs();
  const read = positionals.map((path) => readReport(path, nowMs));
  const reports = values.site === undefined ? read : onlySites(read, values.site);
  const [first, second] = reports;
  if (values.diff && first !== undefined && second !== undefined)
    return compare(first, second, values, terminal);
  const delivered = first === undefined ? null : deliverForm(first, values, REPORT_FORMS, terminal);
  if (delivered !== null) return delivered;
  terminal.result(
    reports.map((report) => documentText(reportListing(report), terminal.paint)).join('\n\n\n'),
  );
  return EXIT_OK;
}
