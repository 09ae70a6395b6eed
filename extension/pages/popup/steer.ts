// Whether and how the page's own origin is steered, and the button that starts or stops it. Firefox only: in other
// browsers the section is hidden.

import { catalogLanguage } from '@photofinish/shared/language/catalog';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import type { PageView, SteerView } from '../../common/messages.ts';
import { onClick, setDisabled } from '../ui/disabled-button.ts';
import { byId, setText } from '../ui/elements.ts';

export interface SteerText {
  readonly text: string;
  /** The button's label, and what a click requests; null: nothing, and the button is shown as disabled. */
  readonly press: { readonly words: string; readonly on: boolean | 'options' | null };
}

const UNDONE: Readonly<Record<NonNullable<SteerView['undone']>, MessageKey>> = {
  network: 'steerUndoneNetwork',
  failed: 'steerUndoneFailed',
  expired: 'steerUndoneExpired',
  changed: 'steerUndoneChanged',
};

function timeOfDay(atMs: number): string {
  return new Intl.DateTimeFormat(catalogLanguage(), { hour: 'numeric', minute: '2-digit' }).format(atMs);
}

/** The text about an origin's steering; null if there is nothing to show. */
export function steerText(steer: SteerView | null): SteerText | null {
  if (steer === null) return null;
  const { enabled, chosen, active, possible, undone } = steer;
  // The button that was pressed for it may still have the focus, which it would lose if it were hidden.
  if (active?.undoing && !chosen)
    return { text: getMessage('steerUndoing'), press: { words: getMessage('steerStop'), on: null } };
  if (!enabled)
    return possible === null
      ? null
      : { text: getMessage('steerOff'), press: { words: getMessage('popupOpenOptions'), on: 'options' } };
  const stop = { words: getMessage('steerStop'), on: false };
  if (active !== null && !active.undoing) {
    const time = timeOfDay(active.untilMs);
    const key = active.direction === 'to-h3' ? 'steerActiveToH3' : 'steerActiveFromH3';
    return { text: getMessage(key, { time }), press: stop };
  }
  if (chosen) return { text: getMessage(undone === null ? 'steerWaiting' : UNDONE[undone]), press: stop };
  if (possible === null) return null;
  const condition = steer.privateRoot === true ? ` ${getMessage('steerPrivateRoot')}` : '';
  return possible === 'to-h3'
    ? {
        text: `${getMessage('steerOfferToH3')}${condition}`,
        press: { words: getMessage('steerStartToH3'), on: true },
      }
    : { text: getMessage('steerOfferFromH3'), press: { words: getMessage('steerStartFromH3'), on: true } };
}

/** The section under the photo finish; `failure` is the browser's message about the last click. */
export function renderSteer({ steer }: Pick<PageView, 'steer'>, failure: string | null): void {
  const words = steerText(steer);
  byId('steer').hidden = words === null;
  if (words === null) return;
  const refused = failure === null ? '' : ` ${getMessage('steerFailed', { message: failure })}`;
  setText(byId('steer-words'), words.text + refused);
  const button = byId<HTMLButtonElement>('steer-press');
  const { words: label, on } = words.press;
  setDisabled(button, on === null);
  button.value = String(on ?? '');
  setText(button, label);
}

/** Calls `press` with what the button requests, or `openOptions` if steering must first be enabled there. */
export function wireSteer(press: (on: boolean) => void, openOptions: () => void): void {
  const button = byId<HTMLButtonElement>('steer-press');
  onClick(button, () => {
    if (button.value === 'options') openOptions();
    else press(button.value === 'true');
  });
}
