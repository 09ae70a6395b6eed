import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndedRequest } from '../observe/requests.ts';
import type { DocumentVisit } from './edition.ts';
import { createFirefoxObserver, type FirefoxDetails, protocolOfStatusLine } from './firefox.ts';

// Events recorded from Firefox ESR 153, with hosts and documents renamed and unused fields removed.

const DOCUMENT = '7cdae9e8-ea3a-a06c-d073-527695c5d109';
const PAGE = 'https://both.test:34217/page';

/** A page's own answer over HTTP/3; its document does not exist yet. */
const PAGE_OVER_H3: FirefoxDetails = {
  requestId: '17',
  url: PAGE,
  type: 'main_frame',
  timeStamp: 1795275461614,
  tabId: 2,
  frameId: 0,
  incognito: false,
  fromCache: false,
  responseHeaders: [
    { name: 'timing-allow-origin', value: '*' },
    { name: 'alt-svc', value: 'h3=":34217"; ma=86400' },
  ],
  statusCode: 200,
  statusLine: 'HTTP/3.0 200 ',
  ip: '127.0.0.1',
};

/** A script of a site that hides its timing, requested by that page. */
const HIDDEN_SCRIPT: FirefoxDetails = {
  requestId: '11',
  url: 'https://hidden.test:33833/r/3.js',
  originUrl: PAGE,
  type: 'script',
  timeStamp: 1795275460053,
  tabId: 2,
  frameId: 0,
  incognito: false,
  fromCache: false,
  responseHeaders: [{ name: 'alt-svc', value: 'h3=":33833"; ma=86400' }],
  statusCode: 200,
  statusLine: 'HTTP/2.0 200 ',
  ip: '127.0.0.1',
  documentId: DOCUMENT,
};

/** From the cache: without a server's address, and with the status line from when it was stored. */
const FROM_CACHE: FirefoxDetails = { ...HIDDEN_SCRIPT, requestId: '29', fromCache: true, ip: null };

/**
 * A revalidated copy is reported twice: as the answer that arrived, and as the stored one with the address of the
 * server.
 */
const CONFIRMED: readonly [FirefoxDetails, FirefoxDetails] = [
  {
    ...HIDDEN_SCRIPT,
    requestId: '20',
    responseHeaders: [],
    statusCode: 304,
    statusLine: 'HTTP/3.0 304 ',
  },
  { ...HIDDEN_SCRIPT, requestId: '20', fromCache: true },
];

/** A redirect's answer, first as headers and then as a redirect. */
const REDIRECT: FirefoxDetails = {
  ...PAGE_OVER_H3,
  requestId: '36',
  url: 'https://x.test:45745/redir',
  responseHeaders: [{ name: 'location', value: '/etag' }],
  statusCode: 302,
  statusLine: 'HTTP/2.0 302 ',
  redirectUrl: 'https://x.test:45745/etag',
};

/** A service worker takes a page's request over: a redirect to itself, without an answer. */
const TAKEN_BY_WORKER: FirefoxDetails = {
  ...PAGE_OVER_H3,
  requestId: '36',
  url: 'https://both.test:34217/sw',
  responseHeaders: [],
  statusCode: 0,
  statusLine: '',
  redirectUrl: 'https://both.test:34217/sw',
  ip: null,
};

/** Rejected because of its certificate: the server's address is known, but there was no answer. */
const CERTIFICATE_REFUSED: FirefoxDetails = {
  requestId: '56',
  url: 'https://unknown-name.test:41687/',
  type: 'main_frame',
  timeStamp: 1795275766248,
  tabId: 2,
  frameId: 0,
  incognito: false,
  fromCache: false,
  ip: '127.0.0.1',
};

/** A service worker's script, which belongs to no tab. */
const WORKER_SCRIPT: FirefoxDetails = {
  requestId: '42',
  url: 'https://both.test:34217/sw.js',
  originUrl: 'https://both.test:34217/sw',
  type: 'script',
  timeStamp: 1795275464543,
  tabId: -1,
  frameId: 0,
  incognito: false,
  fromCache: false,
  responseHeaders: [],
  statusCode: 200,
  statusLine: 'HTTP/3.0 200 ',
  ip: '127.0.0.1',
};

function testbed() {
  const ended: EndedRequest[] = [];
  const redirected: string[] = [];
  const visited: DocumentVisit[] = [];
  const observer = createFirefoxObserver({
    visited: (visit) => visited.push(visit),
    ended: (request) => ended.push(request),
    navigationRedirected: (_tabId, _frameId, url) => redirected.push(url),
  });
  return { observer, ended, redirected, visited };
}

function ended(details: FirefoxDetails): EndedRequest | undefined {
  const { observer, ended } = testbed();
  observer.headersReceived(details);
  return ended[0];
}

test('status lines name every known protocol, and nothing else is guessed', () => {
  const named = [
    'HTTP/3.0 200 ',
    'HTTP/3 200 ',
    'HTTP/2.0 200 ',
    'HTTP/2 204 ',
    'HTTP/1.1 200 OK',
    'HTTP/1.0 200 OK',
  ];
  assert.deepEqual(named.map(protocolOfStatusLine), ['h3', 'h3', 'h2', 'h2', 'http/1.1', 'http/1.0']);
  for (const line of [undefined, '', 'ICY 200 OK', 'HTTP/0.9 200 OK', 'HTTP/4 200 ', ' HTTP/3.0 200 '])
    assert.equal(protocolOfStatusLine(line), null, line);
});

test('whether a page may see timings depends on its origin, not its URL', () => {
  const allowedBy = (value: string) =>
    ended({ ...HIDDEN_SCRIPT, responseHeaders: [{ name: 'Timing-Allow-Origin', value }] })?.timingAllowed;
  assert.equal(allowedBy('https://both.test:34217'), true);
  assert.equal(allowedBy('https://both.test:34217/page'), false);
  assert.equal(ended(HIDDEN_SCRIPT)?.timingAllowed, false);
});

test('a page over HTTP/3 is a navigation with its protocol, address and advertisement', () => {
  assert.deepEqual(ended(PAGE_OVER_H3), {
    id: '17',
    tabId: 2,
    documentId: null,
    kind: 'navigation',
    hop: false,
    firstUrl: 'https://both.test:34217/page',
    url: 'https://both.test:34217/page',
    atMs: 1795275461614,
    answered: true,
    timingAllowed: true,
    withheld: false,
    protocol: 'h3',
    revalidated: false,
    fromCache: false,
    address: '127.0.0.1',
    altSvc: 'h3=":34217"; ma=86400',
    prerender: false,
    initiator: null,
    incognito: false,
  });
});

test('a site that hides its timing hides nothing here', () => {
  const request = ended(HIDDEN_SCRIPT);
  assert.deepEqual(
    [request?.protocol, request?.kind, request?.documentId],
    ['h2', 'resource', '7cdae9e8-ea3a-a06c-d073-527695c5d109'],
  );
});

test('only a tab with a PDF shows a viewer of the browser', () => {
  const inViewer = (value: string, type = 'main_frame') =>
    ended({ ...PAGE_OVER_H3, type, responseHeaders: [{ name: 'Content-Type', value }] })?.inViewer;
  assert.deepEqual(
    ['application/pdf', 'Application/PDF; charset=binary'].map((value) => inViewer(value)),
    [true, true],
  );
  assert.deepEqual(
    ['text/html', 'application/pdfx', 'text/html; was=application/pdf'].map((value) => inViewer(value)),
    [undefined, undefined, undefined],
  );
  assert.equal(inViewer('application/pdf', 'sub_frame'), undefined);
});

test('an answer from the cache says nothing new about the protocol', () => {
  const request = ended(FROM_CACHE);
  assert.deepEqual([request?.fromCache, request?.protocol, request?.address], [true, null, null]);
});

test('a revalidated copy is one answer, with the protocol that carried the 304', () => {
  const { observer, ended } = testbed();
  for (const event of CONFIRMED) observer.headersReceived(event);
  assert.deepEqual(
    ended.map((r) => [r.protocol, r.revalidated, r.fromCache]),
    [['h3', true, false]],
  );
});

test('a redirect is one answer, and what follows it knows where the chain began', () => {
  const { observer, ended, redirected } = testbed();
  const { redirectUrl, ...headers } = REDIRECT;
  observer.headersReceived(headers);
  observer.redirected(REDIRECT);
  observer.headersReceived({ ...PAGE_OVER_H3, requestId: '36', url: 'https://x.test:45745/etag' });
  assert.deepEqual(
    ended.map((r) => [r.hop, r.protocol, r.firstUrl, r.url]),
    [
      [true, 'h2', 'https://x.test:45745/redir', 'https://x.test:45745/redir'],
      [false, 'h3', 'https://x.test:45745/redir', 'https://x.test:45745/etag'],
    ],
  );
  assert.deepEqual(redirected, ['https://x.test:45745/etag']);
});

test('a redirect to the same address, as one that sets a cookie, is an answer', () => {
  const { observer, ended } = testbed();
  observer.redirected({ ...REDIRECT, redirectUrl: REDIRECT.url });
  assert.deepEqual(
    ended.map(({ hop, protocol }) => [hop, protocol]),
    [[true, 'h2']],
  );
});

test('a redirect status without a Location is an answer', () => {
  assert.equal(ended({ ...REDIRECT, responseHeaders: [] })?.hop, false);
});

test('a service worker that takes a page over is neither an answer nor a new navigation', () => {
  const { observer, ended, redirected } = testbed();
  observer.redirected(TAKEN_BY_WORKER);
  assert.deepEqual([ended, redirected], [[], []]);
});

test('a failed request had no answer, although its server’s address is known', () => {
  const { observer, ended } = testbed();
  observer.failed(CERTIFICATE_REFUSED);
  assert.deepEqual([ended[0]?.answered, ended[0]?.protocol], [false, null]);
});

test('a worker’s own request names its initiator', () => {
  const request = ended(WORKER_SCRIPT);
  assert.deepEqual([request?.tabId, request?.initiator], [-1, 'https://both.test:34217/sw']);
});

test('extensions’ own requests belong to no page', () => {
  const { observer, ended } = testbed();
  const own = { ...HIDDEN_SCRIPT, originUrl: 'moz-extension://11111111-2222-4333-8444-555555555555/' };
  observer.headersReceived(own);
  observer.redirected({ ...own, redirectUrl: 'https://a.test/' });
  observer.failed(own);
  assert.deepEqual(ended, []);
});

test('a server’s answer to a top-level request is a visit, with everything that could forbid racing it', () => {
  const { observer, visited, ended } = testbed();
  const page = PAGE_OVER_H3;
  observer.headersReceived({ ...page, proxyInfo: null, cookieStoreId: 'firefox-default' });
  observer.headersReceived({ ...page, proxyInfo: { type: 'socks' }, cookieStoreId: 'firefox-container-3' });
  observer.headersReceived(page);
  observer.headersReceived({ ...page, fromCache: true, ip: null });
  observer.headersReceived(HIDDEN_SCRIPT);
  assert.deepEqual(
    visited.map(({ proxied, container, privateWindow }) => [proxied, container, privateWindow]),
    [
      [false, false, false],
      [true, true, false],
      [null, false, false],
    ],
  );
  assert.deepEqual(
    ended.slice(0, 3).map((request) => request.proxied),
    [false, true, undefined],
  );
});
