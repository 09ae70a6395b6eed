// When races run: three choices, each with its explanation. Shown on the welcome page and in the options.

import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { type ProxyMode, proxyMode } from '../../common/permissions.ts';
import { RACE_TIMES, type Settings } from '../../common/settings.ts';
import { make, setText } from './elements.ts';

type RaceWhen = Settings['raceWhen'];

const CHOICES: Record<RaceWhen, { readonly name: MessageKey; readonly meaning: MessageKey }> = {
  never: { name: 'optionsRaceNever', meaning: 'optionsRaceNeverMeans' },
  click: { name: 'optionsRaceClick', meaning: 'optionsRaceClickMeans' },
  'first-visit': { name: 'optionsRaceFirstVisit', meaning: 'optionsRaceFirstVisitMeans' },
};

/**
 * What the browser's proxy setting means for races that nobody clicked for; null: the browser reports it with each
 * request.
 */
export function proxyWords(mode: ProxyMode | null): { readonly text: string; readonly clear: boolean } {
  if (mode === null) return { text: getMessage('optionsProxyByRequest'), clear: true };
  if (mode === 'direct') return { text: getMessage('optionsProxyDirect'), clear: true };
  if (mode === 'system') return { text: getMessage('optionsProxySystem'), clear: false };
  return { text: getMessage('optionsProxyInUse', { mode }), clear: false };
}

/** Draws the three choices into a fieldset that has a legend. */
export function makeRaceChoice(fieldset: HTMLElement, onChoose: (when: RaceWhen) => void): void {
  for (const when of RACE_TIMES) {
    const { name, meaning } = CHOICES[when];
    const label = make('label', 'choice');
    const input = make('input');
    input.type = 'radio';
    input.name = 'race-when';
    input.value = when;
    const means = make('span', 'aside', getMessage(meaning));
    means.id = `race-when-${when}`;
    const named = make('span', 'name', getMessage(name));
    named.id = `${means.id}-name`;
    // The label consists of the name only; its explanation is read afterwards.
    input.setAttribute('aria-labelledby', named.id);
    input.setAttribute('aria-describedby', means.id);
    input.addEventListener('change', () => onChoose(when));
    label.append(input, named, means);
    fieldset.append(label);
  }
}

/** Shows the current choice, and beside automatic races whether the browser's proxy setting allows them. */
export async function showRaceChoice(
  fieldset: HTMLElement,
  proxy: HTMLElement,
  when: RaceWhen,
): Promise<void> {
  for (const input of fieldset.querySelectorAll('input')) input.checked = input.value === when;
  proxy.hidden = when !== 'first-visit';
  if (proxy.hidden) return;
  const { text, clear } = proxyWords(await proxyMode());
  setText(proxy, text);
  proxy.classList.toggle('error', !clear);
}
