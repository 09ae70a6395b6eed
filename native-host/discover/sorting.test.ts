// Section 5 of the Happy Eyeballs v3 draft end to end: groups by service, their order, and the order within them; then
// section 5.3's interleaving: the example of the rule, and properties that hold for every group. And RFC 6724 section 6
// on its own examples, the policy table, and the draft's two rules between rules 8 and 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransportName } from '@photofinish/shared/race/terms';
import fc from 'fast-check';
import {
  a,
  aaaa,
  DUAL_STACK,
  https,
  IPV6_ONLY,
  type Reply,
  resolve,
  type Testbed,
} from '../testing/resolution.ts';
import { type Endpoint, MAX_ENDPOINTS } from './discoverer.ts';
import {
  areEnough,
  compareDestinations,
  createSorting,
  type Destination,
  destinationOf,
  firstEndpoints,
  interleave,
  sourceOf,
} from './sorting.ts';

const ORIGIN = [aaaa('a.test', 10, ['2001:db8::1']), a('a.test', 10, ['192.0.2.1'])];

function last(replies: readonly Reply[], more: Partial<Testbed> = {}): readonly string[] {
  return resolve({ replies: [...replies, ...ORIGIN], ...more }).last;
}

function hinted(priority: number, target: string, address: string, alpn: string[] = ['h2']) {
  return { priority, target, alpn, ipv6Hints: [address] };
}

test('5.1: without service information "all answers belong to one group"', () => {
  assert.deepEqual(last([https('a.test', 5)]), ['h2 2001:db8::1', 'h2 192.0.2.1']);
});

test('5.1: endpoints that share application protocols share a group, and an endpoint with two protocols is in both', () => {
  const services = [
    hinted(1, 'svc1.test', '2001:db8::2', ['h3', 'h2']),
    hinted(2, 'svc2.test', '2001:db8::4'),
  ];
  assert.deepEqual(last([https('a.test', 5, ...services)], { connectivity: IPV6_ONLY }), [
    'h3 2001:db8::2',
    'h2 2001:db8::2',
    'h2 2001:db8::4',
    'h2 2001:db8::1',
  ]);
});

test('5.1.1: "Clients SHOULD avoid grouping and sorting separately" by protocol: a better service precedes HTTP/3', () => {
  const services = [hinted(1, 'tcp.test', '2001:db8::2'), hinted(2, 'quic.test', '2001:db8::4', ['h3'])];
  assert.deepEqual(last([https('a.test', 5, ...services)]).slice(0, 2), ['h2 2001:db8::2', 'h3 2001:db8::4']);
});

test('5.2: "service-based groups SHOULD then be sorted using the service priority"', () => {
  const services = [30, 2, 1000, 1].map((priority) =>
    hinted(priority, `s${priority}.test`, `2001:db8::${priority}`),
  );
  assert.deepEqual(last([https('a.test', 5, ...services)]).slice(0, 4), [
    'h2 2001:db8::1',
    'h2 2001:db8::2',
    'h2 2001:db8::30',
    'h2 2001:db8::1000',
  ]);
});

test('5.2: endpoints of a service "SHOULD be separated into a group": its worse addresses precede the next service\'s', () => {
  const one = { ...hinted(1, 'one.test', '2001:db8::2'), ipv4Hints: ['192.0.2.2', '192.0.2.3'] };
  assert.deepEqual(last([https('a.test', 5, hinted(2, 'two.test', '2001:db8::4'), one)]), [
    'h2 2001:db8::2',
    'h2 192.0.2.2',
    'h2 192.0.2.3',
    'h2 2001:db8::4',
    'h2 2001:db8::1',
    'h2 192.0.2.1',
  ]);
});

test('5.2: "the priority of that SVCB record applies to any A or AAAA records for the same owner name"', () => {
  const own = { priority: 1, alpn: ['h2'] };
  assert.deepEqual(last([https('a.test', 5, hinted(2, 'two.test', '2001:db8::4'), own)]), [
    'h2 2001:db8::1',
    'h2 192.0.2.1',
    'h2 2001:db8::4',
  ]);
});

test('5.2: groups of "the same priority, the client SHOULD shuffle these groups randomly", and only once', () => {
  const services = [2, 3, 4].map((n) => hinted(1, `s${n}.test`, `2001:db8::${n}`));
  const orders = new Map<string, number>();
  for (let i = 0; i < 600; i += 1) {
    const { lists } = resolve({
      connectivity: IPV6_ONLY,
      random: () => i / 600,
      replies: [https('a.test', 5, ...services), aaaa('a.test', 30, ['2001:db8::1'])],
    });
    const [first, second] = lists.map(({ endpoints }) =>
      endpoints
        .slice(0, 3)
        .map((e) => e.host)
        .join(),
    );
    assert.equal(second, first, 'a later answer does not shuffle anew');
    orders.set(first ?? '', (orders.get(first ?? '') ?? 0) + 1);
  }
  assert.equal(orders.size, 6);
  for (const [order, count] of orders) assert.ok(count > 60 && count < 150, `${order}: ${count} of 600`);
});

test('5.2: "the unassociated addresses SHOULD be put in a group of endpoints that is prioritized at the end"', () => {
  assert.deepEqual(last([https('a.test', 5, hinted(65_535, 'svc.test', '2001:db8::2'))]), [
    'h2 2001:db8::2',
    'h2 2001:db8::1',
    'h2 192.0.2.1',
  ]);
});

const PAIR = ['2001:db8::1', '2001:db8::2'];
const USED_SECOND = new Map([['2001:db8::2', 20]]);

function firstOf(random: number): string | undefined {
  return resolve({
    connectivity: IPV6_ONLY,
    history: USED_SECOND,
    random: () => random,
    replies: [https('a.test', 5), aaaa('a.test', 5, PAIR)],
  }).last[0];
}

test('5.3: addresses with lower round-trip times, and those used before, come first', () => {
  assert.equal(firstOf(0.5), 'h2 2001:db8::2');
});

test('5.3: clients "MUST ensure that clients with different historical data will eventually converge": one in 16 ignores history', () => {
  assert.deepEqual([0, 0.0624, 1 / 16, 0.99].map(firstOf), [
    'h2 2001:db8::1',
    'h2 2001:db8::1',
    'h2 2001:db8::2',
    'h2 2001:db8::2',
  ]);
});

test('rule 1 still holds after interleaving: a family without a route follows the other, instead of alternating with it', () => {
  const sourceFor = (address: string): string | null => (address.includes(':') ? '2001:db8:f::1' : null);
  const replies = [https('a.test', 5), aaaa('a.test', 5, PAIR), a('a.test', 5, ['192.0.2.1'])];
  assert.deepEqual(resolve({ connectivity: DUAL_STACK, sourceFor, replies }).last, [
    'h2 2001:db8::1',
    'h2 2001:db8::2',
    'h2 192.0.2.1',
  ]);
});

test('a list is announced again if an endpoint of it now has another host or source', () => {
  const services = [hinted(1, 'one.test', '2001:db8::2'), hinted(2, 'two.test', '2001:db8::2')];
  const listed = (connectivity: typeof DUAL_STACK, ...replies: Reply[]) =>
    resolve({ connectivity, replies })
      .lists.filter(({ final }) => !final)
      .map(({ endpoints: [first] }) => [first?.host, first?.source]);
  assert.deepEqual(listed(IPV6_ONLY, https('a.test', 5, ...services), aaaa('one.test', 30, [])), [
    ['one.test', 'https-record'],
    ['two.test', 'https-record'],
  ]);
  const late = https('a.test', 99, { alpn: ['h2'] });
  assert.deepEqual(listed(DUAL_STACK, aaaa('a.test', 5, ['2001:db8::2']), late), [
    ['a.test', 'origin'],
    ['a.test', 'https-record'],
  ]);
});

test('an endpoint named by two services is tried once, with the better one', () => {
  const services = [hinted(1, 'one.test', '2001:db8::2'), hinted(2, 'two.test', '2001:db8::2', ['h3', 'h2'])];
  const { lists } = resolve({ replies: [https('a.test', 5, ...services)] });
  assert.deepEqual(
    lists[0]?.endpoints.map((e) => `${e.transport} ${e.host}`),
    ['h2 one.test', 'h3 two.test'],
  );
});

test('the system is asked for a route once per address, however often the list is sorted', () => {
  let asked = 0;
  const sourceFor = (): string => {
    asked += 1;
    return '2001:db8:f::1';
  };
  const sort = createSorting({ nat64Prefix: null, history: new Map(), sourceFor });
  const group = Array.from({ length: 64 }, (_, i) => `2001:db8::${(i + 1).toString(16)}`).flatMap((address) =>
    (['h3', 'h2'] as const).map((transport) => ({
      transport,
      address,
      port: 443,
      host: 'a.test',
      source: 'origin' as const,
    })),
  );
  sort([group.slice(0, 2), []]);
  assert.equal(asked, 0, 'a single address needs no route');
  const late = group.map((endpoint) => ({ ...endpoint, port: 8443 }));
  for (let i = 0; i < 3; i += 1) assert.equal(sort([group, late]).length, 128);
  assert.equal(asked, 64);
});

test('endpoints are sorted by the sources that the system would use, and each port and transport is one', () => {
  const at = (address: string, transport: TransportName, port = 443): Endpoint => ({
    ...{ transport, address, port, host: 'a.test', source: 'origin' },
  });
  const both = [at('2001:db8::1', 'h2'), at('192.0.2.1', 'h2')];
  for (const [ipv6, first] of [
    ['2001:db8::2', '2001:db8::1'],
    ['fe80::2', '192.0.2.1'],
  ] as const) {
    const sourceFor = (address: string) => (address.includes(':') ? ipv6 : '192.0.2.2');
    const sort = createSorting({ nat64Prefix: null, history: new Map(), sourceFor });
    assert.equal(sort([both])[0]?.address, first);
    const ports = [at('192.0.2.1', 'h3'), at('192.0.2.1', 'h2', 444), at('192.0.2.1', 'h2', 445)];
    assert.equal(sort([[...ports, ...ports]]).length, 3);
  }
});

interface Item {
  readonly transport: 'h3' | 'h2';
  readonly family: 'ipv6' | 'ipv4';
  readonly name: string;
}

function item(text: string): Item {
  const [transport = '', family = ''] = text.split('/');
  return {
    transport: transport as Item['transport'],
    family: family.startsWith('v6') ? 'ipv6' : 'ipv4',
    name: text,
  };
}

function names(...texts: string[]): string[] {
  return interleave(texts.map(item)).map(({ name }) => name);
}

test('5.3: "the client SHOULD modify the ordered list to interleave address families"', () => {
  assert.deepEqual(names('h3/v6a', 'h2/v6a', 'h3/v6b', 'h2/v6b', 'h3/v4a', 'h2/v4a', 'h3/v4b', 'h2/v4b'), [
    'h3/v6a',
    'h3/v4a',
    'h2/v6a',
    'h2/v4a',
    'h3/v6b',
    'h3/v4b',
    'h2/v6b',
    'h2/v4b',
  ]);
});

test('5.3: "Whichever address family is first in the list should be followed by an endpoint of the other"', () => {
  assert.deepEqual(names('h2/v4a', 'h2/v4b', 'h2/v6a'), ['h2/v4a', 'h2/v6a', 'h2/v4b']);
  assert.deepEqual(
    names('h3/v6a', 'h2/v6a', 'h2/v4a'),
    ['h3/v6a', 'h2/v4a', 'h2/v6a'],
    'another protocol, too',
  );
});

test('families alternate while there are two, nothing is lost, and equal entries keep their order', () => {
  const items = fc.array(
    fc.record({ transport: fc.constantFrom('h3', 'h2'), family: fc.constantFrom('ipv6', 'ipv4') }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(items, (list) => {
      const numbered = list.map((one, i) => ({ ...one, i }));
      const out = interleave(numbered);
      assert.deepEqual(
        out.map(({ i }) => i).toSorted((a, b) => a - b),
        numbered.map(({ i }) => i),
      );
      assert.equal(out[0]?.family, list[0]?.family);
      const fewer = Math.min(
        ...(['ipv6', 'ipv4'] as const).map((f) => list.filter((o) => o.family === f).length),
      );
      for (let k = 1; k < 2 * fewer; k += 1) assert.notEqual(out[k]?.family, out[k - 1]?.family);
      for (const transport of ['h3', 'h2'])
        for (const family of ['ipv6', 'ipv4']) {
          const order = out.filter((o) => o.transport === transport && o.family === family).map(({ i }) => i);
          assert.deepEqual(
            order,
            order.toSorted((a, b) => a - b),
          );
        }
    }),
  );
});

function places(transport: TransportName, count: number, net = '192.0.2'): Endpoint[] {
  return Array.from({ length: count }, (_, i) => ({
    ...{ transport, address: `${net}.${i}`, port: 443, host: 'a.test', source: 'origin' },
  }));
}

function counts(endpoints: readonly Endpoint[]): [h3: number, h2: number] {
  const h3 = endpoints.filter(({ transport }) => transport === 'h3').length;
  return [h3, endpoints.length - h3];
}

test('a list short enough for a race is unchanged', () => {
  const list = [...places('h3', 12), ...places('h2', 12)];
  assert.deepEqual(firstEndpoints(list), { endpoints: list, untried: 0 });
});

test('a longer one is truncated, and neither transport displaces the other', () => {
  for (const [h3, h2, expected] of [
    [200, 200, [12, 12]],
    [200, 3, [21, 3]],
    [0, 200, [0, 24]],
    [200, 0, [24, 0]],
  ] as const) {
    const list = [...places('h3', h3), ...places('h2', h2)];
    const { endpoints, untried } = firstEndpoints(list);
    assert.deepEqual(counts(endpoints), expected);
    assert.equal(endpoints.length, MAX_ENDPOINTS);
    assert.deepEqual(
      endpoints,
      list.filter((endpoint) => endpoints.includes(endpoint)),
    );
    assert.equal(untried, Math.max(h3, h2) - Math.max(...expected));
  }
});

test('an address counts as tried if either transport tries it', () => {
  const list = [...places('h3', 13), ...places('h2', 12)];
  assert.deepEqual([firstEndpoints(list).endpoints.length, firstEndpoints(list).untried], [24, 1]);
  const apart = [...places('h3', 20), ...places('h2', 20, '198.51.100')];
  assert.equal(firstEndpoints(apart).untried, 16);
});

test('entries after enough of both transports change nothing', () => {
  const enough = [...places('h3', 12), ...places('h2', 12)];
  assert.equal(areEnough(enough), true);
  for (const more of [places('h3', 30, '198.51.100'), places('h2', 30, '198.51.100')])
    assert.deepEqual(firstEndpoints([...enough, ...more]).endpoints, enough);
  for (const few of [[], places('h3', 40), [...places('h3', 40), ...places('h2', 11)]])
    assert.equal(areEnough(few), false);
});

test('addresses that were named but not even sorted count as untried', () => {
  const sorted = [...places('h3', 12), ...places('h2', 12)];
  assert.equal(firstEndpoints(sorted, [sorted, places('h2', 100, '198.51.100')]).untried, 100);
});

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
  const labels = [...order, '3ffe:8000::1', 'feff::1', '2001:0:8000::1', '::ffff:1.2.3.4', '::192.0.2.1'];
  assert.deepEqual(
    labels.map((address) => sourceOf(address).label),
    [0, 1, 4, 2, 5, 13, 11, 12, 11, 5, 4, 3],
  );
  for (const address of ['::ffff:192.0.2.1', '::192.0.2.1', '3ffe::1'])
    assert.equal(destinationOf(address, null, null).precedence, address.startsWith('::ffff') ? 35 : 1);
});

test('rule 8: loopback and link-local IPv4 have link-local scope', () => {
  for (const address of ['127.0.0.1', '169.254.1.1', 'fe80::1%eth0', '::1', 'ff02::1'])
    assert.equal(destinationOf(address, null, null).scope, 2, address);
  for (const address of ['fec0::1', 'feff::1', 'ff05::1'])
    assert.equal(destinationOf(address, null, null).scope, 5, address);
  const global = ['fd00::1', 'fd80::1', 'fdc0::1', 'fe00::1', '::2', '169.1.0.1', '10.254.0.1'];
  for (const address of ['10.0.0.1', '192.168.0.1', '100.64.0.1', ...global])
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
  assert.equal(destinationOf('2001:db8:1::3', sourceOf(SOURCE), null).commonBits, 64);
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
