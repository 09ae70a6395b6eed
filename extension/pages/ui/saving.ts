// Every option is saved as soon as it is changed. Success is confirmed briefly in its section; a failure is shown in
// words that stay.

import { messageOf } from '@photofinish/shared/web/untrusted';
import { getMessage } from '../../common/catalog.ts';
import { type Change, changeSettings, loadSettings, type Settings } from '../../common/settings.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { byId, setText } from './elements.ts';

const CONFIRMED_MS = 2500;
const fading = new Map<Element, ReturnType<typeof setTimeout>>();

/** Briefly confirms in the section of `element` that it is saved. */
export function showSaved(element: Element): void {
  setText(byId('trouble'), '');
  const place = element.closest('section')?.querySelector('.saved');
  if (!place) return;
  clearTimeout(fading.get(place));
  setText(place, getMessage('optionsSaved'));
  fading.set(
    place,
    setTimeout(() => setText(place, ''), CONFIRMED_MS),
  );
}

/** Says why it could not be saved. */
export function showNotSaved(error: unknown): void {
  setText(byId('trouble'), getMessage('optionsNotSaved', { message: messageOf(error) }));
}

/** Changes that are still being saved. */
let earlier: Promise<unknown> = Promise.resolve();

/**
 * Saves a change that `element` requested and returns all resulting settings; null if there was nothing to change, or
 * if it could not be saved, which is then reported.
 */
export async function save(element: Element, changes: Partial<Settings> | Change): Promise<Settings | null> {
  const change = changeSettings(pageStore, changes);
  earlier = Promise.allSettled([earlier, change]);
  try {
    const settings = await change;
    if (settings === null) {
      setText(byId('trouble'), '');
      return null;
    }
    showSaved(element);
    // Changes stored since by others may be displayed already and must not be reverted.
    return await loadSettings(pageStore);
  } catch (error) {
    showNotSaved(error);
    return null;
  }
}

/**
 * Resolves once every change so far is saved, or could not be: clicking a button may also be what ended the input of a
 * field.
 */
export async function saved(): Promise<void> {
  await earlier;
}
