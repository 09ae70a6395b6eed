// Who does not want to be raced is not raced, under whatever name or address; a bad entry is reported, never skipped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { type OptOut, optOut } from './opt-out.ts';

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
