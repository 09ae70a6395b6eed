// The formats of reports and comparisons, besides JSON and terminal output.
import { reportDiffToCsv, reportToCsv } from './csv.ts';
import { diffPage, diffSummary } from './diff-document.ts';
import { documentToHtml } from './html.ts';
import { documentToMarkdown } from './markdown.ts';
import type { Report } from './report.ts';
import type { ReportDiff } from './report-diff.ts';
import { reportSummary } from './report-document.ts';
import { reportPage } from './report-page.ts';

/** The writer of each format. */
export interface Formats<D> {
  readonly html: (document: D) => string;
  readonly markdown: (document: D) => string;
  readonly csv: (document: D) => string;
}

export const REPORT_FORMATS: Formats<Report> = {
  html: (report) => documentToHtml((sizes) => reportPage(report, sizes)),
  markdown: (report) => documentToMarkdown(reportSummary(report)),
  csv: reportToCsv,
};

export const DIFF_FORMATS: Formats<ReportDiff> = {
  html: (diff) => documentToHtml(() => diffPage(diff)),
  markdown: (diff) => documentToMarkdown(diffSummary(diff)),
  csv: reportDiffToCsv,
};
