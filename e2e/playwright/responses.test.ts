// What is concluded from each kind of response, which document it is counted for, and when Playwright's responses name
// what the extension cannot.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { BrowserContext, Page } from '@playwright/test';
import {
  joinedCounts,
  type ResponseFacts,
  type SeenResponse,
  seenDocument,
  seenResponse,
  watchResponses,
} from './responses.ts';

const H3: ResponseFacts = {
  browserName: 'chromium',
  httpVersion: 'h3',
  status: 200,
  fromServiceWorker: false,
  redirects: false,
  requestFields: ['accept'],
  responseBytes: 1200,
  requestStartMs: 4,
  hasAddress: true,
};
const FIREFOX = { browserName: 'firefox' };

const CASES: readonly [string, Partial<ResponseFacts>, SeenResponse][] = [
  ['HTTP/3', {}, { delivery: 'network', protocol: 'h3' }],
  ['HTTP/2, as Playwright writes it', { httpVersion: 'HTTP/2.0' }, { delivery: 'network', protocol: 'h2' }],
  ['HTTP/1.1', { httpVersion: 'HTTP/1.1' }, { delivery: 'network', protocol: 'http/1.1' }],
  ['a name that is none', { httpVersion: 'spdy/3' }, { delivery: 'network', protocol: 'unknown' }],
  // As measured: they repeat the stored protocol.
  ['from the cache', { responseBytes: 0 }, { delivery: 'http-cache', protocol: 'unknown' }],
  [
    'from memory',
    { responseBytes: -180, requestStartMs: -1 },
    { delivery: 'http-cache', protocol: 'unknown' },
  ],
  ['from a worker', { fromServiceWorker: true }, { delivery: 'service-worker', protocol: 'unknown' }],
  [
    'a stored response, perhaps confirmed',
    { requestFields: ['accept', 'if-none-match'] },
    { delivery: 'network', protocol: 'unknown' },
  ],
  [
    'a confirmation itself',
    { status: 304, requestFields: ['if-modified-since'] },
    { delivery: 'network', protocol: 'h3' },
  ],
  ['a redirect, whose size Chromium hides', { redirects: true }, { delivery: null, protocol: 'unknown' }],
  // A worker's request has no timing in Chromium.
  ['without timing', { requestStartMs: -1 }, { delivery: 'network', protocol: 'h3' }],
  // As measured: Playwright says HTTP/1.1 of them, with a size.
  [
    'a route’s',
    { httpVersion: 'HTTP/1.1', requestStartMs: -1, hasAddress: false },
    { delivery: 'route', protocol: 'unknown' },
  ],
  ['Firefox', FIREFOX, { delivery: 'network', protocol: 'h3' }],
  ['a redirect in Firefox', { ...FIREFOX, redirects: true }, { delivery: 'network', protocol: 'h3' }],
  // Its size is that of the stored one, and a missing version is called HTTP/1.1.
  [
    'from Firefox’s cache',
    { ...FIREFOX, httpVersion: 'HTTP/1.1', requestStartMs: -1 },
    { delivery: 'http-cache', protocol: 'unknown' },
  ],
];

for (const [name, facts, seen] of CASES)
  test(`a response: ${name}`, () => assert.deepEqual(seenResponse({ ...H3, ...facts }), seen));

const counts = (some: Partial<ProtocolCounts>): ProtocolCounts => ({ ...NO_REQUESTS, ...some });
const seen = (some: Partial<ProtocolCounts>, complete = true, routed = 0) => ({
  counts: counts(some),
  routed,
  complete,
});

test('what a site hides is named by Playwright, and what the extension knows stays the extension’s', () => {
  assert.deepEqual(joinedCounts(counts({ h2: 1, unknown: 3 }), seen({ h2: 2, h3: 2 })), {
    extension: counts({ h2: 1 }),
    playwright: counts({ h2: 1, h3: 2 }),
  });
});

const OPEN: readonly [string, Partial<ProtocolCounts>, ReturnType<typeof seen> | null][] = [
  ['Playwright saw nothing', { unknown: 1 }, null],
  ['Playwright saw fewer', { unknown: 2 }, seen({ h2: 1 })],
  ['Playwright saw more', { unknown: 1 }, seen({ h2: 2 })],
  ['a request has no response yet', { unknown: 1 }, seen({ h2: 1 }, false)],
  ['Playwright does not know one either', { unknown: 2 }, seen({ h2: 1, unknown: 1 })],
  ['they contradict each other', { h3: 1, unknown: 1 }, seen({ h2: 2 })],
  ['nothing is unknown', { h2: 2 }, seen({ h3: 2 })],
  [
    'the extension has yet to count a route’s response, or a hidden one',
    { unknown: 1 },
    seen({ h2: 1 }, true, 1),
  ],
];

for (const [name, own, other] of OPEN)
  test(`nothing is joined: ${name}`, () =>
    assert.deepEqual(joinedCounts(counts(own), other), {
      extension: counts(own),
      playwright: NO_REQUESTS,
    }));

test('a route’s responses, which the extension counts as hidden ones, are left out', () => {
  const left = (own: Partial<ProtocolCounts>, other: Partial<ProtocolCounts>, routed: number) =>
    joinedCounts(counts(own), seen(other, true, routed));
  const none = { extension: counts({}), playwright: NO_REQUESTS };
  assert.deepEqual(left({ unknown: 2 }, {}, 2), none);
  assert.deepEqual(left({ h3: 1, unknown: 3 }, { h3: 1, h2: 1 }, 2), {
    extension: counts({ h3: 1 }),
    playwright: counts({ h2: 1 }),
  });
  assert.deepEqual(left({ unknown: 2 }, { unknown: 1 }, 1), {
    extension: counts({ unknown: 1 }),
    playwright: NO_REQUESTS,
  });
});

test('without the extension everything is Playwright’s', () => {
  const some = { h3: 2, unknown: 1 };
  assert.deepEqual(joinedCounts(null, seen(some, false)), {
    extension: NO_REQUESTS,
    playwright: counts(some),
  });
});

const A = 'https://a.test';
const B = 'https://b.test';

interface FakeRequest {
  readonly document?: boolean;
  readonly redirectedFrom?: unknown;
}

/** A page's events in the order in which Playwright emits them. */
class FakePage {
  readonly #context = new EventEmitter();
  readonly #emitter = new EventEmitter();
  readonly #frame = { page: () => this.page, parentFrame: () => null, url: () => this.#url };
  #url = 'about:blank';
  readonly page = Object.assign(this.#emitter, { url: () => this.#url }) as unknown as Page;

  constructor() {
    watchResponses(this.#context as unknown as BrowserContext, 'firefox');
  }

  request(url: string, { document = false, redirectedFrom = null }: FakeRequest = {}) {
    const request = {
      url: () => url,
      serviceWorker: () => null,
      frame: () => this.#frame,
      isNavigationRequest: () => document,
      redirectedFrom: () => redirectedFrom,
      allHeaders: async () => ({}),
      sizes: async () => ({ responseHeadersSize: 100, responseBodySize: 100 }),
      timing: () => ({ requestStart: 1 }),
    };
    this.#context.emit('request', request);
    return request;
  }

  async respond(request: unknown, status = 200, finished = Promise.resolve(null)): Promise<void> {
    this.#context.emit('response', {
      request: () => request,
      finished: () => finished,
      httpVersion: async () => 'h3',
      serverAddr: async () => null,
      status: () => status,
      fromServiceWorker: () => false,
    });
    await new Promise(setImmediate);
  }

  async load(url: string): Promise<void> {
    await this.respond(this.request(url));
  }

  navigated(url: string): void {
    this.#url = url;
    this.#emitter.emit('framenavigated', this.#frame);
  }

  async goto(url: string): Promise<void> {
    const document = this.request(url, { document: true });
    await this.respond(document);
    this.navigated(url);
  }

  /** The HTTP/3 responses of the document that is shown, by origin. */
  get h3(): Readonly<Record<string, number>> {
    const origins = seenDocument(this.page)?.origins ?? new Map();
    return Object.fromEntries([...origins].map(([origin, { counts }]) => [origin, counts.h3]));
  }
}

test('until the next document is shown, requests count for the one before', async () => {
  const page = new FakePage();
  await page.goto(`${A}/`);
  const next = page.request(`${B}/`, { document: true });
  await page.load(`${A}/api`);
  page.navigated(`${A}/#polled`);
  assert.deepEqual(page.h3, { [A]: 2 });
  await page.respond(next);
  await page.load(`${A}/api`);
  page.navigated(`${B}/`);
  await page.load(`${B}/style.css`);
  assert.deepEqual(page.h3, { [B]: 2 });
  assert.equal(seenDocument(page.page)?.protocol, 'h3');
});

test('a response whose content is still arriving is pending', async () => {
  const page = new FakePage();
  await page.goto(`${A}/`);
  let finish = () => {};
  const finished = new Promise<null>((resolve) => {
    finish = () => resolve(null);
  });
  await page.respond(page.request(`${A}/slow`), 200, finished);
  assert.equal(seenDocument(page.page)?.pending, 1);
  finish();
  await new Promise(setImmediate);
  assert.equal(seenDocument(page.page)?.pending, 0);
  assert.deepEqual(page.h3, { [A]: 2 });
});

test('a response that the page does not show, such as a download, leaves its counts', async () => {
  const page = new FakePage();
  await page.goto(`${A}/`);
  await page.load(`${A}/style.css`);
  await page.respond(page.request(`${A}/ping`, { document: true }), 204);
  assert.deepEqual(page.h3, { [A]: 2 });
  page.navigated(`${A}/#pinged`);
  await page.load(`${A}/api`);
  assert.deepEqual(page.h3, { [A]: 3 });
});

test('a redirected document is counted with its redirects, for the URL that is shown', async () => {
  const page = new FakePage();
  await page.goto(`${A}/`);
  const redirecting = page.request(`http://b.test/`, { document: true });
  await page.respond(redirecting, 301);
  const inside = page.request(`${B}/old`, { document: true, redirectedFrom: redirecting });
  await page.respond(inside, 302);
  await page.respond(page.request(`${B}/new`, { document: true, redirectedFrom: inside }));
  assert.deepEqual(page.h3, { [A]: 1 });
  page.navigated(`${B}/new#top`);
  assert.deepEqual(page.h3, { [B]: 2 });
  assert.equal(seenDocument(page.page)?.url, `${B}/new`);
});

test('an upgrade to https that Playwright does not report does not lose the document', async () => {
  const page = new FakePage();
  await page.respond(page.request('http://a.test/', { document: true }));
  page.navigated(`${A}/`);
  await page.load(`${A}/style.css`);
  assert.deepEqual(page.h3, { [A]: 1 });
  assert.equal(seenDocument(page.page)?.url, 'http://a.test/');
});

test('an error page in place of the document does not show the counts of the one before', async () => {
  for (const shown of ['chrome-error://chromewebdata/', `${A}/down`]) {
    const page = new FakePage();
    await page.goto(`${A}/`);
    page.request(`${A}/down`, { document: true });
    page.navigated(shown);
    assert.equal(page.h3[A] ?? 0, 0, shown);
  }
});
