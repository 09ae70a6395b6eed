// Writes a page's messages into it before anything else is drawn. In the HTML an element names its message:
// `data-message` for its text, `data-message-title`, `data-message-label` and `data-message-placeholder` for those
// attributes, and `data-message-column` for a cell's column, which the style sheet writes where a row is too narrow.
import { catalogLanguage, getMessageByKey } from '@photofinish/shared/language/catalog';
import { setAttribute, setText } from './elements.ts';

const ATTRIBUTES = {
  'data-message-title': 'title',
  'data-message-label': 'aria-label',
  'data-message-placeholder': 'placeholder',
  'data-message-column': 'data-column',
} as const;

/** Writes the messages of a page, or of a part made from a template, and sets the page's language and direction. */
export function writeMessages(root: ParentNode = document): void {
  const html = document.documentElement;
  html.lang = catalogLanguage();
  html.dir = chrome.i18n.getMessage('@@bidi_dir');
  for (const element of root.querySelectorAll('[data-message]'))
    setText(element, getMessageByKey(element.getAttribute('data-message') ?? ''));
  for (const [from, to] of Object.entries(ATTRIBUTES))
    for (const element of root.querySelectorAll(`[${from}]`))
      setAttribute(element, to, getMessageByKey(element.getAttribute(from) ?? ''));
}
