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

interface FormOptions {
  readonly html?: string | undefined;
  readonly csv?: string | undefined;
  readonly markdown?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Delivers the requested form; false if none was requested. */
function deliverForm<D>(document: D, asked: FormOptions, forms: Forms<D>, terminal: Terminal): boolean {
  if (asked.html !== undefined) deliver(asked.html, forms.html(document), terminal);
  else if (asked.csv !== undefined) deliver(asked.csv, forms.csv(document), terminal);
  else if (asked.markdown) deliver('-', forms.markdown(document), terminal);
  else if (asked.json) deliver('-', JSON.stringify(document), terminal);
  else return false;
  return true;
}

function compare(before: Report, after: Report, asked: FormOptions, terminal: Terminal): number {
  const diff = compareReports(before, after);
  if (deliverForm(diff, asked, DIFF_FORMS, terminal)) return EXIT_OK;
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
  if (first !== undefined && deliverForm(first, values, REPORT_FORMS, terminal)) return EXIT_OK;
  terminal.result(
    reports.map((report) => documentText(reportListing(report), terminal.paint)).join('\n\n\n'),
  );
  return EXIT_OK;
}
