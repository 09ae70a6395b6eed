// Every option is saved as soon as it is changed. Success is confirmed briefly in its section; a failure is shown in
// words that stay.

import { getMessage, messageOf } from '../../common/catalog.ts';
import { type Change, changeSettings, loadSettings, type Settings } from '../../common/settings.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { byId, setText } from './elements.ts';

const CONFIRMED_MS = 2500;
const fading = new Map<Element, ReturnType<typeof setTimeout>>();

/** Briefly shows a confirmation in the section of `element`. */
export function confirm(element: Element, words: string): void {
  const place = element.closest('section')?.querySelector('.saved');
  if (!place) return;
  clearTimeout(fading.get(place));
  setText(place, words);
  fading.set(
    place,
    setTimeout(() => setText(place, ''), CONFIRMED_MS),
  );
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
    setText(byId('trouble'), '');
    if (settings === null) return null;
    confirm(element, getMessage('optionsSaved'));
    // Changes stored since by others may be displayed already and must not be reverted.
    return await loadSettings(pageStore);
  } catch (error) {
    setText(byId('trouble'), getMessage('optionsNotSaved', { message: messageOf(error) }));
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
