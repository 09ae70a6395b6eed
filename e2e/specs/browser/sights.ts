// What the browsers show differently, side by side: everything else in these specs holds in all of them alike.
import type { BrowserKind } from '../../run/find-browser.mjs';

interface Sights {
  /**
   * The protocol of an origin that hides its timing from other pages. Chromium tells the extension no more than the
   * page; Firefox tells it the status line of every answer.
   */
  readonly hiddenOrigin: 'hidden' | 'h2';
  /** The record of three requests to it. */
  readonly hiddenRecord: { readonly hidden: number; readonly protocols: Readonly<Record<string, number>> };
}

export const SIGHTS: Readonly<Record<BrowserKind, Sights>> = {
  chromium: {
    hiddenOrigin: 'hidden',
    hiddenRecord: { hidden: 3, protocols: { h3: 0, h2: 0, 'http/1.1': 0, unknown: 3 } },
  },
  firefox: {
    hiddenOrigin: 'h2',
    hiddenRecord: { hidden: 0, protocols: { h3: 0, h2: 3, 'http/1.1': 0, unknown: 0 } },
  },
};
