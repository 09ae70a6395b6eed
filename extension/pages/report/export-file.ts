// A report as a file: loaded only on demand, because the popup does not need it to show a page. It may be loaded by
// another program, whose message catalog it does not share.

import type { Report } from '@photofinish/shared/report/report';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { byId, saveFile, setText } from '../ui/elements.ts';
import type { Progress, ReportSelection } from './collect.ts';
import { exportName } from './export-names.ts';
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
 * Generates a report in the worker and shows its progress in the page's element `making`; null if it was cancelled.
 * Rejects with a message for the user.
 */
async function makeShown(options: ReportRequest): Promise<MadeReport | null> {
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
    return await orderReport(options, withdrawn.signal, show);
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
