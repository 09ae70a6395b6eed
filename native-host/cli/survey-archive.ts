// `photofinish survey export` and `survey report`: what reads the archive of a survey.
import { join } from 'node:path';
import { type BadLine, badLineText } from '../survey/archive.ts';
import { DEAD_PARQUET, exportParquet, type SurveyExport } from '../survey/export.ts';
import { surveyReport } from '../survey/report.ts';
import { surveyReportHtml } from '../survey/report-page.ts';
import { deliver } from './report.ts';
import type { Terminal } from './terminal.ts';
import { columnsOf, type Paint, plural, table } from './text.ts';
import { EXIT_FAILED, EXIT_OK } from './usage.ts';

const BAD_LINES_SHOWN = 10;

/** Names the vantage points without any result: what is asked of the others alone is no answer about the survey. */
function tellAbsent(
  dir: string,
  vantages: readonly { readonly vantage: string; readonly measured: number }[],
  terminal: Terminal,
): void {
  const absent = vantages.filter(({ measured }) => measured === 0).map(({ vantage }) => vantage);
  if (absent.length === 0) return;
  const where = 'it may be in another directory, or not collected yet';
  terminal.error('bad-directory', `${dir} has no result from ${absent.join(', ')}; ${where}`);
}

/** Reports the lines of an archive that hold no result; returns the exit code. */
function tellBadLines(count: number, named: readonly BadLine[], terminal: Terminal): number {
  for (const bad of named.slice(0, BAD_LINES_SHOWN)) terminal.error('bad-line', badLineText(bad));
  if (count > BAD_LINES_SHOWN)
    terminal.error(
      'bad-line',
      `${plural(count - BAD_LINES_SHOWN, 'more line holds', 'more lines hold')} no result of this survey`,
    );
  return count === 0 ? EXIT_OK : EXIT_FAILED;
}

function exportText({ vantages, files, survey }: SurveyExport, out: string, paint: Paint): string {
  const rows = vantages.map(({ vantage, measured, missing, givenUp, repeated, blocksUdp }) => [
    vantage,
    ...[measured, missing, givenUp, repeated].map(String),
    blocksUdp ? 'UDP is blocked there' : '',
  ]);
  const counts = ['MEASURED', 'MISSING', 'GIVEN UP', 'REPEATED'];
  const races = files.filter(({ path }) => path !== DEAD_PARQUET);
  const total = races.reduce((sum, file) => sum + file.rows, 0);
  return [
    ...table(columnsOf(['VANTAGE', ...counts, ''], counts), rows, paint),
    '',
    `${plural(total, 'row')} of the survey ${survey.survey} in ${plural(races.length, 'file')} below ${out}`,
  ].join('\n');
}

/** Runs `survey export DIR`; exit code 1 if lines of the archive hold no result. Rejects with a Complaint. */
export async function runExport(
  dir: string,
  options: { readonly out?: string | undefined; readonly json?: boolean | undefined },
  terminal: Terminal,
): Promise<number> {
  const out = options.out ?? join(dir, 'parquet');
  const made = await exportParquet(dir, out);
  terminal.result(options.json ? JSON.stringify(made) : exportText(made, out, terminal.paint));
  tellAbsent(dir, made.vantages, terminal);
  return tellBadLines(made.badLines.count, made.badLines.named, terminal);
}

/**
 * Runs `survey report DIR`: writes one HTML page, `-` to standard output; exit code 1 if lines of the archive hold no
 * result. Rejects with a Complaint.
 */
export async function runSurveyReport(
  dir: string,
  options: { readonly html?: string | undefined },
  terminal: Terminal,
): Promise<number> {
  const out = options.html ?? join(dir, 'report.html');
  const report = await surveyReport(dir);
  const page = surveyReportHtml(report);
  deliver(out, page, terminal);
  if (out !== '-') terminal.result(`The report is in ${out}`);
  tellAbsent(dir, report.vantages, terminal);
  return tellBadLines(report.tally.bad, report.tally.badLines, terminal);
}
