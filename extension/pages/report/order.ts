// Requests a report from the worker, from any page of the extension.
import { catalogLanguage } from '@photofinish/shared/language/catalog';
import { browserVersion } from '../../common/browser.ts';
import { BROWSER } from '../../common/edition.ts';
import { loadNames, rememberedNetwork } from '../../common/network-names.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { trustedScript } from '../ui/elements.ts';
import type { Conditions, Progress, ReportSelection } from './collect.ts';
import type { ExportFormat } from './export-names.ts';

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
export type ReportNews =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'made'; readonly made: MadeReport }
  /** A message for the user. */
  | { readonly type: 'failed'; readonly why: string };

/** Options of a report. */
export interface ReportRequest {
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
export async function orderReport(
  { selection, format, networkNames }: ReportRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<MadeReport> {
  const conditions = await conditionsNow(networkNames);
  signal.throwIfAborted();
  const worker = new Worker(trustedScript(chrome.runtime.getURL(WORKER)), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<MadeReport>();
  worker.addEventListener('message', ({ data: news }: MessageEvent<ReportNews>) => {
    if (news.type === 'progress') onProgress(news.progress);
    else if (news.type === 'made') resolve(news.made);
    else reject(new Error(news.why));
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
