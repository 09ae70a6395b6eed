// Arbitrary HTTPS records and addresses as returned by the addon: no record bypasses the guard, and the parsed result
// keeps its limits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import { inputs } from '@photofinish/shared/testing/hostile';
import { serviceRecord } from '@photofinish/shared/testing/race-samples';
import fc from 'fast-check';
import { addressPolicy, classifyAddress } from '../address/guard.ts';
import { type Answer, guardAnswer } from './answer.ts';
import { createServiceReader } from './service.ts';

const octets = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
const ipv4 = fc.oneof(
  octets(4).map((all) => [...all].join('.')),
  fc.constantFrom(
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '255.255.255.255',
    '192.0.2.1',
    '8.8.8.8',
  ),
);
const ipv6 = fc.oneof(
  octets(16).map((all) =>
    Array.from({ length: 8 }, (_, n) => (((all[2 * n] ?? 0) << 8) | (all[2 * n + 1] ?? 0)).toString(16)).join(
      ':',
    ),
  ),
  fc.constantFrom(
    '::1',
    '::',
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
  ),
  fc.constantFrom('fd00::1', 'ff02::1', '2606:4700::1111'),
);
const name = fc.oneof(
  fc.constantFrom('a.test', 'b.test', '.', '', '_443._https.a.test', 'localhost', '127.0.0.1', '\\000.test'),
  fc.string({ maxLength: 300 }),
);
const identifier = fc.oneof(
  fc.constantFrom('h3', 'h2', 'http/1.1', 'h3-29', 'http/1.0', '\\x00', ''),
  fc.string({ maxLength: 255 }),
);
const record: fc.Arbitrary<ServiceRecord> = fc.record({
  owner: name,
  priority: fc.oneof(fc.constantFrom(0, 1, 65_535), fc.nat(65_535)),
  target: name,
  alpn: fc.array(identifier, { maxLength: 6 }),
  noDefaultAlpn: fc.boolean(),
  port: fc.option(fc.nat(65_535)),
  ipv4Hints: fc.array(ipv4, { maxLength: 4 }),
  ipv6Hints: fc.array(ipv6, { maxLength: 4 }),
  ech: fc.boolean(),
  incompatible: fc.boolean(),
  ttlSeconds: fc.nat(2 ** 31),
});
const address = fc.record({ address: fc.oneof(ipv4, ipv6, fc.string()), ttlSeconds: fc.nat() });
const addresses = fc.array(address, { maxLength: 12 });
const services = fc.oneof(
  { arbitrary: fc.array(record, { maxLength: 8 }), weight: 60 },
  // More than the limit.
  { arbitrary: record.map((one) => new Array(200).fill(one)), weight: 1 },
);
const answer: fc.Arbitrary<Answer> = fc.oneof(
  services.map((all) => ({ ok: true, kind: 'HTTPS', services: all }) as const),
  addresses.map((all) => ({ ok: true, kind: 'A', addresses: all }) as const),
);

const policy = addressPolicy([]);
const addressesIn = (given: Answer): string[] => {
  if (!given.ok) return [];
  if (given.kind !== 'HTTPS') return given.addresses.map(({ address }) => address);
  return given.services.flatMap(({ ipv4Hints, ipv6Hints }) => [...ipv4Hints, ...ipv6Hints]);
};

test('for any zone contents, only public addresses pass, and the result is sorted', () => {
  fc.assert(
    fc.property(answer, (given) => {
      const guarded = guardAnswer(given, policy, null);
      const passed = addressesIn(guarded.answer);
      for (const address of passed) assert.equal(classifyAddress(address), 'public', address);
      assert.equal(guarded.note === null, passed.length === addressesIn(given).length);
      if (!guarded.answer.ok || guarded.answer.kind !== 'HTTPS') return;
      const read = createServiceReader(() => 0.5)(guarded.answer.services);
      if (read.type !== 'services') return;
      assert.ok(read.services.length <= guarded.answer.services.length);
      const priorities = read.services.map(({ record: { priority } }) => priority);
      assert.deepEqual(
        priorities,
        priorities.toSorted((a, b) => a - b),
      );
      assert.ok(
        read.services.every(({ record: { incompatible, priority } }) => !incompatible && priority > 0),
      );
    }),
    inputs(10_000),
  );
});

test('the reader does find services, so that its output is really tested', () => {
  const two = new Array(2).fill(serviceRecord('a.test', { alpn: ['h3'] }));
  const read = createServiceReader(() => 0.5)(two);
  assert.equal(read.type === 'services' && read.services.length, 2);
});
