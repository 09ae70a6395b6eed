// The formats a report is exported in, and what its file is called. Pure.
import { say } from '../../common/words.ts';

export const EXPORT_FORMATS = ['html', 'json', 'csv', 'markdown'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Names that are the same in every language. */
export const FORMAT_NAMES: Record<ExportFormat, string> = {
  html: 'HTML',
  json: 'JSON',
  csv: 'CSV',
  markdown: 'Markdown',
};

const ENDINGS: Record<ExportFormat, string> = { html: 'html', json: 'json', csv: 'csv', markdown: 'md' };

/** A file name for a report, without characters that file systems refuse; the day is UTC as in the report. */
export function exportName(site: string | null, createdAt: string, format: ExportFormat): string {
  const name = (site ?? say('popupExportAllName')).replace(/[^a-zA-Z0-9.-]+/g, '-').slice(0, 120);
  return `photofinish-${name}-${createdAt.slice(0, 10)}.${ENDINGS[format]}`;
}
