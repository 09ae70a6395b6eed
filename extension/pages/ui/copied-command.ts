// A command to paste into a terminal, with a button that copies it.
import { getMessage } from '../../common/catalog.ts';
import { make, setText } from './elements.ts';

/** Draws the command into `place`, once per command. */
export function renderCommand(place: HTMLElement, command: string): void {
  if (place.querySelector('code')?.textContent === command) return;
  const code = make('code', '', command);
  code.dir = 'ltr';
  const copy = make('button', 'button', getMessage('helperCopy'));
  copy.type = 'button';
  const told = make('span', 'unseen');
  told.setAttribute('role', 'status');
  copy.addEventListener('click', async () => {
    const words = await copied(code);
    setText(copy, words);
    setText(told, words);
  });
  place.replaceChildren(code, copy, told);
}

async function copied(code: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return getMessage('helperCopied');
  } catch {
    // Policies can forbid clipboard access; then the command is selected so that the user can copy it.
    getSelection()?.selectAllChildren(code);
    return getMessage('helperSelected');
  }
}
