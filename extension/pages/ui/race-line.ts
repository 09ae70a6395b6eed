// What pages say of an origin's race where they offer one: the button, the verdict, and why there was none.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { PageView } from '../../common/messages.ts';
import { say, type WordKey } from '../../common/words.ts';
import { make, setAttribute, setText } from './elements.ts';
import { emphasise } from './format.ts';

/** Why there was no race. */
export interface RaceFailure {
  readonly message: string;
  /** Whether the options are what forbids it. */
  readonly byOptions: boolean;
}

/** Writes a verdict's sentences with what the race measured set apart. */
export function writeVerdict(element: HTMLElement, text: string, race: OriginRace | null): void {
  if (element.textContent === text) return;
  const pieces = emphasise(text, race).map((p) =>
    p.whole ? make(p.strong ? 'strong' : 'span', 'measured', p.text) : document.createTextNode(p.text),
  );
  element.replaceChildren(...pieces);
}

/** The race button's words and whether it can be pressed. While a race runs it can: what is switched off loses the focus. */
export function raceButton(
  button: HTMLButtonElement,
  raced: boolean,
  running: boolean,
  helper: PageView['helper'],
  first: WordKey = 'popupRaceNow',
): void {
  setText(button, say(running ? 'popupCancel' : raced ? 'popupRaceAgain' : first));
  const disabled = !running && helper.state !== 'ready';
  if (button.disabled !== disabled) button.disabled = disabled;
  setAttribute(button, 'title', disabled ? say('popupNeedsHelper') : '');
}
