// The display of a report being generated: its progress in counts, with a button that cancels it.

import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { byId, setText } from '../ui/elements.ts';
import type { Progress } from './collect.ts';
import { type MadeReport, orderReport, type ReportRequest } from './order.ts';

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
export async function makeShown(options: ReportRequest): Promise<MadeReport | null> {
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
