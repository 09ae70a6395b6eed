// `photofinish report`: shows reports that the extension exported, converts them, and compares two of them.
import { writeFileSync } from 'node:fs';
import type { Report } from '@photofinish/shared/report/report';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { reportToCsv } from '@photofinish/shared/report/report-csv';
import { reportDiffToCsv } from '@photofinish/shared/report/report-diff-csv';
import { reportDiffToHtml } from '@photofinish/shared/report/report-diff-html';
import { reportDiffToMarkdown } from '@photofinish/shared/report/report-diff-markdown';
import { reportToHtml } from '@photofinish/shared/report/report-html';
import { reportToMarkdown } from '@photofinish/shared/report/report-markdown';
import { systemClock } from '../clock.ts';
import { REPORT_OPTIONS } from './command-table.ts';
import { onlySites, readReport } from './report-file.ts';
import { reportDiffText, reportText } from './report-text.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, parseCommand } from './usage.ts';

const FORMS = '--html, --csv, --markdown and --json';

/** A document in each of its forms, made when asked for. */
interface Forms {
  readonly html: () => string;
  readonly csv: () => string;
  readonly markdown: () => string;
  readonly json: () => string;
}

function reportForms(report: Report): Forms {
  return {
    html: () => reportToHtml(report),
    csv: () => reportToCsv(report),
    markdown: () => reportToMarkdown(report),
    json: () => JSON.stringify(report),
  };
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

interface FormOptions {
  readonly html?: string | undefined;
  readonly csv?: string | undefined;
  readonly markdown?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Delivers the form that was asked for; null: none was. */
function deliverForm(asked: FormOptions, forms: Forms, terminal: Terminal): number | null {
  if (asked.html !== undefined) return deliver(asked.html, forms.html(), terminal);
  if (asked.csv !== undefined) return deliver(asked.csv, forms.csv(), terminal);
  if (asked.markdown) return deliver('-', forms.markdown(), terminal);
  return asked.json ? deliver('-', forms.json(), terminal) : null;
}

function compare(before: Report, after: Report, asked: FormOptions, terminal: Terminal): number {
  const diff = compareReports(before, after);
  const forms: Forms = {
    html: () => reportDiffToHtml(diff),
    csv: () => reportDiffToCsv(diff),
    markdown: () => reportDiffToMarkdown(diff),
    json: () => JSON.stringify(diff),
  };
  const delivered = deliverForm(asked, forms, terminal);
  if (delivered !== null) return delivered;
  terminal.result(reportDiffText(diff, terminal.paint));
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
    throw new Complaint('bad-usage', '--diff takes two FILEs: what was before, and what is now');
  if (forms === 1 && positionals.length > 1 && !values.diff)
    throw new Complaint('bad-usage', `${FORMS} take one FILE; run once for each`);
  const nowMs = systemClock.epochMs();
  const read = positionals.map((path) => readReport(path, nowMs));
  const reports = values.site === undefined ? read : onlySites(read, values.site);
  const [first, second] = reports;
  if (values.diff && first !== undefined && second !== undefined)
    return compare(first, second, values, terminal);
  const delivered = first === undefined ? null : deliverForm(values, reportForms(first), terminal);
  if (delivered !== null) return delivered;
  terminal.result(reports.map((report) => reportText(report, terminal.paint)).join('\n\n'));
  return EXIT_OK;
}
