// The way from a verdict to what it means: one link for popup, panel and dashboard, to the code's row on our own page.
import type { VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { getMessage } from '../../common/catalog.ts';
import { make, setAttribute } from './elements.ts';

/** A link without a target yet; `pointToCode` gives it one. Pages lie in folders of their own, beside each other. */
export function meansLink(): HTMLAnchorElement {
  const link = make('a', 'means', getMessage('codesLink'));
  link.target = '_blank';
  return link;
}

/** Lets the link lead to what `code` means. */
export function pointToCode(link: HTMLAnchorElement, code: VerdictCode): void {
  setAttribute(link, 'href', `../verdicts/verdicts.html#${code}`);
}
