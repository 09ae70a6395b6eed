import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { h3Alternatives, parseAltSvc } from './alt-svc.ts';

const one = (value: string, age = 0) => parseAltSvc(value, age).alternatives[0];

test('RFC 7838 section 3: an alternative on the same host has an empty host', () => {
  assert.deepEqual(one('h3=":443"; ma=60; persist=1'), {
    alpn: 'h3',
    host: '',
    port: 443,
    maxAgeSeconds: 60,
    persist: true,
  });
});

test('section 3.1: without ma an alternative is fresh for 24 hours, less Age', () => {
  assert.equal(one('h3=":443"')?.maxAgeSeconds, 86_400);
  assert.equal(one('h3=":443"; ma=100', 40)?.maxAgeSeconds, 60);
  assert.equal(h3Alternatives(parseAltSvc('h3=":443"; ma=10', 10)).length, 0);
});

test('several alternatives keep the order of preference, other hosts and IPv6 literals included', () => {
  const { alternatives, skipped } = parseAltSvc('h3="Alt.test:8443",h2=":443" , h3="[::1]:444"');
  assert.deepEqual(
    alternatives.map((a) => `${a.alpn} ${a.host} ${a.port}`),
    ['h3 alt.test 8443', 'h2  443', 'h3 [::1] 444'],
  );
  assert.equal(skipped, 0);
});

test('section 3: percent-encoded ALPN names, quoted pairs and quoted parameters are decoded', () => {
  assert.equal(one('w%3Dx%3Ay="new.test:443"')?.alpn, 'w=x:y');
  assert.equal(one('h3="\\:443"; ma="7"')?.maxAgeSeconds, 7);
});

test('clear empties, also with the semicolon some servers add; it is case-sensitive', () => {
  assert.equal(parseAltSvc('clear').clear, true);
  assert.equal(parseAltSvc(' clear; ').clear, true);
  assert.equal(parseAltSvc('Clear').clear, false);
});

test('section 3.1: unknown parameters and other values of persist are ignored', () => {
  assert.deepEqual(one('h3=":443"; v="46,43"; foo=bar; persist=2; ma=5'), {
    alpn: 'h3',
    host: '',
    port: 443,
    maxAgeSeconds: 5,
    persist: false,
  });
});

test('a bad alternative is skipped and the rest kept', () => {
  for (const bad of [
    'h3',
    'h3=:443',
    'h3=":0"',
    'h3=":99999"',
    'h3=":443"; ma=x',
    'h3="a b:1"',
    '%zz=":1"',
    '=":1"',
  ]) {
    const { alternatives, skipped } = parseAltSvc(`${bad}, h2=":8443"`);
    assert.deepEqual([alternatives.length, skipped, alternatives[0]?.port], [1, 1, 8443], bad);
  }
});

test('a comma inside quotes does not split', () => {
  assert.equal(parseAltSvc('h3=":443"; note="a,b", h2=":1"').alternatives.length, 2);
});

test('only final h3 counts as HTTP/3', () => {
  assert.deepEqual(
    h3Alternatives(parseAltSvc('h3-29=":1", h3=":2", quic=":3"')).map((a) => a.port),
    [2],
  );
});

test('whatever comes in, parsing ends, never throws, and gives only valid ports', () => {
  const piece = fc.constantFrom(
    'h3',
    '=',
    '"',
    ':443',
    ',',
    ';',
    'ma',
    '5',
    '\\',
    '%',
    ' ',
    'clear',
    '[::1]',
    '\u0000',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 60 }).map((p) => p.join('')),
      ),
      (text) => {
        for (const a of parseAltSvc(text).alternatives) assert.ok(a.port >= 1 && a.port <= 65_535);
      },
    ),
    { numRuns: 2000 },
  );
});
