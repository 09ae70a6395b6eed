import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExplainCommand } from './explain.ts';
import { Complaint } from './usage.ts';

test('one origin, fifteen pairs at most by default, and the options shared with race', () => {
  const plain = parseExplainCommand(['example.org']);
  assert.equal(plain.origin.origin, 'https://example.org');
  assert.deepEqual([plain.pairs, plain.json, plain.allowPrivate, plain.network], [15, false, false, null]);
  const full = parseExplainCommand([
    ...[
      '--json',
      '--trials',
      '5',
      '--timeout',
      '70',
      '--allow-private',
      '--network',
      'home',
      '--ca',
      'ca.pem',
    ],
    ...[
      '--resolve',
      'a.test:443:127.0.0.1',
      '--resolver',
      '127.0.0.1:5353',
      '--cache',
      'c.db',
      '--',
      'a.test',
    ],
  ]);
  assert.equal(full.origin.host, 'a.test');
  assert.deepEqual(
    [full.pairs, full.timeoutMs, full.network, full.resolver],
    [5, 70, 'home', '127.0.0.1:5353'],
  );
  assert.deepEqual([...full.pins], [['a.test:443', '127.0.0.1']]);
  assert.deepEqual([full.caFiles, full.cacheFile, full.allowPrivate], [['ca.pem'], 'c.db', true]);
});

const MISTAKES: readonly [string, string, ...string[]][] = [
  ['no origin', 'bad-usage'],
  ['two origins', 'bad-usage', 'a.test', 'b.test'],
  ['standard input', 'bad-usage', '-'],
  ['an option of race alone', 'bad-usage', 'a.test', '--mode', 'race'],
  ['no https origin', 'bad-origin', 'http://a.test'],
  ['no pairs', 'bad-number', 'a.test', '--trials', '0'],
  ['a pin without an address', 'bad-resolve', 'a.test', '--resolve', 'a.test:443'],
  ['a resolver by name', 'bad-resolver', 'a.test', '--resolver', 'dns.test:53'],
];
for (const [name, code, ...args] of MISTAKES)
  test(`${name}: ${code}`, () => {
    assert.throws(
      () => parseExplainCommand(args),
      (error) => error instanceof Complaint && error.code === code && error.exitCode === 2,
    );
  });
