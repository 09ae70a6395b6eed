// What is concluded from each kind of response, and when Playwright's responses name what the extension cannot.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { joinedCounts, type ResponseFacts, type SeenResponse, seenResponse } from './responses.ts';

const H3: ResponseFacts = {
  browserName: 'chromium',
  httpVersion: 'h3',
  status: 200,
  fromServiceWorker: false,
  redirects: false,
  requestFields: ['accept'],
  responseBytes: 1200,
  requestStartMs: 4,
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
const seen = (some: Partial<ProtocolCounts>, complete = true) => ({ counts: counts(some), complete });

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
];

for (const [name, own, other] of OPEN)
  test(`nothing is joined: ${name}`, () =>
    assert.deepEqual(joinedCounts(counts(own), other), {
      extension: counts(own),
      playwright: NO_REQUESTS,
    }));

test('without the extension everything is Playwright’s', () => {
  const some = { h3: 2, unknown: 1 };
  assert.deepEqual(joinedCounts(null, seen(some, false)), {
    extension: NO_REQUESTS,
    playwright: counts(some),
  });
});
