// The link from a verdict to its explanation: the same for popup, panel and dashboard, to the code's row on our own
// page.
import type { VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { getMessage } from '../../common/catalog.ts';
import { make, setAttribute } from './elements.ts';

/** A link without a target yet; `pointToCode` sets it. Pages are in sibling folders. */
export function meansLink(): HTMLAnchorElement {
  const link = make('a', 'means', getMessage('codesLink'));
  link.target = '_blank';
  return link;
}

/** Points the link to the explanation of `code`. */
export function pointToCode(link: HTMLAnchorElement, code: VerdictCode): void {
  setAttribute(link, 'href', `../verdicts/verdicts.html#${code}`);
}
