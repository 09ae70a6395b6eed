// Untrusted input about requests: a content script's batches come from a renderer that a page may have compromised, HAR
// entries from servers' own headers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputs, mutatedJson } from '@photofinish/shared/testing/hostile';
import { KNOWN_PROTOCOLS } from '@photofinish/shared/web/protocol';
import fc from 'fast-check';
import * as v from 'valibot';
import { type HarEntry, inspectedRequest } from '../../common/inspected/har.ts';
import { MAX_BATCH_ENTRIES, MAX_URL_CHARS } from '../../common/timing.ts';
import { arrivedSchema, leftSchema, timingBatchSchema } from './batch-queue.ts';

const timing = {
  navigation: true,
  url: 'https://a.test/',
  alpn: 'h3',
  deliveryType: '',
  startMs: 0,
  endMs: 9,
  firstByteMs: 5,
  transferBytes: 300,
  bodyBytes: 100,
  worker: false,
  opaque: false,
};
const batch = {
  type: 'timings',
  source: '7d444840-9dc0-41d1-b245-5ffdce74fad2',
  seq: 1,
  topOrigin: 'https://a.test',
  startedMs: 1_700_000_000_000,
  controlled: false,
  entries: [timing, { ...timing, navigation: false, url: 'https://b.test/x?y' }],
};
const BATCHES = [
  batch,
  { type: 'left', batches: [batch, { ...batch, seq: 2 }] },
  { ...batch, entries: Array(MAX_BATCH_ENTRIES).fill(timing) },
  { type: 'arrived', source: batch.source, arrival: 'bfcache' },
];

test('whatever a page sends as a batch, accepted ones are within all bounds', () => {
  assert.ok(
    v.is(timingBatchSchema, batch) && v.is(leftSchema, BATCHES[1]) && v.is(arrivedSchema, BATCHES[3]),
  );
  fc.assert(
    fc.property(mutatedJson(BATCHES), (value) => {
      v.is(leftSchema, value);
      v.is(arrivedSchema, value);
      const read = v.safeParse(timingBatchSchema, value);
      if (!read.success) return;
      assert.ok(read.output.entries.length >= 1 && read.output.entries.length <= MAX_BATCH_ENTRIES);
      for (const { url, startMs, endMs, transferBytes } of read.output.entries) {
        assert.ok(url.startsWith('https://') && url.length <= MAX_URL_CHARS);
        assert.ok([startMs, endMs, transferBytes].every((number) => number >= 0 && Number.isFinite(number)));
      }
    }),
    inputs(5000),
  );
});

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
  url: fc.oneof(
    fc.webUrl({ validSchemes: ['https', 'http'] }),
    fc.string(),
    fc.constantFrom('https://', 'https://%', ''),
  ),
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

test('what a page dates later than tomorrow has happened by now', () => {
  const laterMs = 9e15;
  const early = v.parse(timingBatchSchema, batch);
  assert.deepEqual([early.startedMs, early.entries[0]?.endMs], [batch.startedMs, timing.endMs]);
  const dated = { ...timing, startMs: laterMs, endMs: laterMs, firstByteMs: laterMs };
  const late = v.parse(timingBatchSchema, { ...batch, startedMs: laterMs, entries: [dated] });
  const [entry] = late.entries;
  for (const atMs of [late.startedMs, entry?.startMs, entry?.endMs, entry?.firstByteMs])
    assert.ok(atMs !== undefined && atMs <= Date.now());
});
