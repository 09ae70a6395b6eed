// A report as a file: loaded only when somebody asks for one, because the page in view needs none of it.
// Whoever loads it may be another program, whose words it does not share.
import '../../common/catalog.ts';
import type { Report } from '@photofinish/shared/report/report';
import { saveFile } from '../ui/elements.ts';
import type { ReportSelection } from './collect.ts';
import { exportName } from './export-names.ts';
import { makeShown } from './making.ts';
import { type MadeReport, orderReport, type ReportRequest } from './order.ts';

/** The report of what was selected, as a program reads it. Rejects in words for the user. */
export async function reportOf(selection: ReportSelection): Promise<Report> {
  const options = { selection, format: 'json', networkNames: false } as const;
  const { file } = await orderReport(options, new AbortController().signal);
  return JSON.parse(await file.text());
}

/**
 * Makes a report, with its progress in view, and gives it to the browser to save; null when the user cancelled it.
 * Rejects in words for the user.
 */
export async function saveReport(options: ReportRequest): Promise<MadeReport | null> {
  const made = await makeShown(options);
  if (made === null) return null;
  const [site, another] = options.selection.sites ?? [];
  const named = site === undefined || another !== undefined ? null : site;
  saveFile(made.file, exportName(named, made.createdAt, options.format));
  return made;
}
