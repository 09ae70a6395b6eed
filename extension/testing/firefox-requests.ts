// Events recorded from Firefox ESR 153, with hosts and documents renamed and unused fields removed.
import type { FirefoxDetails } from '../background/edition/firefox.ts';

const DOCUMENT = '7cdae9e8-ea3a-a06c-d073-527695c5d109';
const PAGE = 'https://both.test:34217/page';

/** A page's own answer over HTTP/3; its document does not exist yet. */
export const PAGE_OVER_H3: FirefoxDetails = {
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
export const HIDDEN_SCRIPT: FirefoxDetails = {
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
export const FROM_CACHE: FirefoxDetails = { ...HIDDEN_SCRIPT, requestId: '29', fromCache: true, ip: null };

/**
 * A revalidated copy is reported twice: as the answer that arrived, and as the stored one with the address of the
 * server.
 */
export const CONFIRMED: readonly [FirefoxDetails, FirefoxDetails] = [
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
export const REDIRECT: FirefoxDetails = {
  ...PAGE_OVER_H3,
  requestId: '36',
  url: 'https://x.test:45745/redir',
  responseHeaders: [{ name: 'location', value: '/etag' }],
  statusCode: 302,
  statusLine: 'HTTP/2.0 302 ',
  redirectUrl: 'https://x.test:45745/etag',
};

/** A service worker takes a page's request over: a redirect to itself, without an answer. */
export const TAKEN_BY_WORKER: FirefoxDetails = {
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
export const CERTIFICATE_REFUSED: FirefoxDetails = {
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
export const WORKER_SCRIPT: FirefoxDetails = {
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
