// A report as a file: loaded only on demand, because the popup does not need it to show a page. It may be loaded by
// another program, whose message catalog it does not share.
import '../../common/catalog.ts';
import type { Report } from '@photofinish/shared/report/report';
import { saveFile } from '../ui/elements.ts';
import type { ReportSelection } from './collect.ts';
import { exportName } from './export-names.ts';
import { makeShown } from './making.ts';
import { type MadeReport, orderReport, type ReportRequest } from './order.ts';

/** The selected report as data. Rejects with a message for the user. */
export async function reportOf(selection: ReportSelection): Promise<Report> {
  const options = { selection, format: 'json', networkNames: false } as const;
  const { file } = await orderReport(options, new AbortController().signal);
  return JSON.parse(await file.text());
}

/**
 * Generates a report, showing its progress, and lets the browser save it; null if the user cancelled it. Rejects with a
 * message for the user.
 */
export async function saveReport(options: ReportRequest): Promise<MadeReport | null> {
  const made = await makeShown(options);
  if (made === null) return null;
  const [site, another] = options.selection.sites ?? [];
  const named = site === undefined || another !== undefined ? null : site;
  saveFile(made.file, exportName(named, made.createdAt, options.format));
  return made;
}
