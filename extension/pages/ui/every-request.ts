// The switch between light and full mode, in the welcome page and the options: what it costs, and that it takes effect
// when the browser is started again.

import { getMessage } from '../../common/catalog.ts';
import {
  giveUpEveryRequest,
  grantEveryRequest,
  isEveryRequestGranted,
  isEveryRequestOptional,
  seesRequests,
  WITNESSED_KEY,
} from '../../common/permissions.ts';
import { byId, make, setText } from './elements.ts';

/** Draws the section's heading, the choice and the place for its state. */
function draw(section: HTMLElement): HTMLInputElement {
  const title = make('h2', '', getMessage('optionsEvery'));
  title.id = 'every-title';
  const label = make('label', 'choice');
  const choice = make('input');
  choice.id = 'every';
  choice.type = 'checkbox';
  const name = make('span', 'name', getMessage('optionsEveryChoice'));
  name.id = 'every-name';
  const means = make('span', 'aside', getMessage('optionsEveryMeans'));
  means.id = 'every-means';
  // The label consists of the name only; its explanation is read afterwards.
  choice.setAttribute('aria-labelledby', name.id);
  choice.setAttribute('aria-describedby', means.id);
  label.append(choice, name, means);
  const state = make('p');
  state.id = 'every-state';
  state.setAttribute('role', 'status');
  state.dataset['testid'] = 'every-state';
  section.append(title, label, state);
  return choice;
}

async function show(choice: HTMLInputElement): Promise<void> {
  const granted = await isEveryRequestGranted();
  const witnessed = WITNESSED_KEY in (await chrome.storage.session.get(WITNESSED_KEY));
  choice.checked = granted;
  const state = witnessed ? getMessage('optionsEverySeen') : getMessage('optionsEveryRestart');
  setText(byId('every-state'), granted ? state : '');
}

async function choose(choice: HTMLInputElement): Promise<void> {
  const on = choice.checked;
  const done = await (on ? grantEveryRequest() : giveUpEveryRequest()).catch(() => false);
  await show(choice);
  if (!done) setText(byId('every-state'), getMessage('optionsEveryRefused'));
  else if (!on) setText(byId('every-state'), getMessage('optionsEveryEnds'));
}

/** Shows the section in editions that leave it to the user, and follows what is granted elsewhere. */
export function wireEveryRequest(): void {
  if (!isEveryRequestOptional()) return;
  const section = byId('every-section');
  const choice = draw(section);
  section.hidden = false;
  choice.addEventListener('change', () => void choose(choice));
  chrome.permissions.onAdded.addListener((added) => {
    if (seesRequests(added)) void show(choice);
  });
  chrome.storage.session.onChanged.addListener((changes) => {
    if (changes[WITNESSED_KEY]?.newValue === true) void show(choice);
  });
  void show(choice);
}
