import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webUrl } from '@photofinish/shared/testing/hostile';
import { observationSchema } from '@photofinish/shared/web/observation';
import fc from 'fast-check';
import * as v from 'valibot';
import type { Timing } from '../../common/timing.ts';
import { ENDED_REQUEST, TIMING as visible } from '../../testing/samples.ts';
import { type JoinContext, missedObservation, observationOf } from './join.ts';
import type { EndedRequest } from './requests.ts';

const context: JoinContext = {
  id: 'x:1:0',
  site: 'a.test',
  outermost: true,
  controlled: false,
  fullSinceMs: 0,
};
const hidden: Timing = { ...visible, alpn: '', firstByteMs: 0, transferBytes: 0, bodyBytes: 0, opaque: true };
const request: EndedRequest = { ...ENDED_REQUEST, documentId: 'd', timingAllowed: false };

function joined(timing: Timing, from: EndedRequest | null, more: Partial<JoinContext> = {}) {
  const o = observationOf(timing, from, { ...context, ...more });
  return o && [o.protocol, o.reason ?? null, o.delivery];
}

test('a visible answer over the network has its protocol, bytes, address and advertisement', () => {
  assert.deepEqual(observationOf(visible, request, context), {
    id: 'x:1:0',
    origin: 'https://a.test',
    site: 'a.test',
    kind: 'resource',
    delivery: 'network',
    atMs: 1010,
    bytes: 400,
    address: '127.0.0.1',
    altSvc: 'h3=":443"',
    protocol: 'h3',
  });
});

test('a timing whose webRequest event was lost while the worker booted still counts', () => {
  assert.deepEqual(joined(visible, null), ['h3', null, 'network']);
  assert.deepEqual(joined(hidden, null, { fullSinceMs: 2000 }), ['unknown', 'not-exposed', 'network']);
});

test('an abandoned request is no observation, even if no event reported that it was abandoned', () => {
  const unseen = { fullSinceMs: 2000 };
  const atOnce = { ...hidden, endMs: hidden.startMs };
  assert.equal(joined(atOnce, null, unseen), null);
  assert.deepEqual(joined(atOnce, request, unseen), ['unknown', 'no-timing-allow-origin', 'network']);
  const onConnection = { ...visible, transferBytes: 0, bodyBytes: 0 };
  assert.equal(joined(onConnection, null, unseen), null);
  assert.deepEqual(joined({ ...onConnection, bodyBytes: 9 }, null, unseen), ['h3', null, 'http-cache']);
  assert.deepEqual(joined({ ...onConnection, navigation: true }, null, unseen), ['h3', null, 'network']);
});

test('a document that is reported before its end is of the time at which its response began', () => {
  const early = { ...visible, navigation: true, startMs: 1000, firstByteMs: 1900, endMs: 1000 };
  assert.equal(observationOf(early, request, context)?.atMs, 1900);
});

test('hidden by the site is unknown, never HTTP/1.1', () => {
  assert.deepEqual(joined(hidden, request), ['unknown', 'no-timing-allow-origin', 'network']);
});

test('what the browser hides on its own, or without reporting a head, is not attributed to the site', () => {
  for (const timingAllowed of [true, null])
    assert.deepEqual(joined(hidden, { ...request, timingAllowed }), ['unknown', 'not-exposed', 'network']);
});

test('a cache hit is no fresh outcome, whatever reports it as one', () => {
  assert.equal(joined({ ...visible, deliveryType: 'cache', transferBytes: 0 }, null)?.[2], 'http-cache');
  assert.equal(joined({ ...visible, transferBytes: 0 }, null)?.[2], 'http-cache');
  assert.equal(joined(hidden, { ...request, fromCache: true })?.[2], 'http-cache');
});

test('a cache hit carries neither bytes nor the old advertisement', () => {
  const o = observationOf(
    { ...visible, deliveryType: 'cache', transferBytes: 0 },
    { ...request, fromCache: true },
    context,
  );
  assert.equal(o?.bytes, null);
  assert.equal(o?.altSvc, undefined);
});

test('a revalidated answer crossed the network, but its protocol is that of the old answer', () => {
  const timing = { ...visible, deliveryType: 'cache', transferBytes: 300 };
  assert.deepEqual(joined(timing, { ...request, fromCache: true }), ['unknown', 'revalidated', 'network']);
  assert.deepEqual(joined(timing, null), ['unknown', 'revalidated', 'network']);
});

test('a 304 that the page requested itself is unknown, and so is what looks like one without an event', () => {
  const timing = { ...visible, alpn: 'h2', transferBytes: 300, bodyBytes: 0 };
  const confirmed = { ...request, revalidated: true };
  assert.deepEqual(joined(timing, confirmed), ['unknown', 'revalidated', 'network']);
  assert.deepEqual(joined(timing, null), ['unknown', 'not-exposed', 'network']);
  assert.deepEqual(joined({ ...timing, status: 0 }, null), ['unknown', 'not-exposed', 'network']);
  assert.deepEqual(joined({ ...timing, status: 204 }, null), ['h2', null, 'network']);
  assert.deepEqual(
    joined({ ...timing, initiator: 'fetch' }, null),
    ['h2', null, 'network'],
    'never in memory',
  );
  assert.deepEqual(joined(timing, request), ['h2', null, 'network'], 'an answer without content');
  assert.deepEqual(joined({ ...timing, navigation: true }, null), ['h2', null, 'network']);
  assert.deepEqual(joined({ ...timing, transferBytes: 301, bodyBytes: 1 }, null), ['h2', null, 'network']);
});

test('without an event a response with a part of the whole may be an older one’s, and has no protocol', () => {
  const part = { ...visible, status: 206, partial: true };
  assert.deepEqual(joined(part, null), ['unknown', 'not-exposed', 'network']);
  assert.deepEqual(joined(part, request), ['h3', null, 'network']);
});

test('without an event nobody knows which server answered after a redirect, except for the page itself', () => {
  const redirected = { ...visible, redirected: true };
  assert.deepEqual(joined(redirected, null), ['unknown', 'missed', 'network']);
  assert.deepEqual(joined({ ...redirected, navigation: true }, null), ['h3', null, 'network']);
  assert.deepEqual(joined(redirected, request), ['h3', null, 'network']);
});

test('the header that a document found in the HTTP cache is what its server advertises', () => {
  const stored = { ...visible, altSvc: 'h3=":8443"' };
  assert.equal(observationOf(stored, null, context)?.altSvc, 'h3=":8443"');
  assert.equal(
    observationOf(stored, request, context)?.altSvc,
    request.altSvc,
    'the event is the answer itself',
  );
  assert.equal(
    observationOf({ ...stored, deliveryType: 'cache', transferBytes: 0 }, null, context)?.altSvc,
    undefined,
  );
});

test('a stored response that was read and has no Alt-Svc header is recorded as read', () => {
  const readOf = (altSvc?: string) => {
    const timing = altSvc === undefined ? visible : { ...visible, altSvc };
    const o = observationOf(timing, null, context);
    return [o?.altSvc, o?.altSvcRead];
  };
  assert.deepEqual(readOf(''), [undefined, true]);
  assert.deepEqual(readOf('h3=":8443"'), ['h3=":8443"', true]);
  assert.deepEqual(readOf(), [undefined, undefined]);
});

test('what a service worker generated did not come over the network, although Chromium calls it cached', () => {
  const made = { ...visible, alpn: '', worker: true, deliveryType: 'cache', transferBytes: 0 };
  assert.deepEqual(joined(made, null), ['unknown', 'service-worker', 'service-worker']);
});

test('a worker that declines leaves the network answer as it is', () => {
  assert.deepEqual(joined({ ...visible, worker: true }, request), ['h3', null, 'network']);
  assert.deepEqual(joined({ ...hidden, worker: true }, request), [
    'unknown',
    'no-timing-allow-origin',
    'network',
  ]);
});

test('hidden, and not seen by a running webRequest listener: the network was not used', () => {
  assert.equal(joined(hidden, null)?.[2], 'http-cache');
  assert.equal(joined(hidden, null, { controlled: true })?.[2], 'service-worker');
});

test('a prefetched page is delivered by prefetch', () => {
  const timing = { ...visible, navigation: true, deliveryType: 'navigational-prefetch' };
  assert.equal(joined(timing, null)?.[2], 'prefetch');
});

test('only the outermost document is a navigation', () => {
  const timing = { ...visible, navigation: true };
  assert.equal(observationOf(timing, null, context)?.kind, 'navigation');
  assert.equal(observationOf(timing, null, { ...context, outermost: false })?.kind, 'resource');
});

test('after redirects the answer belongs to the last origin', () => {
  const o = observationOf(visible, { ...request, url: 'https://b.test/y' }, context);
  assert.equal(o?.origin, 'https://b.test');
});

test('what failed before any answer is no outcome', () => {
  assert.equal(observationOf(hidden, { ...request, answered: false }, context), null);
});

test('an answer without a timing is counted as missed, with what webRequest knows about it', () => {
  const identity = { id: 'm', site: 'a.test', kind: 'resource' } as const;
  const o = missedObservation(request, identity);
  assert.deepEqual([o?.protocol, o?.reason, o?.altSvc], ['unknown', 'missed', 'h3=":443"']);
  const cutOff = missedObservation({ ...request, timingAllowed: null }, identity);
  assert.equal(cutOff?.reason, 'missed', 'its page was left, which hides nothing');
  const blocked = missedObservation({ ...request, timingAllowed: null, withheld: true }, identity);
  assert.deepEqual([blocked?.protocol, blocked?.reason], ['unknown', 'not-exposed']);
  const cached = missedObservation({ ...request, fromCache: true }, identity);
  assert.deepEqual([cached?.delivery, cached?.altSvc], ['http-cache', undefined]);
});

test('an answer that names its protocol itself is trusted, whatever its site hides', () => {
  assert.deepEqual(joined(hidden, { ...request, protocol: 'h3' }), ['h3', null, 'network']);
  assert.deepEqual(joined({ ...visible, alpn: 'h2' }, { ...request, protocol: 'h3' }), [
    'h3',
    null,
    'network',
  ]);
  const missed = missedObservation(
    { ...request, protocol: 'h3' },
    { id: 'm', site: 'a.test', kind: 'resource' },
  );
  assert.deepEqual([missed?.protocol, missed?.reason], ['h3', undefined]);
});

test('a 304 names its own protocol; the reported size is that of the stored body', () => {
  const confirmed = { ...request, protocol: 'h3', revalidated: true } as const;
  const timing = { ...visible, alpn: 'h2', transferBytes: 11_807 };
  assert.deepEqual(joined(timing, confirmed), ['h3', null, 'network']);
  assert.equal(observationOf(timing, confirmed, context)?.bytes, null);
});

test('whatever a page sends, an observation fits its schema', () => {
  const ms = fc.double({ min: 0, max: 4e12, noNaN: true });
  const timing: fc.Arbitrary<Timing> = fc.record({
    navigation: fc.boolean(),
    url: fc.oneof(webUrl('https'), fc.string()),
    alpn: fc.oneof(fc.constantFrom('', 'h3', 'h2', 'http/1.1', 'h3-29'), fc.string()),
    deliveryType: fc.oneof(fc.constantFrom('', 'cache', 'navigational-prefetch'), fc.string()),
    startMs: ms,
    endMs: ms,
    firstByteMs: ms,
    transferBytes: fc.nat(),
    bodyBytes: fc.nat(),
    worker: fc.boolean(),
    redirected: fc.boolean(),
    initiator: fc.constantFrom('script', 'fetch'),
    status: fc.constantFrom(0, 200, 204, 206),
    partial: fc.boolean(),
    opaque: fc.boolean(),
  });
  const facts = fc.option(
    fc.record({
      fromCache: fc.boolean(),
      answered: fc.boolean(),
      timingAllowed: fc.option(fc.boolean()),
      withheld: fc.boolean(),
      url: webUrl('https'),
    }),
  );
  fc.assert(
    fc.property(timing, facts, fc.boolean(), ms, (t, facts, controlled, fullSinceMs) => {
      const from = facts && { ...request, ...facts };
      const o = observationOf(t, from, { ...context, controlled, fullSinceMs });
      if (o !== null) v.parse(observationSchema, o);
    }),
  );
});
