// `toHaveUsedProtocol` and `adoption`: assertions about a page, with their failure messages.
import { isIP } from 'node:net';
import { addCounts, adoptionByRequest, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import { type Origin, originOfUrl, originParts, parseOrigin } from '@photofinish/shared/web/origin';
import { PROTOCOLS } from '@photofinish/shared/web/protocol';
import { expect as base, type Page } from '@playwright/test';
import type { PageView } from '../../extension/common/messages.ts';
import { checkContext, hasExtension, viewOf } from './extension.ts';
import type { PageAdoption, PageOrigin, PhotofinishMatchers, UsedProtocol } from './photofinish.d.ts';
import { type JoinedCounts, joinedCounts, type SeenDocument, seenDocument } from './responses.ts';

const POLL_MS = 250;
const DEFAULT_TIMEOUT_MS = 10_000;

/** What both observers know about the document in a page. */
export interface PageEvidence {
  /** Null: the extension has no record of it, or does not run in this browser. */
  readonly view: PageView | null;
  readonly extended: boolean;
  /** Null: Playwright saw no request of it, or not all of them. */
  readonly seen: SeenDocument | null;
}

async function evidenceOf(page: Page): Promise<PageEvidence> {
  const context = page.context();
  checkContext(context);
  const extended = hasExtension(context);
  const view = extended ? await viewOf(page) : null;
  // A restored or prerendered document made its requests at another time.
  const loaded = view === null ? !extended : view.arrival === 'loaded';
  return { view, extended, seen: loaded ? seenDocument(page) : null };
}

function countsOf({ view, seen }: PageEvidence, origin: string): JoinedCounts {
  const own = view === null ? null : view.origins.find((each) => each.origin === origin)?.counts;
  if (own === undefined) return joinedCounts(null, null);
  return joinedCounts(own, seenOrigin(seen, origin));
}

function seenOrigin(seen: SeenDocument | null, origin: string) {
  return seen?.origins.get(origin as Origin) ?? null;
}

function originsIn({ view, seen }: PageEvidence): readonly string[] {
  if (view !== null) return view.origins.map(({ origin }) => origin);
  return [...(seen?.origins.keys() ?? [])];
}

function knownIn(counts: ProtocolCounts): number {
  return adoptionByRequest(counts).known;
}

/** The newest protocol that was named for an origin; null: it made no request. */
function protocolOfOrigin(evidence: PageEvidence, origin: string): UsedProtocol | null {
  const { view, seen } = evidence;
  const own = view?.origins.find((each) => each.origin === origin);
  if (own !== undefined && own.protocol !== 'unknown') return own.protocol;
  const { playwright } = countsOf(evidence, origin);
  if (knownIn(playwright) > 0) return seenOrigin(seen, origin)?.newest ?? 'unknown';
  if (own !== undefined || view !== null) return own?.protocol ?? null;
  const responses = seenOrigin(seen, origin);
  return responses !== null && (responses.complete || responses.counts.unknown > 0) ? 'unknown' : null;
}

/** The protocol of the page's document, whatever its origin used after it; null: it has not been reported yet. */
function protocolOfDocument(evidence: PageEvidence): UsedProtocol | null {
  const { view, seen, extended } = evidence;
  if (view === null && extended) return null;
  if (view !== null && (view.documentProtocol !== 'unknown' || view.delivery !== 'network'))
    return view.documentProtocol;
  const document = seen === null ? undefined : originOfUrl(seen.url)?.origin;
  if (seen === null || document === undefined) return view?.documentProtocol ?? null;
  return view === null || knownIn(countsOf(evidence, document).playwright) > 0
    ? seen.protocol
    : view.documentProtocol;
}

/** Every protocol that the document, or an origin on its page, is known to have used, the one to compare first. */
export function usedProtocols(evidence: PageEvidence, origin: string | undefined): readonly UsedProtocol[] {
  const first = origin === undefined ? protocolOfDocument(evidence) : protocolOfOrigin(evidence, origin);
  if (first === null) return [];
  if (origin === undefined) return [first];
  const { extension, playwright } = countsOf(evidence, origin);
  const counts = addCounts(extension, playwright);
  return [first, ...PROTOCOLS.filter((protocol) => protocol !== first && counts[protocol] > 0)];
}

const SOURCES = {
  'http-cache': 'the HTTP cache',
  'service-worker': 'a service worker',
  prefetch: 'a prefetch',
};

/** What is known, for the message of a failed assertion. */
export function usedText(evidence: PageEvidence, origin: string | undefined): string {
  const used = usedProtocols(evidence, origin);
  if (used.length === 0) return 'nothing of it was seen';
  if (origin === undefined && evidence.seen?.routed === true)
    return 'a route of the test answered it, so no protocol is known';
  const delivery = evidence.view?.delivery ?? 'network';
  if (origin === undefined && delivery !== 'network')
    return `it came from ${SOURCES[delivery]}, so no protocol is known`;
  const names = used.map((protocol) => (protocol === 'unknown' ? 'an unknown protocol' : protocol));
  return `it came over ${names.join(' and ')}`;
}

/** Where HTTP/3 is advertised, and what is missing may be up to the browser alone. */
const ADVERTISED: readonly string[] = ['h3-first-visit', 'h3-browser-avoids', 'h3-private-root'];
/** Domains in which no public root certifies a name (RFC 6761, RFC 6762, and `internal` by ICANN). */
const PRIVATE_DOMAINS = ['internal', 'local', 'localhost', 'test'];

/** Whether a host cannot have a certificate under a public root, or as an address hardly ever has one. */
function isPrivateHost(host: string): boolean {
  const [domain = '', ...rest] = host.split('.').toReversed();
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || rest.length === 0 || PRIVATE_DOMAINS.includes(domain);
}

/** Why an assertion failed: the verdict, and what Chromium needs to use HTTP/3 with a server of one's own. */
export function reasonText(
  { view }: PageEvidence,
  expected: UsedProtocol,
  origin: string | undefined,
): string {
  const row = origin === undefined ? view : view?.origins.find((each) => each.origin === origin);
  if (!row?.verdict) return '';
  const { verdict } = row;
  const isRefused =
    expected === 'h3' &&
    ADVERTISED.includes(verdict.code) &&
    row.origin !== null &&
    isPrivateHost(originParts(row.origin).host);
  const needed =
    ' Chromium uses HTTP/3 only with a certificate under a public root, or with the arguments under "A server on this computer" in the README of @photofinish/playwright.';
  return `\n\n${verdictText(verdict)}${isRefused ? needed : ''}`;
}

const NO_VERDICT = {
  code: 'unknown',
  text: 'The extension, which finds the reasons, runs in Chromium only.',
};

function joinedOrigins(evidence: PageEvidence): readonly PageOrigin[] {
  return originsIn(evidence).map((origin) => {
    const { extension, playwright } = countsOf(evidence, origin);
    const verdict = evidence.view?.origins.find((each) => each.origin === origin)?.verdict;
    return {
      origin,
      protocol: protocolOfOrigin(evidence, origin) ?? 'unknown',
      requests: addCounts(extension, playwright),
      sources: { extension: knownIn(extension), playwright: knownIn(playwright) },
      verdict: verdict ? { code: verdict.code, text: verdictText(verdict) } : NO_VERDICT,
    };
  });
}

/** The page's evidence as soon as it is as wanted, or else as it is after `timeoutMs`. */
async function evidenceUntil(
  page: Page,
  isWanted: (evidence: PageEvidence) => boolean,
  timeoutMs: number,
): Promise<PageEvidence> {
  const endMs = performance.now() + timeoutMs;
  let evidence = await evidenceOf(page);
  while (!isWanted(evidence) && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    evidence = await evidenceOf(page);
  }
  return evidence;
}

/** Whether anything is known of the document; before that, counts of zero would say that it has loaded nothing. */
function isRecorded({ view, extended, seen }: PageEvidence): boolean {
  return extended ? view !== null : seen !== null && seen.protocol !== null;
}

/** The error pages of Chromium and Firefox. */
const ERROR_PAGE = /^(chrome-error:|about:(net|cert)error)/;

/** Why no server sent a page, in words; null: one did. */
function whyNotServed(url: string): string | null {
  if (/^https?:/.test(url)) return null;
  return ERROR_PAGE.test(url) ? 'the page failed to load' : `no server sent ${url || 'the page'}`;
}

/** Throws for anything but a page: a locator, a frame or a URL has no document of its own. */
function checkPage(page: unknown): void {
  const { context, mainFrame } = Object(page);
  if (typeof context === 'function' && typeof mainFrame === 'function') return;
  const given =
    typeof page === 'string' ? `"${page}"` : ((page as object | null)?.constructor?.name ?? String(page));
  throw new Error(`Photofinish needs a Playwright page, not ${given}.`);
}

type MatcherOptions = NonNullable<Parameters<PhotofinishMatchers['toHaveUsedProtocol']>[2]>;

/** The options as they are used: the origin in canonical form. Throws for what is none. */
function checkedOptions(options: MatcherOptions) {
  // A number looks like a timeout, and has no properties.
  if (typeof options !== 'object' || options === null)
    throw new Error(`toHaveUsedProtocol takes its options as an object, not ${options}.`);
  const { origin, timeout = DEFAULT_TIMEOUT_MS, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new Error(`toHaveUsedProtocol has the options origin and timeout, not ${other}.`);
  if (typeof timeout !== 'number' || !(timeout >= 0))
    throw new Error('The option timeout is a number of milliseconds.');
  if (origin === undefined) return { origin, timeout };
  const parsed = parseOrigin(String(origin));
  if (!parsed.ok) throw new Error(`The option origin is an https origin: ${parsed.message}.`);
  return { origin: parsed.value.origin, timeout };
}

function checkProtocol(expected: UsedProtocol): void {
  if (PROTOCOLS.includes(expected)) return;
  throw new Error(`"${expected}" is no protocol of toHaveUsedProtocol; there are ${PROTOCOLS.join(', ')}.`);
}

/** What is known about the page. Rejects if nothing of it is recorded within ten seconds. */
async function recordedEvidence(page: Page): Promise<PageEvidence> {
  checkPage(page);
  const why = whyNotServed(page.url());
  // There is nothing to wait for.
  if (why !== null) throw new Error(`Photofinish has nothing to count: ${why}.`);
  const evidence = await evidenceUntil(page, isRecorded, DEFAULT_TIMEOUT_MS);
  if (!isRecorded(evidence))
    throw new Error(
      `Photofinish has no record of ${page.url()}${evidence.extended ? '; the extension records only pages over https' : ''}.`,
    );
  return evidence;
}

/** The page's origins, its own first. Rejects as `recordedEvidence` does. */
export async function originsOf(page: Page): Promise<readonly PageOrigin[]> {
  return joinedOrigins(await recordedEvidence(page));
}

/** The page's adoption, from what is known about it. */
export function adoptionIn(evidence: PageEvidence): PageAdoption {
  const { view, seen, extended } = evidence;
  const pending = (extended ? view : seen)?.pending ?? 0;
  const total = { h3: 0, known: 0, hidden: 0, pending, sources: { extension: 0, playwright: 0 } };
  for (const { requests, sources } of joinedOrigins(evidence)) {
    const { h3, known, hidden } = adoptionByRequest(requests);
    total.h3 += h3;
    total.known += known;
    total.hidden += hidden;
    total.sources.extension += sources.extension;
    total.sources.playwright += sources.playwright;
  }
  return total;
}

/** The page's adoption by request, so far. */
export async function adoption(page: Page): Promise<PageAdoption> {
  return adoptionIn(await recordedEvidence(page));
}

export const expect = base.extend({
  async toHaveUsedProtocol(page: Page, expected: UsedProtocol, options: MatcherOptions = {}) {
    checkPage(page);
    checkProtocol(expected);
    const { origin, timeout } = checkedOptions(options);
    const wanted = (now: PageEvidence) => {
      const used = usedProtocols(now, origin);
      if (!this.isNot) return used[0] === expected;
      // That nothing was observed does not show that another protocol was used.
      const isKnown = used[0] !== undefined && (used[0] !== 'unknown' || expected === 'unknown');
      return isKnown && !used.includes(expected);
    };
    const evidence = await evidenceUntil(page, wanted, timeout);
    const of = origin ?? page.url();
    const used = usedProtocols(evidence, origin);
    // A page that failed to load has the URL of the browser's error page, which says nothing to the reader.
    const unserved = used.length === 0 ? whyNotServed(page.url()) : null;
    return {
      name: 'toHaveUsedProtocol',
      pass: wanted(evidence) !== this.isNot,
      expected,
      actual: used[0] ?? null,
      message: () =>
        `expected ${of} ${this.isNot ? 'not ' : ''}to have come over ${expected}; ` +
        `${unserved ?? usedText(evidence, origin)}.${reasonText(evidence, expected, origin)}`,
    };
  },
});
