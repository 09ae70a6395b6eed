// A report as a file: loaded only on demand, because the popup does not need it to show a page. It may be loaded by
// another program, whose message catalog it does not share.

import { catalogLanguage } from '@photofinish/shared/language/catalog';
import type { Report } from '@photofinish/shared/report/report';
import { browserVersion } from '../../common/browser.ts';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { BROWSER } from '../../common/edition.ts';
import { loadNames, rememberedNetwork } from '../../common/network-names.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { trustedScript } from '../../common/trusted-types.ts';
import { byId, saveFile, setText } from '../ui/elements.ts';
import type { Conditions, Progress, ReportSelection } from './collect.ts';
import { type ExportFormat, exportName } from './export-names.ts';

/** The selected report as data. Rejects with a message for the user. */
export async function reportOf(selection: ReportSelection): Promise<Report> {
  const options = { selection, format: 'json', networkNames: false } as const;
  const { file } = await orderReport(options, new AbortController().signal);
  return JSON.parse(await file.text());
}

// The display of a report being generated: its progress in counts, with a button that cancels it.

const STEPS: Record<Progress['stage'], MessageKey> = {
  reading: 'reportStepReading',
  building: 'reportStepBuilding',
  writing: 'reportStepWriting',
};
/** Where on the progress bar each stage begins and ends, proportional to the time it takes. */
const ON_BAR: Record<Progress['stage'], readonly [from: number, to: number]> = {
  reading: [0, 0.75],
  building: [0.75, 0.95],
  writing: [0.95, 1],
};
/** A faster report shows no progress, which would only flicker. */
const SHOWN_AFTER_MS = 250;

function show({ stage, done, of }: Progress): void {
  const [from, to] = ON_BAR[stage];
  byId<HTMLProgressElement>('making-bar').value = from + (to - from) * (of === 0 ? 1 : done / of);
  setText(byId('making-step'), getMessage(STEPS[stage], { done, of }));
}

/**
 * Generates a report, showing its progress in the page's element `making`, and lets the browser save it; null if the
 * user cancelled it. Rejects with a message for the user.
 */
export async function saveReport(options: ReportRequest): Promise<MadeReport | null> {
  const part = byId('making');
  const cancel = byId<HTMLButtonElement>('making-cancel');
  const before = document.activeElement;
  const withdrawn = new AbortController();
  const withdraw = (): void => withdrawn.abort();
  cancel.addEventListener('click', withdraw);
  show({ stage: 'reading', done: 0, of: 1 });
  setText(byId('making-step'), '');
  const shown = setTimeout(() => {
    part.hidden = false;
  }, SHOWN_AFTER_MS);
  try {
    const made = await orderReport(options, withdrawn.signal, show);
    const [site = null, another] = options.selection.sites ?? [];
    saveFile(made.file, exportName(another === undefined ? site : null, made.createdAt, options.format));
    return made;
  } catch (error) {
    if (withdrawn.signal.aborted) return null;
    throw error;
  } finally {
    clearTimeout(shown);
    cancel.removeEventListener('click', withdraw);
    const focused = document.activeElement === cancel;
    part.hidden = true;
    if (focused && before instanceof HTMLElement) before.focus();
  }
}

const WORKER = 'report/worker.js';

/** The one message to the worker. */
export interface ReportOrder {
  readonly selection: ReportSelection;
  readonly conditions: Conditions;
  readonly format: ExportFormat;
  /** Language of its texts; the catalogs are in folders of this name. */
  readonly language: string;
}

export interface MadeReport {
  readonly file: Blob;
  readonly createdAt: string;
  /** How many are in it. */
  readonly sites: number;
}

/** Messages from the worker: progress, and finally the result. */
export type ReportUpdate =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'made'; readonly made: MadeReport }
  /** A message for the user. */
  | { readonly type: 'failed'; readonly why: string };

/** Options of a report. */
interface ReportRequest {
  readonly selection: ReportSelection;
  readonly format: ExportFormat;
  /** Whether to include the user's names for networks; otherwise those names stay on this machine. */
  readonly networkNames: boolean;
}

async function conditionsNow(withNames: boolean): Promise<Conditions> {
  const [version, network, networkNames] = await Promise.all([
    browserVersion(),
    rememberedNetwork(),
    withNames ? loadNames(pageStore) : null,
  ]);
  return { browser: { name: BROWSER, version }, network, networkNames, nowMs: Date.now() };
}

/**
 * The selected report. Aborting `signal` stops the work at once and rejects with its reason; otherwise it rejects with
 * a message for the user.
 */
async function orderReport(
  { selection, format, networkNames }: ReportRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<MadeReport> {
  const conditions = await conditionsNow(networkNames);
  signal.throwIfAborted();
  const worker = new Worker(trustedScript(chrome.runtime.getURL(WORKER)), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<MadeReport>();
  worker.addEventListener('message', ({ data: update }: MessageEvent<ReportUpdate>) => {
    if (update.type === 'progress') onProgress(update.progress);
    else if (update.type === 'made') resolve(update.made);
    else reject(new Error(update.why));
  });
  worker.addEventListener('error', (event) => reject(new Error(event.message || WORKER)));
  signal.addEventListener('abort', () => reject(signal.reason));
  const order: ReportOrder = { selection, conditions, format, language: catalogLanguage() };
  worker.postMessage(order);
  try {
    return await promise;
  } finally {
    worker.terminate();
  }
}
