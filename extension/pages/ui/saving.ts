// Every option is saved the moment it is changed. That it was is said quietly in its section, and that it was not in
// words that stay.

import { getMessage } from '../../common/catalog.ts';
import { type Change, changeSettings, loadSettings, type Settings } from '../../common/settings.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { byId, setText } from './elements.ts';

const CONFIRMED_MS = 2500;
const fading = new Map<Element, ReturnType<typeof setTimeout>>();

/** Says something quietly in the section of `element`, for a moment. */
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

/** What is still on its way to the store. */
let earlier: Promise<unknown> = Promise.resolve();

/**
 * Saves a change that `element` asked for and gives all settings as they are then; null when there was nothing to change, or when it could
 * not be saved, which is then said.
 */
export async function save(element: Element, changes: Partial<Settings> | Change): Promise<Settings | null> {
  const change = changeSettings(pageStore, changes);
  earlier = Promise.allSettled([earlier, change]);
  try {
    const settings = await change;
    setText(byId('trouble'), '');
    if (settings === null) return null;
    confirm(element, getMessage('optionsSaved'));
    // What somebody else stored since may be shown already, and is not to be taken back.
    return await loadSettings(pageStore);
  } catch (error) {
    setText(byId('trouble'), getMessage('optionsNotSaved', { message: messageOf(error) }));
    return null;
  }
}

/** Resolves once every change so far is saved, or could not be: leaving a field may be what pressed the next button. */
export async function saved(): Promise<void> {
  await earlier;
}

/** What an error says of itself. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
