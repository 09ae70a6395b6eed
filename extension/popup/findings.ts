// What else a verdict found, as a list beneath it.
import type { OriginView } from '../messages.ts';
import { make } from '../ui/elements.ts';
import { reasonWords } from './format.ts';

/** Writes an origin's findings, and why it has no protocol where the verdict does not say so itself; null: none. */
export function writeFindings(list: HTMLElement, view: OriginView | null): void {
  const texts = view === null ? [] : view.verdict.findings.map((finding) => finding.text);
  const reason = view === null || view.reason === null ? '' : reasonWords(view.protocol, view.reason);
  if (reason !== '' && reason !== view?.verdict.text) texts.push(reason);
  const key = texts.join('\n');
  if (list.dataset['key'] === key) return;
  list.dataset['key'] = key;
  list.hidden = texts.length === 0;
  list.replaceChildren(...texts.map((text) => make('li', '', text)));
}
