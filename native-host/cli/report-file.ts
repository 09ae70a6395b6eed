// Report files: read, validated against the schema, and restricted to the requested sites.
import { readFileSync } from 'node:fs';
import {
  futureInstantOf,
  modesOfSites,
  REPORT_SCHEMA,
  type Report,
  reportDocumentSchema,
} from '@photofinish/shared/report/report';
import { printableDeep } from '@photofinish/shared/web/printable';
import * as v from 'valibot';
import { issueText } from './issue-text.ts';
import { Complaint, listed } from './usage.ts';

/** The report in a file, read at `nowMs` since the epoch. Throws a Complaint that names the file and its fault. */
export function readReport(path: string, nowMs: number): Report {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Complaint('bad-file', `cannot read ${path}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Complaint('bad-report', `${path} is not JSON`);
  }
  const result = v.safeParse(reportDocumentSchema, json);
  if (result.success) {
    const future = futureInstantOf(result.output, nowMs);
    if (future === null) return printableDeep(result.output);
    throw new Complaint(
      'bad-report',
      `${path}: ${future} is later than tomorrow; a clock was wrong, or the file is`,
    );
  }
  throw new Complaint(
    'bad-report',
    `${path} is not a ${REPORT_SCHEMA} document: ${issueText(result.issues[0])}`,
  );
}

/** Only the given sites of all reports. Throws a Complaint for a site that is in none of them. */
export function onlySites(reports: readonly Report[], sites: readonly string[]): Report[] {
  const wanted = sites.map((site) => site.toLowerCase());
  const there = new Set(reports.flatMap((report) => report.sites.map(({ site }) => site)));
  const absent = wanted.filter((site) => !there.has(site));
  if (absent.length > 0) throw new Complaint('bad-usage', `no report has the site ${listed(absent)}`);
  return reports.map((report) => {
    const kept = report.sites.filter(({ site }) => wanted.includes(site));
    return { ...report, ...(report.modes && { modes: modesOfSites(kept) }), sites: kept };
  });
}
