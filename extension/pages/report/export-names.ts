// The export formats of a report, and the names of its files. Pure, and apart from all that makes reports, because the
// popup loads it.
import { getMessage } from '../../common/catalog.ts';

export const EXPORT_FORMATS = ['html', 'json', 'csv', 'markdown'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Names (the same in every language), file name extensions, and media types. */
export const FORMATS: Record<
  ExportFormat,
  { readonly name: string; readonly ending: string; readonly type: string }
> = {
  html: { name: 'HTML', ending: 'html', type: 'text/html;charset=utf-8' },
  json: { name: 'JSON', ending: 'json', type: 'application/json' },
  csv: { name: 'CSV', ending: 'csv', type: 'text/csv;charset=utf-8' },
  markdown: { name: 'Markdown', ending: 'md', type: 'text/markdown;charset=utf-8' },
};

/** A file name for a report, without characters that file systems reject; the day is UTC as in the report. */
export function exportName(site: string | null, createdAt: string, format: ExportFormat): string {
  const name = (site ?? getMessage('popupExportAllName')).replace(/[^a-zA-Z0-9.-]+/g, '-').slice(0, 120);
  return `photofinish-${name}-${createdAt.slice(0, 10)}.${FORMATS[format].ending}`;
}
