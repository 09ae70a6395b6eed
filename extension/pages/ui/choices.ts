// The choices that the welcome page and the options share, each with its explanation: when races run, and whether every
// request is seen.

import { getMessage, type MessageKey } from '../../common/catalog.ts';
import {
  EVERY_REQUEST,
  FULL_MODE_KEY,
  isEveryRequestOptional,
  type ProxyMode,
  proxyMode,
  seesRequests,
} from '../../common/permissions.ts';
import { RACE_TIMES, type Settings } from '../../common/settings.ts';
import { byId, make, setText } from './elements.ts';

type RacePolicy = Settings['raceWhen'];

const CHOICES: Record<RacePolicy, { readonly name: MessageKey; readonly meaning: MessageKey }> = {
  never: { name: 'optionsRaceNever', meaning: 'optionsRaceNeverMeans' },
  click: { name: 'optionsRaceClick', meaning: 'optionsRaceClickMeans' },
  'first-visit': { name: 'optionsRaceFirstVisit', meaning: 'optionsRaceFirstVisitMeans' },
};

/**
 * What the browser's proxy setting means for races that nobody clicked for; null: the browser reports it with each
 * request.
 */
export function proxyText(mode: ProxyMode | null): { readonly text: string; readonly clear: boolean } {
  if (mode === null) return { text: getMessage('optionsProxyByRequest'), clear: true };
  if (mode === 'direct') return { text: getMessage('optionsProxyDirect'), clear: true };
  if (mode === 'system') return { text: getMessage('optionsProxySystem'), clear: false };
  return { text: getMessage('optionsProxyInUse', { mode }), clear: false };
}

/** A choice that is labelled with its name only; its explanation is read afterwards. */
function makeChoice(type: 'radio' | 'checkbox', id: string, name: MessageKey, meaning: MessageKey) {
  const input = make('input');
  input.type = type;
  const named = make('span', 'name', getMessage(name));
  named.id = `${id}-name`;
  const means = make('span', 'aside', getMessage(meaning));
  means.id = `${id}-means`;
  input.setAttribute('aria-labelledby', named.id);
  input.setAttribute('aria-describedby', means.id);
  return { label: make('label', 'choice', input, named, means), input };
}

/** Draws the three choices into a fieldset that has a legend. */
export function makeRaceChoice(fieldset: HTMLElement, onChoose: (when: RacePolicy) => void): void {
  for (const when of RACE_TIMES) {
    const { name, meaning } = CHOICES[when];
    const { label, input } = makeChoice('radio', `race-when-${when}`, name, meaning);
    input.name = 'race-when';
    input.value = when;
    input.addEventListener('change', () => onChoose(when));
    fieldset.append(label);
  }
}

/** Shows the current choice, and beside automatic races whether the browser's proxy setting allows them. */
export async function showRaceChoice(
  fieldset: HTMLElement,
  proxy: HTMLElement,
  when: RacePolicy,
): Promise<void> {
  for (const input of fieldset.querySelectorAll('input')) input.checked = input.value === when;
  proxy.hidden = when !== 'first-visit';
  if (proxy.hidden) return;
  const { text, clear } = proxyText(await proxyMode());
  setText(proxy, text);
  proxy.classList.toggle('error', !clear);
}

// The switch between light and full mode: what it costs, and that it takes effect when the browser is started again.

/** Draws the section's heading, the choice and the place for its state. */
function drawEveryRequest(section: HTMLElement): HTMLInputElement {
  const title = make('h2', '', getMessage('optionsEvery'));
  title.id = 'every-title';
  const { label, input: choice } = makeChoice('checkbox', 'every', 'optionsEveryChoice', 'optionsEveryMeans');
  choice.id = 'every';
  const state = make('p');
  state.id = 'every-state';
  state.setAttribute('role', 'status');
  state.dataset['testid'] = 'every-state';
  section.append(title, label, state);
  return choice;
}

async function showEveryRequest(choice: HTMLInputElement): Promise<void> {
  const granted = await chrome.permissions.contains(EVERY_REQUEST);
  const wasFull = FULL_MODE_KEY in (await chrome.storage.session.get(FULL_MODE_KEY));
  choice.checked = granted;
  const state = wasFull ? getMessage('optionsEverySeen') : getMessage('optionsEveryRestart');
  setText(byId('every-state'), granted ? state : '');
}

async function chooseEveryRequest(choice: HTMLInputElement): Promise<void> {
  const on = choice.checked;
  // Accepted only in the handler of a click; Chromium asks nothing more (measured on 156).
  const change = on ? chrome.permissions.request(EVERY_REQUEST) : chrome.permissions.remove(EVERY_REQUEST);
  const done = await change.catch(() => false);
  await showEveryRequest(choice);
  if (!done) setText(byId('every-state'), getMessage('optionsEveryRefused'));
  else if (!on) setText(byId('every-state'), getMessage('optionsEveryEnds'));
}

/** Shows the section in editions that leave it to the user, and follows what is granted elsewhere. */
export function wireEveryRequest(): void {
  if (!isEveryRequestOptional()) return;
  const section = byId('every-section');
  const choice = drawEveryRequest(section);
  section.hidden = false;
  choice.addEventListener('change', () => void chooseEveryRequest(choice));
  chrome.permissions.onAdded.addListener((added) => {
    if (seesRequests(added)) void showEveryRequest(choice);
  });
  // What this page gave up is no longer checked, and keeps the words about it.
  chrome.permissions.onRemoved.addListener((removed) => {
    if (choice.checked && seesRequests(removed)) void showEveryRequest(choice);
  });
  chrome.storage.session.onChanged.addListener((changes) => {
    if (changes[FULL_MODE_KEY]?.newValue === true) void showEveryRequest(choice);
  });
  void showEveryRequest(choice);
}
