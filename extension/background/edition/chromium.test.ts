import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndedRequest } from '../observe/requests.ts';
import { createChromiumObserver } from './chromium.ts';

type CompletedDetails = chrome.webRequest.OnCompletedDetails;

/** Of a script requested by a page, as reported by Chromium 156, without unused fields. */
const REQUEST = {
  type: 'script',
  timeStamp: 1795275460053.5,
  tabId: 3,
  frameId: 0,
  documentId: '7CDAE9E8EA3AA06CD073527695C5D109',
  documentLifecycle: 'active',
  initiator: 'https://page.test',
  fromCache: false,
};

/** One that was answered. */
const SCRIPT = {
  requestId: '41',
  url: 'https://a.test/script.js',
  ...REQUEST,
  ip: '127.0.0.1',
  statusCode: 200,
  statusLine: 'HTTP/1.1 200',
  responseHeaders: [{ name: 'alt-svc', value: 'h3=":443"; ma=2592000' }],
} as unknown as CompletedDetails;

/** A script that Chromium blocked (Opaque Response Blocking): nothing about the answer is reported. */
const BLOCKED = {
  requestId: '42',
  url: 'https://a.test/page.html',
  ...REQUEST,
  error: 'net::ERR_BLOCKED_BY_ORB',
} as unknown as chrome.webRequest.OnErrorOccurredDetails;

function observing() {
  const requests: EndedRequest[] = [];
  const observer = createChromiumObserver({
    visited: () => {},
    ended: (request) => requests.push(request),
    navigationRedirected: () => {},
  });
  return { observer, requests };
}

function ended(details: CompletedDetails): EndedRequest | undefined {
  const { observer, requests } = observing();
  observer.completed(details);
  return requests[0];
}

test('an answer has its server’s address and advertisement, but no protocol: its status line names none', () => {
  const request = ended(SCRIPT);
  assert.deepEqual(
    [request?.address, request?.altSvc, request?.protocol, request?.revalidated],
    ['127.0.0.1', 'h3=":443"; ma=2592000', null, false],
  );
});

test('a 304 that the page itself requested is a revalidation, although nothing calls it cached', () => {
  const confirmed = { ...SCRIPT, statusCode: 304, statusLine: 'HTTP/1.1 304' };
  assert.equal(ended(confirmed)?.revalidated, true);
});

test('extensions’ own requests belong to no page', () => {
  assert.equal(ended({ ...SCRIPT, initiator: 'chrome-extension://abcdefgh' }), undefined);
});

test('a script that the browser blocked was answered; one that no server answered was not', () => {
  const { observer, requests } = observing();
  observer.failed(BLOCKED);
  observer.failed({ ...BLOCKED, error: 'net::ERR_NAME_NOT_RESOLVED' });
  assert.deepEqual(
    requests.map(({ answered, withheld, timingAllowed }) => [answered, withheld, timingAllowed]),
    [
      [true, true, null],
      [false, false, null],
    ],
  );
});

test('a document is one answer, with its header, from its head on, however it ends', () => {
  const page = { ...SCRIPT, requestId: '43', type: 'main_frame', url: 'https://a.test/' };
  for (const end of ['completed', 'failed'] as const) {
    const { observer, requests } = observing();
    observer.documentStarted(page as unknown as chrome.webRequest.OnResponseStartedDetails);
    assert.deepEqual(
      requests.map(({ kind, altSvc }) => [kind, altSvc]),
      [['navigation', 'h3=":443"; ma=2592000']],
    );
    // Perhaps after the background was started again.
    const { observer: later, requests: more } = observing();
    later[end]({ ...page, error: 'net::ERR_ABORTED' } as never);
    assert.deepEqual(more, [], end);
  }
});

test('what an `object` shows is the document of a frame, except an image that its page requested', () => {
  const framed = { ...SCRIPT, type: 'object', documentId: undefined };
  const image = { ...SCRIPT, type: 'object' };
  for (const [details, kind] of [[framed, 'frame'] as const, [image, 'resource'] as const]) {
    const { observer, requests } = observing();
    observer.documentStarted(details as unknown as chrome.webRequest.OnResponseStartedDetails);
    observer.completed(details as unknown as CompletedDetails);
    assert.deepEqual(
      requests.map((request) => request.kind),
      [kind],
    );
  }
});

test('that a font is not in the cache is no request of its page', () => {
  const { observer, requests } = observing();
  const miss = { ...BLOCKED, error: 'net::ERR_CACHE_MISS' };
  observer.failed({ ...miss, type: 'font' });
  assert.deepEqual(requests, []);
  observer.failed(miss);
  assert.equal(requests.length, 1);
});

test('an answer cut off when its page was left is not withheld', () => {
  const { observer, requests } = observing();
  observer.failed({ ...BLOCKED, ip: '127.0.0.1', error: 'net::ERR_ABORTED' });
  assert.deepEqual([requests[0]?.answered, requests[0]?.withheld], [true, false]);
});

test('an opaque answer that was cut off has no header, which says nothing about its server', () => {
  const bare = ended({ ...SCRIPT, responseHeaders: [] });
  assert.deepEqual([bare?.timingAllowed, bare?.withheld], [null, true]);
  assert.equal(ended(SCRIPT)?.timingAllowed, false);
});

test('timings are hidden if a redirect in the chain hid them', () => {
  const everybody = [{ name: 'Timing-Allow-Origin', value: '*' }];
  const allowedAfter = (responseHeaders: chrome.webRequest.HttpHeader[], ip?: string) => {
    const { observer, requests } = observing();
    const hop = { ...SCRIPT, ip, responseHeaders, redirectUrl: 'https://b.test/script.js' };
    observer.redirected(hop as unknown as chrome.webRequest.OnBeforeRedirectDetails);
    observer.completed({ ...SCRIPT, url: 'https://b.test/script.js', responseHeaders: everybody });
    return requests.at(-1)?.timingAllowed;
  };
  const nobody = [{ name: 'Location', value: 'https://b.test/script.js' }];
  assert.equal(allowedAfter(everybody, '127.0.0.1'), true);
  assert.equal(allowedAfter(nobody, '127.0.0.1'), false);
  assert.equal(allowedAfter(nobody), true, 'the browser’s own redirect is no server’s answer');
});
