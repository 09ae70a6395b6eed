// The switch between light and full mode, in the welcome page and the options: what it costs, and that it takes effect
// when the browser is started again.

import { getMessage } from '../../common/catalog.ts';
import {
  giveUp,
  grant,
  isGranted,
  isOptional,
  seesRequests,
  WITNESSED_KEY,
} from '../../common/every-request.ts';
import { byId, setText } from './elements.ts';

async function show(choice: HTMLInputElement): Promise<void> {
  const granted = await isGranted();
  const witnessed = WITNESSED_KEY in (await chrome.storage.session.get(WITNESSED_KEY));
  choice.checked = granted;
  const state = witnessed ? getMessage('optionsEverySeen') : getMessage('optionsEveryRestart');
  setText(byId('every-state'), granted ? state : '');
}

async function choose(choice: HTMLInputElement): Promise<void> {
  const on = choice.checked;
  const done = await (on ? grant() : giveUp()).catch(() => false);
  await show(choice);
  if (!done) setText(byId('every-state'), getMessage('optionsEveryRefused'));
  else if (!on) setText(byId('every-state'), getMessage('optionsEveryEnds'));
}

/** Shows the section in editions that leave it to the user, and follows what is granted elsewhere. */
export function wireEveryRequest(): void {
  byId('every-section').hidden = !isOptional();
  if (!isOptional()) return;
  const choice = byId<HTMLInputElement>('every');
  choice.addEventListener('change', () => void choose(choice));
  chrome.permissions.onAdded.addListener((added) => {
    if (seesRequests(added)) void show(choice);
  });
  chrome.storage.session.onChanged.addListener((changes) => {
    if (changes[WITNESSED_KEY]?.newValue === true) void show(choice);
  });
  void show(choice);
}
