import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputs, webUrl } from '@photofinish/shared/testing/hostile';
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';
import fc from 'fast-check';
import { type HarEntry, inspectedRequest, protocolOfVersion } from './inspected-request.ts';
import { MAX_URL_CHARS } from './timing.ts';

// Entries as recorded from Chromium 156 and Firefox 153 for one page each of a local server.
const chromium = {
  startedDateTime: '2026-11-21T16:33:49.439Z',
  time: 5.852000002050772,
  request: { method: 'GET', url: 'https://x.test:35391/page#part', httpVersion: 'http/2.0' },
  response: {
    status: 200,
    httpVersion: 'http/2.0',
    redirectURL: '',
    _transferSize: 75,
    _fetchedViaServiceWorker: false,
  },
  serverIPAddress: '127.0.0.1',
};
const firefox = {
  startedDateTime: '2026-11-21T16:41:51.986+00:00',
  time: 1,
  request: { method: 'GET', url: 'https://x.test:37873/cached', httpVersion: 'HTTP/2' },
  response: { status: 200, httpVersion: 'HTTP/2', redirectURL: '', headersSize: 133, bodySize: 144 },
  serverIPAddress: '127.0.0.1',
};

function chromiumOf(response: Partial<HarEntry['response']>, more: Partial<HarEntry> = {}) {
  return inspectedRequest({ ...chromium, ...more, response: { ...chromium.response, ...response } });
}

test('both browsers report protocol, time and bytes of what came over the network', () => {
  assert.deepEqual(inspectedRequest(chromium), {
    url: 'https://x.test:35391/page',
    method: 'GET',
    status: 200,
    protocol: 'h2',
    delivery: 'network',
    startMs: Date.UTC(2026, 10, 21, 16, 33, 49, 439),
    tookMs: 5.852000002050772,
    bytes: 75,
  });
  assert.deepEqual(inspectedRequest(firefox), {
    url: 'https://x.test:37873/cached',
    method: 'GET',
    status: 200,
    protocol: 'h2',
    delivery: 'network',
    startMs: Date.UTC(2026, 10, 21, 16, 41, 51, 986),
    tookMs: 1,
    bytes: 144,
  });
});

test('every spelling of a version is recognised, and no other', () => {
  for (const [version, protocol] of [
    ['h3', 'h3'],
    ['HTTP/3', 'h3'],
    ['h3-29', 'h3'],
    ['http/2.0', 'h2'],
    ['HTTP/2', 'h2'],
    ['HTTP/1.1', 'http/1.1'],
    ['http/1.1', 'http/1.1'],
    ['HTTP/1.0', 'http/1.0'],
    ['', null],
    ['data', null],
  ] as const)
    assert.equal(protocolOfVersion(version), protocol, version);
});

test('what a cache or a worker answered has no protocol, whatever version is reported', () => {
  const seen = (request: ReturnType<typeof inspectedRequest>) => [
    request?.delivery,
    request?.protocol,
    request?.bytes,
  ];
  assert.deepEqual(seen(chromiumOf({ _transferSize: 0 }, { _fromCache: 'disk' })), [
    'http-cache',
    null,
    null,
  ]);
  const byWorker = { httpVersion: 'http/1.1', _transferSize: 0, _fetchedViaServiceWorker: true };
  assert.deepEqual(seen(chromiumOf(byWorker)), ['service-worker', null, null]);
  const { serverIPAddress: _, ...stored } = firefox;
  assert.deepEqual(seen(inspectedRequest(stored)), ['http-cache', null, null]);
});

test('a revalidated copy crossed the network, and its protocol is unknown', () => {
  const confirmed = chromiumOf({ status: 304, _transferSize: 18 });
  assert.deepEqual([confirmed?.delivery, confirmed?.protocol, confirmed?.bytes], ['network', null, 18]);
});

test('without an answer, a date or https there is no request', () => {
  assert.equal(chromiumOf({ status: 0, httpVersion: '' }), null);
  assert.equal(inspectedRequest({ ...chromium, startedDateTime: 'soon' }), null);
  for (const url of ['http://x.test/', 'data:,', 'wss://x.test/', 'chrome-extension://abc/x.js'])
    assert.equal(inspectedRequest({ ...chromium, request: { method: 'GET', url } }), null, url);
});

test('a version that is the name of an Object property is no protocol', () => {
  for (const version of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
    assert.equal(protocolOfVersion(version), null, version);
});

// Untrusted: much of an entry consists of servers' own headers.

const ENTRIES: HarEntry[] = [
  {
    startedDateTime: '2026-01-01T00:00:00.000Z',
    time: 12.5,
    request: { method: 'GET', url: 'https://a.test/#x' },
    response: { status: 200, httpVersion: 'h3', _transferSize: 1200, redirectURL: '' },
    _resourceType: 'document',
  },
  {
    startedDateTime: '2026-01-01T00:00:00.000Z',
    time: 3,
    request: { method: 'POST', url: 'https://[2001:db8::1]:8443/' },
    response: { status: 304, httpVersion: 'HTTP/2', bodySize: 90 },
    serverIPAddress: '192.0.2.1',
  },
];
/** The part chosen by a server; the browser itself creates the rest, and its types. */
const byServer = fc.record({
  entry: fc.constantFrom(...ENTRIES),
  url: fc.oneof(webUrl('https', 'http'), fc.string(), fc.constantFrom('https://', 'https://%', '')),
  method: fc.string({ maxLength: 40 }),
  status: fc.integer(),
  httpVersion: fc.oneof(fc.constantFrom('h3-29', '__proto__', 'constructor', 'HTTP/1.0', ''), fc.string()),
  bytes: fc.option(fc.oneof(fc.integer(), fc.constantFrom(Number.NaN, 1e308))),
  time: fc.double(),
  at: fc.oneof(fc.constantFrom('', 'x', '+275760-09-13T00:00:00.001Z'), fc.string()),
});

test('whatever the developer tools report, a request has a known protocol and is https, or is dropped', () => {
  fc.assert(
    fc.property(byServer, ({ entry, url, method, status, httpVersion, bytes, time, at }) => {
      const told = inspectedRequest({
        ...entry,
        startedDateTime: at === 'x' ? entry.startedDateTime : at,
        time,
        request: { method, url },
        response: { ...entry.response, status, httpVersion, _transferSize: bytes },
      });
      if (told === null) return;
      assert.ok(told.url.startsWith('https://') && told.url.length <= MAX_URL_CHARS, told.url);
      assert.ok(told.protocol === null || KNOWN_PROTOCOLS.includes(told.protocol), String(told.protocol));
      assert.ok(told.method.length <= 16 && Number.isFinite(told.startMs));
      assert.ok(told.bytes === null || told.bytes > 0);
    }),
    inputs(5000),
  );
});
