// Random answers in random orders: the result of a resolution depends on the answers, never on their order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import fc from 'fast-check';
import { a, aaaa, DUAL_STACK, failing, https, NAT64, type Reply, resolve } from '../testing/resolution.ts';

const HOSTS = ['a.test', 'b.test', 'c.test', 'd.test'] as const;
const FORBIDDEN = '2001:db8:bad::';

const ipv6 = fc.constantFrom('2001:db8::1', '2001:db8::2', '2001:db8::3', '64:ff9b::c000:201', 'fd00::1');
const ipv4 = fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3', '127.0.0.1');

const record: fc.Arbitrary<Partial<ServiceRecord>> = fc
  .record({
    priority: fc.constantFrom(0, 1, 1, 1, 2, 3),
    target: fc.constantFrom(...HOSTS),
    alpn: fc.subarray(['h3', 'h2', 'http/1.1', 'foo']),
    noDefaultAlpn: fc.boolean(),
    port: fc.constantFrom(null, 443, 8443),
    ipv6Hints: fc.uniqueArray(ipv6, { maxLength: 2 }),
    ipv4Hints: fc.uniqueArray(ipv4, { maxLength: 2 }),
    incompatible: fc.constantFrom(false, false, true),
  })
  // Only an incompatible record can name this address, so it must never appear.
  .map((r) => (r.incompatible ? { ...r, priority: r.priority + 1, ipv6Hints: [FORBIDDEN] } : r));

/** A whole zone: each question is answered, with or without records, or fails. */
const zone: fc.Arbitrary<Reply[]> = fc
  .tuple(
    ...HOSTS.map((host) =>
      fc.tuple(
        fc.oneof(
          fc.array(record, { maxLength: 4 }).map((records) => https(host, 0, ...records)),
          fc.constant(failing('HTTPS', host, 0)),
        ),
        fc.oneof(
          { weight: 4, arbitrary: fc.uniqueArray(ipv6).map((list) => aaaa(host, 0, list)) },
          { weight: 1, arbitrary: fc.constant(failing('AAAA', host, 0)) },
        ),
        fc.uniqueArray(ipv4).map((list) => a(host, 0, list)),
      ),
    ),
  )
  .map((replies) => replies.flat());

const world = fc.record({
  replies: zone,
  delays: fc.array(fc.array(fc.nat({ max: 200 }), { minLength: 12, maxLength: 12 }), {
    minLength: 2,
    maxLength: 2,
  }),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  connectivity: fc.constantFrom(DUAL_STACK, NAT64),
  assumeH3: fc.boolean(),
  alternatives: fc.array(
    fc.record({
      alpn: fc.constant('h3'),
      host: fc.constantFrom('', 'a.test', 'b.test', '[2001:db8::9]'),
      port: fc.constantFrom(443, 8443),
      maxAgeSeconds: fc.constant(60),
      persist: fc.constant(false),
    }),
    { maxLength: 2 },
  ),
});

/** The zone's answers, and empty ones for the prefixed names, each after its own delay. */
function delayed(replies: readonly Reply[], delays: readonly number[]): Reply[] {
  const prefixed = HOSTS.slice(0, 2).map((host) => https(`_8443._https.${host}`, 0));
  return [...replies, ...prefixed].map((reply, i) => ({ ...reply, afterMs: delays[i % delays.length] ?? 0 }));
}

test('the final list is the same for any order of answers, given the same shuffles', () => {
  fc.assert(
    fc.property(world, ({ replies, delays, random, ...options }) => {
      const runs = delays.map((one) =>
        resolve({ ...options, random: () => random, replies: delayed(replies, one) }),
      );
      const [first, second] = runs.map((run) => run.lists.at(-1)?.endpoints ?? []);
      assert.deepEqual(second, first);
      for (const { lists, failure } of runs) {
        assert.ok(failure !== null || lists.at(-1)?.final, 'it ends');
        for (const { endpoints } of lists)
          for (const { address } of endpoints)
            assert.notEqual(address, FORBIDDEN, 'of an incompatible record');
      }
    }),
    { numRuns: 500 },
  );
});

/** The zone without what can remove endpoints again: aliases, replaced hints, and records that name no HTTP/3. */
function lasting(replies: readonly Reply[]): Reply[] {
  const given = { ipv6Hints: [], ipv4Hints: [], alpn: ['h3'], noDefaultAlpn: false };
  return replies.map(({ answer, ...reply }) => {
    if (!answer.ok || answer.kind !== 'HTTPS') return { ...reply, answer };
    const services = answer.services.map((r) => ({ ...r, ...given, priority: Math.max(r.priority, 1) }));
    return { ...reply, answer: { ...answer, services } };
  });
}

test('the first list comes at most one resolution delay after the first lasting address', () => {
  fc.assert(
    fc.property(world, ({ replies, delays, random, ...options }) => {
      const { lists, log } = resolve({
        ...options,
        random: () => random,
        replies: delayed(lasting(replies), delays[0] ?? []),
      });
      const waited = log.find((line) => line.includes('wait until'));
      if (waited === undefined || lists[0] === undefined) return;
      assert.ok(lists[0].atMs <= Number(waited.split(' ').at(-1)));
    }),
  );
});

test('every name in every list was named by the origin, a compatible record, or an alternative', () => {
  fc.assert(
    fc.property(world, ({ replies, delays, random, ...options }) => {
      const { lists } = resolve({
        ...options,
        random: () => random,
        replies: delayed(replies, delays[0] ?? []),
      });
      const named = new Set(['a.test', '2001:db8::9', ...options.alternatives.map(({ host }) => host)]);
      for (const { answer } of replies)
        if (answer.ok && answer.kind === 'HTTPS')
          for (const { target, incompatible } of answer.services) if (!incompatible) named.add(target);
      for (const { endpoints } of lists) for (const { host } of endpoints) assert.ok(named.has(host), host);
    }),
  );
});
