import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChromiumObserver } from './chromium.ts';
import type { EndedRequest } from './requests.ts';

type Completed = chrome.webRequest.OnCompletedDetails;

/** As Chromium 156 told of a script that was asked for in a page, with what nobody reads left out. */
const SCRIPT = {
  requestId: '41',
  url: 'https://a.test/script.js',
  type: 'script',
  timeStamp: 1795275460053.5,
  tabId: 3,
  frameId: 0,
  documentId: '7CDAE9E8EA3AA06CD073527695C5D109',
  documentLifecycle: 'active',
  initiator: 'https://page.test',
  fromCache: false,
  ip: '127.0.0.1',
  statusCode: 200,
  statusLine: 'HTTP/1.1 200',
  responseHeaders: [{ name: 'alt-svc', value: 'h3=":443"; ma=2592000' }],
} as unknown as Completed;

function ended(details: Completed): EndedRequest | undefined {
  const requests: EndedRequest[] = [];
  const observer = createChromiumObserver({
    visited: () => {},
    ended: (request) => requests.push(request),
    navigationRedirected: () => {},
  });
  observer.completed(details);
  return requests[0];
}

test('an answer has its server’s address and advertisement, and no protocol: its status line names none', () => {
  const request = ended(SCRIPT);
  assert.deepEqual(
    [request?.address, request?.altSvc, request?.protocol, request?.revalidated],
    ['127.0.0.1', 'h3=":443"; ma=2592000', null, false],
  );
});

test('a 304 that the page itself asked for is a confirmation, although nothing calls it cached', () => {
  const confirmed = { ...SCRIPT, statusCode: 304, statusLine: 'HTTP/1.1 304' };
  assert.equal(ended(confirmed)?.revalidated, true);
});

test('extensions’ own requests are nobody’s page', () => {
  assert.equal(ended({ ...SCRIPT, initiator: 'chrome-extension://abcdefgh' }), undefined);
});
