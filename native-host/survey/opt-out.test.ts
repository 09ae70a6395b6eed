// Who does not want to be raced is not raced, under whatever name or address; a bad entry is reported, never skipped.
// Readers of the bucket never have a part of a list in force, and writers keep each other's entries.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOrigin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import { Complaint } from '../cli/usage.ts';
import { JetStreamApiCodes, JetStreamApiError, type KvEntry } from './nats.ts';
import {
  addToOptOut,
  type ListStore,
  NO_LIST,
  type OptOut,
  type OptOutList,
  optOut,
  optOutChanged,
  partsOf,
} from './opt-out.ts';

function reading(...entries: readonly string[]): OptOut {
  const result = optOut(entries);
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result.value;
}

function refused(list: OptOut, ...hosts: readonly string[]): string[] {
  return hosts.filter((host) => list.refusesHost(host));
}

test('a name covers itself and everything below it, and nothing else', () => {
  const list = reading('example.org', 'Sub.Example.NET.', ' spaced.test ');
  const below = [
    'example.org',
    'www.example.org',
    'a.b.c.example.org',
    'example.org.',
    'sub.example.net',
    'spaced.test',
  ];
  assert.deepEqual(refused(list, ...below), below);
  assert.deepEqual(
    refused(list, 'notexample.org', 'example.org.test', 'example.net', 'org', 'a.example'),
    [],
  );
});

test('a name in Unicode covers hosts as origins have them, in A-label form', () => {
  const origin = parseOrigin('https://www.Bücher.example');
  assert.ok(origin.ok);
  assert.ok(reading('bücher.example').refusesHost(origin.value.host));
  assert.ok(reading('xn--bcher-kva.example').refusesHost(origin.value.host));
  assert.ok(!reading('bucher.example').refusesHost(origin.value.host));
});

test('addresses and networks of both families', () => {
  const list = reading('192.0.2.7', '198.51.100.0/24', '2001:db8::/32', '2001:DB9:0::1');
  for (const address of [
    '192.0.2.7',
    '198.51.100.255',
    '2001:db8:ffff::1',
    '2001:db9::1',
    '2001:db9::0001%eth0',
  ])
    assert.ok(list.refusesAddress(address), address);
  for (const address of ['192.0.2.8', '198.51.101.0', '2001:db9::2', '2001:db7::1'])
    assert.ok(!list.refusesAddress(address), address);
  assert.deepEqual(refused(list, '192.0.2.7', '2001:db8::1', '192.0.2.8'), ['192.0.2.7', '2001:db8::1']);
  assert.ok(!list.refusesHost('192.0.2.7.example'));
});

test('an IPv4 address is refused in IPv6, too', () => {
  const list = reading('192.0.2.0/24');
  for (const address of ['64:ff9b::192.0.2.1', '64:ff9b::c000:201', '2002:c000:201::1', '::ffff:192.0.2.1'])
    assert.ok(list.refusesAddress(address), address);
  assert.ok(!list.refusesAddress('64:ff9b::192.0.3.1'));
  assert.ok(!list.refusesAddress('2001:db8:64::192.0.2.1'));
  assert.ok(list.refusesAddress('2001:db8:64::192.0.2.1', '2001:db8:64::/96'));
});

test('an empty list refuses nobody; what is not an address is no answer', () => {
  const list = reading();
  assert.deepEqual(refused(list, 'example.org', '192.0.2.1'), []);
  assert.throws(() => list.refusesAddress('example.org'), TypeError);
});

const BAD: readonly (readonly [string, RegExp])[] = [
  ['', /^"" is not a name, an address or a network: /],
  ['https://example.org', /without scheme, port and path/],
  ['example.org:443', /without scheme, port and path/],
  ['user@example.org', /without scheme, port and path/],
  ['example.org/path', /slash and a prefix length/],
  ['*.example.org', /"example\.org" is enough/],
  ['example..org', /nothing between two dots/],
  ['exa mple.org', /exa mple\.org/],
  ['127.1', /write the address as 127\.0\.0\.1/],
  ['192.0.2.0/33', /from 0 to 32/],
  ['2001:db8::/129', /from 0 to 128/],
  ['192.0.2.0/', /from 0 to 32/],
  ['192.0.2.0/-1', /from 0 to 32/],
  ['192.0.2.0/24/8', /slash and a prefix length/],
  ['fe80::1%eth0', /no zone/],
  ['fe80::%eth0/10', /slash and a prefix length/],
  ['[::1]', /without scheme, port and path/],
];

for (const [entry, words] of BAD)
  test(`the entry "${entry}" is reported`, () => {
    const result = optOut(['example.org', entry]);
    assert.ok(!result.ok);
    assert.match(result.message, words);
    assert.ok(result.message.startsWith(`"${entry}" `));
  });

const HEAD = 'opt-out';
const ONE = '11111111-89ab-4cde-8f01-23456789abcd';
const TWO = '22222222-89ab-4cde-8f01-23456789abcd';
const encoder = new TextEncoder();

type Change = readonly [key: string, value: unknown];

function after(changes: readonly Change[], list: OptOutList = NO_LIST): OptOutList {
  return changes.reduce(
    (before, [key, value]) => optOutChanged(before, key, encoder.encode(JSON.stringify(value))),
    list,
  );
}

/** A list of two parts as it is written. */
function written(generation: string, name: string): readonly Change[] {
  return [
    [`opt-out.${generation}.0`, [`${name}-a.test`, `${name}-b.test`]],
    [`opt-out.${generation}.1`, [`${name}-c.test`]],
    [HEAD, { generation, parts: 2, entries: 3 }],
  ];
}
const wholeOf = (name: string) => [`${name}-a.test`, `${name}-b.test`, `${name}-c.test`];
const FIRST = after(written(ONE, 'one'));

test('a list is in force with its head, all of it at once', () => {
  const changes = written(ONE, 'one');
  for (let n = 0; n < changes.length; n += 1) assert.deepEqual(after(changes.slice(0, n)).entries, []);
  assert.deepEqual([FIRST.entries, FIRST.isWhole], [wholeOf('one'), true]);
});

test('the list before is in force until the new one is whole, in whatever order its keys arrive', () => {
  const changes = written(TWO, 'two');
  fc.assert(
    fc.property(fc.shuffledSubarray([...changes], { minLength: 3 }), (order) => {
      for (let n = 0; n < order.length; n += 1)
        assert.deepEqual(after(order.slice(0, n), FIRST).entries, wholeOf('one'));
      assert.deepEqual(after(order, FIRST).entries, wholeOf('two'));
    }),
  );
});

test('a list without one of its parts is not whole, and not in force', () => {
  for (const missing of [0, 1]) {
    const list = after(written(TWO, 'two').toSpliced(missing, 1), FIRST);
    assert.deepEqual([list.entries, list.isWhole], [wholeOf('one'), false]);
    assert.deepEqual(after(written(TWO, 'two').slice(missing, missing + 1), list).entries, wholeOf('two'));
  }
});

const UNFIT: readonly Change[] = [
  [HEAD, ['example.org']],
  [HEAD, { generation: 'two', parts: 2, entries: 3 }],
  [HEAD, { generation: TWO, parts: 1001, entries: 3 }],
  [HEAD, { generation: TWO, parts: 2, entries: 500_001 }],
  [HEAD, { generation: TWO, parts: -1, entries: 3 }],
  [HEAD, null],
];

test('a head that does not fit changes nothing', () => {
  for (const change of UNFIT) assert.equal(after([change], FIRST), FIRST, JSON.stringify(change));
});

test('a part that does not fit, or has not what the head says, is as good as none', () => {
  const [, second = ['', null], head = ['', null]] = written(TWO, 'two');
  for (const part of ['x', [7], ['a'.repeat(254), 'b.test'], ['a.test'], null]) {
    const list = after([[`opt-out.${TWO}.0`, part], second, head], FIRST);
    assert.deepEqual([list.entries, list.isWhole], [wholeOf('one'), false], JSON.stringify(part));
  }
});

test('a head that is removed ends the list, and the removal of a replaced part nothing', () => {
  assert.deepEqual(optOutChanged(FIRST, HEAD, null), NO_LIST);
  assert.equal(optOutChanged(FIRST, `opt-out.${ONE}.0`, null), FIRST);
});

test('what a writer left that was overtaken is not kept in memory', () => {
  const abandoned = after([[`opt-out.${ONE}.0`, ['a.test']]]);
  assert.equal(abandoned.parts.size, 1);
  assert.equal(after(written(TWO, 'two'), abandoned).parts.size, 0);
});

test('parts fit into messages and hold everything in its order', () => {
  const entries = Array.from({ length: 5000 }, (_, i) => `${'ü'.repeat(200)}${i}.test`);
  const parts = partsOf(entries);
  assert.ok(parts.length > 1);
  for (const part of parts) assert.ok(Buffer.byteLength(part) <= 256 * 1024 + 1);
  assert.deepEqual(
    parts.flatMap((part) => JSON.parse(part)),
    entries,
  );
  assert.deepEqual(partsOf([]), []);
});

/** A bucket in memory that keeps the order of its changes. */
function store() {
  const before: Record<'head' | 'removal', () => unknown> = { head() {}, removal() {} };
  const values = new Map<string, { readonly data: Uint8Array; readonly revision: number }>();
  const changes: Change[] = [];
  let revision = 0;
  async function put(key: string, data: unknown): Promise<number> {
    const text = String(data);
    revision += 1;
    values.set(key, { data: encoder.encode(text), revision });
    changes.push([key, JSON.parse(text)]);
    return revision;
  }
  async function replace(key: string, data: unknown, expected: number): Promise<number> {
    await before.head();
    if ((values.get(key)?.revision ?? 0) === expected) return put(key, data);
    const code = JetStreamApiCodes.StreamWrongLastSequence;
    throw new JetStreamApiError({ err_code: code, code: 400, description: 'wrong last sequence' });
  }
  const bucket = {
    put,
    create: (key: string, data: unknown) => replace(key, data, 0),
    update: replace,
    async get(key: string) {
      const value = values.get(key);
      return value === undefined
        ? null
        : ({ operation: 'PUT', value: value.data, revision: value.revision } as KvEntry);
    },
    keys: async () => [...values.keys()].filter((key) => key !== HEAD).values(),
  } as unknown as ListStore['bucket'];
  const remove = async (filter: string) => {
    await before.removal();
    for (const key of [...values.keys()]) if (key.startsWith(filter.slice(0, -1))) values.delete(key);
  };
  return { store: { bucket, remove }, values, changes, before };
}

test('a list much longer than a message is added to, and only the last generation stays', async () => {
  const { store: of, values, changes } = store();
  const many = Array.from({ length: 100_000 }, (_, i) => `host-number-${i}.example.org`);
  assert.deepEqual(await addToOptOut(of, many), many);
  assert.equal((await addToOptOut(of, ['b.test', many[7] ?? ''])).length, 100_001);
  const generations = new Set(
    [...values.keys()].filter((key) => key !== HEAD).map((key) => key.split('.')[1]),
  );
  assert.equal(generations.size, 1);
  assert.deepEqual(after(changes).entries, [...many, 'b.test']);
});

test('of two operators at the same time both are kept, and only one list stays', async () => {
  const { store: of, values, changes, before } = store();
  before.head = async () => {
    before.head = () => {};
    await addToOptOut(of, ['second.test']);
  };
  assert.deepEqual(await addToOptOut(of, ['first.test']), ['second.test', 'first.test']);
  assert.deepEqual(after(changes).entries, ['second.test', 'first.test']);
  assert.equal(values.size, 2);
});

test('who removes what it replaced leaves alone what another operator has begun to write', async () => {
  const { store: of, changes, values, before } = store();
  await addToOptOut(of, ['old.test']);
  const removing = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  before.removal = () => {
    removing.resolve();
    return go.promise;
  };
  const first = addToOptOut(of, ['first.test']);
  await removing.promise;
  before.head = async () => {
    go.resolve();
    await first;
  };
  await addToOptOut(of, ['second.test']);
  assert.deepEqual(after(changes).entries, ['old.test', 'first.test', 'second.test']);
  assert.equal(values.size, 2);
});

test('a list that is too long is refused, and one that lacks a part is not overwritten', async () => {
  const { store: of, values } = store();
  await addToOptOut(of, ['a.test']);
  const before = new Map(values);
  const tooMany = Array.from({ length: 500_000 }, (_, i) => `${i}.test`);
  await assert.rejects(
    addToOptOut(of, tooMany),
    (error) =>
      error instanceof Complaint &&
      /would have 500001 entries, more than the limit of 500000/.test(error.message),
  );
  assert.deepEqual(values, before);
  await of.remove('opt-out.*');
  await assert.rejects(addToOptOut(of, ['b.test']), { code: 'bad-survey', message: /is incomplete/ });
  assert.deepEqual([...values.keys()], [HEAD]);
});
