// Puts a page's words into it before anything else is drawn. In the HTML an element names its message:
// `data-say` for its text, `data-say-title`, `data-say-label` and `data-say-placeholder` for those attributes.
import { sayKey, wordsLanguage } from '@photofinish/shared/language/words';
import { setAttribute, setText } from './elements.ts';

const ATTRIBUTES = {
  'data-say-title': 'title',
  'data-say-label': 'aria-label',
  'data-say-placeholder': 'placeholder',
} as const;

/** Writes the words of a page, or of a part made from a template, and tells the page its language and direction. */
export function writeWords(root: ParentNode = document): void {
  const html = document.documentElement;
  html.lang = wordsLanguage();
  html.dir = chrome.i18n.getMessage('@@bidi_dir');
  for (const element of root.querySelectorAll('[data-say]'))
    setText(element, sayKey(element.getAttribute('data-say') ?? ''));
  for (const [from, to] of Object.entries(ATTRIBUTES))
    for (const element of root.querySelectorAll(`[${from}]`))
      setAttribute(element, to, sayKey(element.getAttribute(from) ?? ''));
}
