// Deleting everything: asks for confirmation, and then reports what was deleted, including at the helper.

import { getMessage } from '../../common/catalog.ts';
import type { PopupEvent } from '../../common/messages.ts';
import type { PopupRequest } from '../../common/popup-requests.ts';
import { byId, setText } from '../ui/elements.ts';

type WipeResult = Extract<PopupEvent, { type: 'wiped' }>;

/** The result, in words. */
export function wipedWords({ helperRecords, trouble }: WipeResult): string {
  if (trouble !== null) return getMessage('optionsWipeFailed', { message: trouble });
  if (helperRecords === null) return getMessage('optionsWipedWithoutHelper');
  return getMessage('optionsWiped', { count: helperRecords });
}

function finish(words: string): void {
  byId<HTMLButtonElement>('wipe').disabled = false;
  setText(byId('wipe-result'), words);
}

/** Shows the result. */
export function showWiped(wiped: WipeResult): void {
  finish(wipedWords(wiped));
}

/** The background was terminated before it answered. */
export function loseWipe(): void {
  if (byId<HTMLButtonElement>('wipe').disabled) finish(getMessage('optionsWipeUnanswered'));
}

/** Makes the button open the dialog, and the dialog's button delete. */
export function wireWipe(send: (request: PopupRequest) => boolean): void {
  const dialog = byId<HTMLDialogElement>('wipe-dialog');
  const button = byId<HTMLButtonElement>('wipe');
  button.addEventListener('click', () => {
    setText(byId('wipe-result'), '');
    dialog.showModal();
  });
  byId('wipe-cancel').addEventListener('click', () => dialog.close());
  byId('wipe-confirm').addEventListener('click', () => {
    dialog.close();
    button.disabled = true;
    if (send({ type: 'wipe' })) setText(byId('wipe-result'), getMessage('optionsWiping'));
    else loseWipe();
  });
}
