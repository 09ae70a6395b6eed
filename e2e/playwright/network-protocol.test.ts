import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ResponseFacts, type SeenResponse, seenResponse } from './network-protocol.ts';

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
