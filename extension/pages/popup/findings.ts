// What else a verdict found, as a list beneath it.

import { leftOutWords } from '@photofinish/shared/verdict/left-out';
import { otherFindings, verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { OriginView } from '../../common/messages.ts';
import { make } from '../ui/elements.ts';
import { reasonWords } from '../ui/format.ts';

/** What else a verdict found, why the origin has no protocol where the verdict does not say so, and what its race left out. */
export function findingTexts(view: OriginView): string[] {
  const { verdict, protocol, reason, race } = view;
  const words = reason === null ? '' : reasonWords(protocol, reason);
  return [
    ...otherFindings(verdict).map((finding) => finding.text),
    ...(words === '' || words === verdictText(verdict) ? [] : [words]),
    ...(race === null ? [] : leftOutWords(race)),
  ];
}

/** Writes an origin's findings; null: none. */
export function writeFindings(list: HTMLElement, view: OriginView | null): void {
  const texts = view === null ? [] : findingTexts(view);
  const key = texts.join('\n');
  if (list.dataset['key'] === key) return;
  list.dataset['key'] = key;
  list.hidden = texts.length === 0;
  list.replaceChildren(...texts.map((text) => make('li', '', text)));
}
