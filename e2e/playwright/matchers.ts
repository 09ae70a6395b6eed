// `toHaveUsedProtocol` and `adoption`: assertions about a page, with their failure messages.
import { adoptionByRequest } from '@photofinish/shared/report/adoption';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import { expect as base, type Page } from '@playwright/test';
import type { PageView } from '../../extension/common/messages.ts';
import { viewOf } from './extension-page.ts';
import type { PageAdoption, PageOrigin, UsedProtocol } from './photofinish.d.ts';

const POLL_MS = 250;
const DEFAULT_TIMEOUT_MS = 10_000;

function protocolOf(view: PageView | null, origin: string | undefined): UsedProtocol | null {
  if (view === null) return null;
  if (origin === undefined) return view.protocol;
  return view.origins.find((o) => o.origin === origin)?.protocol ?? null;
}

function verdictOf(view: PageView | null, origin: string | undefined): string {
  const verdict = origin ? view?.origins.find((o) => o.origin === origin)?.verdict : view?.verdict;
  return verdict ? `\n\n${verdictText(verdict)}` : '';
}

/** The page's adoption by request, so far. */
export async function adoption(page: Page): Promise<PageAdoption> {
  const view = await viewOf(page);
  return view === null ? { h3: 0, known: 0, hidden: 0 } : adoptionByRequest(view.counts);
}

/** The page's origins, its own first. */
export async function originsOf(page: Page): Promise<readonly PageOrigin[]> {
  const view = await viewOf(page);
  return (view?.origins ?? []).map(({ origin, protocol, counts, verdict }) => ({
    origin,
    protocol,
    requests: counts,
    verdict: { code: verdict.code, text: verdictText(verdict) },
  }));
}

export const expect = base.extend({
  async toHaveUsedProtocol(
    page: Page,
    expected: UsedProtocol,
    { origin, timeout = DEFAULT_TIMEOUT_MS }: { readonly origin?: string; readonly timeout?: number } = {},
  ) {
    const endMs = performance.now() + timeout;
    const wanted = (view: PageView | null) => (protocolOf(view, origin) === expected) !== this.isNot;
    let view = await viewOf(page);
    while (!wanted(view) && performance.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      view = await viewOf(page);
    }
    const actual = protocolOf(view, origin);
    const of = origin ?? page.url();
    return {
      name: 'toHaveUsedProtocol',
      pass: actual === expected,
      expected,
      actual,
      message: () =>
        `expected ${of} ${this.isNot ? 'not ' : ''}to have come over ${expected}; ` +
        `${actual === null ? 'nothing of it was seen' : `it came over ${actual}`}.${verdictOf(view, origin)}`,
    };
  },
});
