// RFC 6724 section 6 on its own examples, the policy table, and the draft's two rules between rules 8 and 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareDestinations, type Destination, destinationOf, sourceOf } from './address-selection.ts';

interface Choice {
  readonly address: string;
  readonly source: string | null;
  readonly srttMs?: number;
}

function sorted(choices: readonly Choice[]): string[] {
  return choices
    .map(({ address, source, srttMs }) => ({
      address,
      is: destinationOf(address, source === null ? null : sourceOf(source), srttMs ?? null),
    }))
    .sort((a, b) => compareDestinations(a.is, b.is))
    .map(({ address }) => address);
}

function assertBefore(rule: string, first: Choice, second: Choice): void {
  const expected = [first.address, second.address];
  assert.deepEqual(sorted([first, second]), expected, rule);
  assert.deepEqual(sorted([second, first]), expected, `${rule}, given the other way round`);
}

type Example = readonly [address: string, source: string];
/** RFC 6724 section 10.2, without the two examples on home addresses. */
const EXAMPLES: readonly [rule: string, first: Example, second: Example][] = [
  ['prefer matching scope', ['2001:db8:1::1', '2001:db8:1::2'], ['198.51.100.121', '169.254.13.78']],
  ['prefer matching scope, IPv4', ['198.51.100.121', '198.51.100.117'], ['2001:db8:1::1', 'fe80::1']],
  ['prefer higher precedence', ['2001:db8:1::1', '2001:db8:1::2'], ['10.1.2.3', '10.1.2.4']],
  ['prefer smaller scope', ['fe80::1', 'fe80::2'], ['2001:db8:1::1', '2001:db8:1::2']],
  ['longest matching prefix', ['2001:db8:1::1', '2001:db8:1::2'], ['2001:db8:3ffe::1', '2001:db8:3f44::2']],
  [
    'prefer matching label',
    ['2002:c633:6401::1', '2002:c633:6401::2'],
    ['2001:db8:1::1', '2002:c633:6401::2'],
  ],
  [
    'prefer higher precedence, 6to4',
    ['2001:db8:1::1', '2001:db8:1::2'],
    ['2002:c633:6401::1', '2002:c633:6401::2'],
  ],
];

test('5.3: "First, the client MUST sort the endpoints using Destination Address Selection (RFC 6724, Section 6)"', () => {
  const choice = ([address, source]: Example): Choice => ({ address, source });
  for (const [rule, first, second] of EXAMPLES) assertBefore(rule, choice(first), choice(second));
});

test('rule 1: unusable destinations come last, whatever their other properties', () => {
  assertBefore(
    'no route',
    { address: '192.0.2.1', source: '198.51.100.1' },
    { address: '::1', source: null },
  );
  assertBefore('any route', { address: 'fec0::1', source: 'fe80::1' }, { address: '::1', source: null });
});

test('rule 5: their own labels separate unique local and Teredo sources from the public Internet', () => {
  const global = { address: '2001:db8::1', source: 'fd00::2' };
  assertBefore('ULA', { address: '192.0.2.1', source: '198.51.100.1' }, global);
  assertBefore('Teredo', { address: '192.0.2.1', source: '198.51.100.1' }, { ...global, source: '2001::2' });
});

test('rule 6: the default policy table', () => {
  const order = ['::1', '2001:db8::1', '192.0.2.1', '2002::1', '2001::1', 'fd00::1', 'fec0::1'];
  const precedence = order.map((address) => destinationOf(address, null, null).precedence);
  assert.deepEqual(precedence, [50, 40, 35, 30, 5, 3, 1]);
  for (const address of ['::ffff:192.0.2.1', '::192.0.2.1', '3ffe::1'])
    assert.equal(destinationOf(address, null, null).precedence, address.startsWith('::ffff') ? 35 : 1);
});

test('rule 8: loopback and link-local IPv4 have link-local scope', () => {
  for (const address of ['127.0.0.1', '169.254.1.1', 'fe80::1%eth0', '::1', 'ff02::1'])
    assert.equal(destinationOf(address, null, null).scope, 2, address);
  for (const address of ['10.0.0.1', '192.168.0.1', '100.64.0.1', 'fd00::1'])
    assert.equal(destinationOf(address, null, null).scope, 14, address);
});

const SOURCE = '2001:db8:1::2';

test('5.3: "it SHOULD add a Destination Address Selection rule between rules 8 and 9 that prefers addresses with lower RTTs"', () => {
  const quick = { address: '2001:db8:9::1', source: SOURCE, srttMs: 10 };
  const near = { address: '2001:db8:1::1', source: SOURCE, srttMs: 20 };
  assertBefore('before rule 9', quick, near);
  const wide = { address: '2001:db8:1::1', source: SOURCE, srttMs: 10 };
  assertBefore('after rule 8', { address: 'fe80::1', source: 'fe80::2', srttMs: 20 }, wide);
});

test('5.3: "between the RTT rule and rule 9, which prefers used addresses over unused ones"', () => {
  const used = { address: '2001:db8:9::1', source: SOURCE, srttMs: 900 };
  assertBefore('used', used, { address: '2001:db8:1::1', source: SOURCE });
});

test('rule 9: only the prefix of the source counts, and only within a family', () => {
  const same: Choice[] = [
    { address: '2001:db8:1::ff', source: SOURCE },
    { address: '2001:db8:1::3', source: SOURCE },
  ];
  assert.deepEqual(sorted(same), ['2001:db8:1::ff', '2001:db8:1::3']);
  const subnet: Choice[] = [
    { address: '192.0.2.200', source: '192.0.2.10' },
    { address: '192.0.2.11', source: '192.0.2.10' },
  ];
  assert.deepEqual(sorted(subnet), ['192.0.2.200', '192.0.2.11']);
});

test('rule 10: "Otherwise, leave the order unchanged"', () => {
  const many = Array.from({ length: 50 }, (_, i) => ({ address: `2001:db8:1::${i + 1}`, source: SOURCE }));
  assert.deepEqual(
    sorted(many),
    many.map(({ address }) => address),
  );
});

test('the rules define an order: the result of sorting does not depend on the input order', () => {
  const source = fc.constantFrom('2001:db8::1', 'fe80::1', 'fd00::1', '192.0.2.1', '169.254.1.1', null);
  const destination: fc.Arbitrary<Destination> = fc
    .tuple(fc.oneof(fc.ipV6(), fc.ipV4()), source, fc.option(fc.constantFrom(1, 5, 5.5)))
    .map(([address, from, srttMs]) => destinationOf(address, from === null ? null : sourceOf(from), srttMs));
  fc.assert(
    fc.property(destination, destination, destination, (a, b, c) => {
      assert.equal(Math.sign(compareDestinations(a, b)), -Math.sign(compareDestinations(b, a)) + 0);
      if (compareDestinations(a, b) <= 0 && compareDestinations(b, c) <= 0)
        assert.ok(compareDestinations(a, c) <= 0);
    }),
  );
});
