// A report as a page of the extension makes it: from the ledger, under the conditions of this browser now.

import type { Report } from '@photofinish/shared/report';
import { browserVersion } from '../browser.ts';
import { BROWSER } from '../edition.ts';
import { troubleWords } from '../ledger/trouble.ts';
import { rememberedNetwork } from '../network.ts';
import { collectReport, type ReportedLedger, type ReportSelection } from './collect.ts';

/** The report of what was selected. Rejects in words for the user where the storage fails. */
export async function makeReport(ledger: ReportedLedger, selection: ReportSelection): Promise<Report> {
  const [version, network] = await Promise.all([browserVersion(), rememberedNetwork()]);
  const conditions = { browser: { name: BROWSER, version }, network, nowMs: Date.now() };
  return collectReport(ledger, selection, conditions).catch((error) => {
    throw error instanceof DOMException ? new Error(troubleWords(error)) : error;
  });
}
