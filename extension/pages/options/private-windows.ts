// Private windows: our own switch, and beside it the browser's, which only the user can turn.
import { BROWSER } from '../../common/edition.ts';
import type { Settings } from '../../common/settings.ts';
import { say } from '../../common/words.ts';
import { byId, setText } from '../ui/elements.ts';
import { save } from '../ui/saving.ts';

/** The browser's page about this extension, where it is let into private windows. Firefox opens its own for nobody. */
const EXTENSION_PAGE = `chrome://extensions/?id=${chrome.runtime.id}`;

/** Shows the switch, and what is still missing for it to do anything. */
export async function showPrivateWindows({ privateWindows }: Settings): Promise<void> {
  byId<HTMLInputElement>('private').checked = privateWindows;
  const allowed = await chrome.extension.isAllowedIncognitoAccess();
  const how = BROWSER === 'firefox' ? say('optionsPrivateHowFirefox') : say('optionsPrivateHowChromium');
  const missing = privateWindows && !allowed;
  setText(byId('private-how'), missing ? how : '');
  byId('private-open').hidden = !missing || BROWSER === 'firefox';
}

/** Makes the switch save itself, and looks again when the user comes back from the browser's page. */
export function wirePrivateWindows(refresh: () => void): void {
  const input = byId<HTMLInputElement>('private');
  input.addEventListener('change', () => void save(input, { privateWindows: input.checked }));
  byId('private-open').addEventListener('click', () => void chrome.tabs.create({ url: EXTENSION_PAGE }));
  document.addEventListener('visibilitychange', refresh);
}
