// A report as a file: loaded only when somebody asks for one, because the page in view needs none of it.
// Whoever loads it may be another program, whose words it does not share.
import '../words.ts';
import type { Report } from '@photofinish/shared/report';
import { reportToCsv } from '@photofinish/shared/report-csv';
import { reportToHtml } from '@photofinish/shared/report-html';
import { reportToMarkdown } from '@photofinish/shared/report-markdown';
import { browsesOn } from '../ledger/browsing.ts';
import { openDatabase } from '../ledger/database.ts';
import type { ReportSelection } from '../report/collect.ts';
import { makeReport } from '../report/make.ts';
import { saveFile } from '../ui/save-file.ts';
import type { ExportFormat } from './export-names.ts';

const TYPES: Record<ExportFormat, string> = {
  html: 'text/html;charset=utf-8',
  json: 'application/json',
  csv: 'text/csv;charset=utf-8',
  markdown: 'text/markdown;charset=utf-8',
};

function contents(report: Report, format: ExportFormat): string {
  switch (format) {
    case 'html':
      return reportToHtml(report);
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
    case 'csv':
      return reportToCsv(report);
    case 'markdown':
      return reportToMarkdown(report);
  }
}

/** The report of what was selected, by a page that has no ledger open. Rejects in words for the user. */
export async function reportOf(selection: ReportSelection): Promise<Report> {
  const database = openDatabase();
  try {
    return await makeReport(browsesOn(database), selection);
  } finally {
    database().then(
      (opened) => opened.close(),
      () => {},
    );
  }
}

/** Gives the report to the browser to save under `name`. */
export function download(name: string, report: Report, format: ExportFormat): void {
  saveFile(new Blob([contents(report, format)], { type: TYPES[format] }), name);
}
