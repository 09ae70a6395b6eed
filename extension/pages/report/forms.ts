// The formats a report is exported in.
import type { Report } from '@photofinish/shared/report/report';
import { reportToCsv } from '@photofinish/shared/report/report-csv';
import { reportToHtml } from '@photofinish/shared/report/report-html';
import { reportToMarkdown } from '@photofinish/shared/report/report-markdown';
import type { ExportFormat } from './export-names.ts';

const TYPES: Record<ExportFormat, string> = {
  html: 'text/html;charset=utf-8',
  json: 'application/json',
  csv: 'text/csv;charset=utf-8',
  markdown: 'text/markdown;charset=utf-8',
};

const FORMS: Record<ExportFormat, (report: Report) => string> = {
  html: reportToHtml,
  json: (report) => `${JSON.stringify(report, null, 2)}\n`,
  csv: reportToCsv,
  markdown: reportToMarkdown,
};

/** The report as a file. */
export function reportFile(report: Report, format: ExportFormat): Blob {
  return new Blob([FORMS[format](report)], { type: TYPES[format] });
}
