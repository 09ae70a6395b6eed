// A host where room may be short: it gives way in its middle, because its end says most and hosts of one domain differ
// at the beginning.
import { setAttribute, setText } from '../ui/elements.ts';

/** What of a host's end always stays: most registrable domains fit. */
const END_CHARS = 11;

/** Writes a host into an element that holds a `.beginning` and an `.end`; the whole of it is in the title. */
export function writeHost(element: Element, label: string): void {
  const [beginning, end] = element.children;
  if (beginning === undefined || end === undefined) throw new Error('a host has a beginning and an end');
  setText(beginning, label.slice(0, -END_CHARS));
  setText(end, label.slice(-END_CHARS));
  setAttribute(element, 'title', label);
}

/** Writes words in a host's place: they give way at their end. */
export function writeInPlaceOfHost(element: Element, words: string): void {
  const [beginning, end] = element.children;
  if (beginning !== undefined) setText(beginning, words);
  if (end !== undefined) setText(end, '');
  setAttribute(element, 'title', words);
}
