// Generates one report outside the page that requested it: reading and writing a heavy user's year takes seconds,
// during which the page stays responsive. The page terminates it to cancel. A worker has IndexedDB, but none of the
// extension APIs: the conditions come with the request, and the messages from the catalog in the package.
import { useCatalog } from '@photofinish/shared/language/catalog';
import { REPORT_FORMATS } from '@photofinish/shared/report/formats';
import type { Report } from '@photofinish/shared/report/report';
import { browsingOn } from '../../ledger/browsing.ts';
import { openDatabase, troubleText } from '../../ledger/database.ts';
import { collectReport, type Progress } from './collect.ts';
import type { ReportOrder, ReportUpdate } from './export-file.ts';
import { type ExportFormat, FORMATS } from './export-names.ts';

/** Users cannot see a count change more often than this. */
const PROGRESS_INTERVAL_MS = 50;

const send = (update: ReportUpdate): void => postMessage(update);

/** Passes on the first message of each stage, and then no more than are visible. */
function throttledProgress(): (progress: Progress) => void {
  let last: { readonly stage: Progress['stage']; readonly atMs: number } | null = null;
  return (progress) => {
    const nowMs = performance.now();
    if (last?.stage === progress.stage && nowMs - last.atMs < PROGRESS_INTERVAL_MS) return;
    last = { stage: progress.stage, atMs: nowMs };
    send({ type: 'progress', progress });
  };
}

function written(report: Report, format: ExportFormat): string {
  return format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : REPORT_FORMATS[format](report);
}

async function loadCatalog(language: string): Promise<void> {
  const catalog = await fetch(new URL(`/_locales/${language}/messages.json`, location.origin));
  const messages: Readonly<Record<string, { readonly message: string }>> = await catalog.json();
  useCatalog((key) => messages[key]?.message ?? '', language);
}

async function make({ selection, conditions, format, language }: ReportOrder): Promise<void> {
  await loadCatalog(language);
  const progress = throttledProgress();
  const database = openDatabase();
  try {
    const report = await collectReport(browsingOn(database), selection, conditions, progress);
    progress({ stage: 'writing', done: 0, of: 1 });
    const file = new Blob([written(report, format)], { type: FORMATS[format].type });
    send({ type: 'made', made: { file, createdAt: report.createdAt, sites: report.sites.length } });
  } catch (error) {
    send({ type: 'failed', why: error instanceof DOMException ? troubleText(error) : String(error) });
  }
}

addEventListener('message', (event: MessageEvent<ReportOrder>) => void make(event.data));
