// How pages present an origin's race: the button, the verdict, and why there was none.
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import type { PageView } from '../../common/messages.ts';
import { make, setAttribute, setText } from './elements.ts';
import { emphasise } from './format.ts';

/** Why there was no race. */
export interface RaceFailure {
  readonly message: string;
  /** Whether the options forbid it. */
  readonly byOptions: boolean;
}

/** Writes a verdict's sentences with what the race measured emphasised. */
export function writeVerdict(element: HTMLElement, verdict: Verdict): void {
  const pieces = emphasise(verdict);
  if (element.textContent === pieces.map(({ text }) => text).join('')) return;
  const nodes = pieces.map((p) =>
    p.whole ? make(p.strong ? 'strong' : 'span', 'measured', p.text) : document.createTextNode(p.text),
  );
  element.replaceChildren(...nodes);
}

/**
 * The race button's label and whether it can be clicked. It can while a race is running: a disabled button loses the
 * focus.
 */
export function raceButton(
  button: HTMLButtonElement,
  raced: boolean,
  running: boolean,
  helper: PageView['helper'],
  first: MessageKey = 'popupRaceNow',
): void {
  setText(button, getMessage(running ? 'popupCancel' : raced ? 'popupRaceAgain' : first));
  const disabled = !running && helper.state !== 'ready';
  if (button.disabled !== disabled) button.disabled = disabled;
  setAttribute(button, 'title', disabled ? getMessage('popupNeedsHelper') : '');
}
