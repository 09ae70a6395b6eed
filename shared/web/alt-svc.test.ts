import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { character } from '../testing/hostile.ts';
import { h3Alternatives, isExpired, parseAltSvc } from './alt-svc.ts';

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

test('section 3.1: without ma an alternative is fresh for 24 hours, minus Age', () => {
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

test('clear withdraws all, also with the semicolon some servers add; it is case-sensitive', () => {
  assert.equal(parseAltSvc('clear').clear, true);
  assert.equal(parseAltSvc(' clear; ').clear, true);
  assert.equal(parseAltSvc('Clear').clear, false);
  assert.equal(parseAltSvc('clear,').clear, true);
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

test('a malformed alternative is skipped and the rest kept', () => {
  for (const bad of [
    'h3',
    'h3=:443',
    'h3=":0"',
    'h3=":65536"',
    'h3;":443"',
    'h3=":443" x',
    'h3=":443"; =5',
    'h3=":443"; ma 5',
    'h3=":443"; ma=',
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

/** Forms common in practice that simple parsers get wrong: the value, and its meaning. */
const FIELD_FORMS: readonly [string, string, readonly string[], number][] = [
  ['no ma', 'h3=":443"', ['h3  443 86400'], 0],
  ['an IPv6 literal', 'h3="[2001:db8::1]:443"; ma=60', ['h3 [2001:db8::1] 443 60'], 0],
  ['an unknown parameter before ma', 'h3=":443"; foo=bar; ma=60', ['h3  443 60'], 0],
  ['an unknown parameter after ma', 'h3=":443"; ma=60; foo=bar', ['h3  443 60'], 0],
  ['a quoted ma', 'h3=":443"; ma="60"', ['h3  443 60'], 0],
  [
    'a comma in a quoted parameter',
    'quic=":443"; v="46,43", h3=":444"',
    ['quic  443 86400', 'h3  444 86400'],
    0,
  ],
  ['a semicolon in a quoted parameter', 'h3=":443"; v="a;ma=1"; ma=60', ['h3  443 60'], 0],
  ['clear with a semicolon', 'clear;', [], 0],
  ['a percent-encoded protocol', 'w%3Dx%3Ay=":443"', ['w=x:y  443 86400'], 0],
  ['persist without ma', 'h3=":443"; persist=1', ['h3  443 86400 persist'], 0],
  ['no blank after the semicolon', 'h3=":443";ma=60;persist=1', ['h3  443 60 persist'], 0],
  ['the largest port', 'h3=":65535"', ['h3  65535 86400'], 0],
  ['blanks around the equals sign', 'h3=":443"; ma = 60', ['h3  443 60'], 0],
  ['two semicolons', 'h3=":443";; ma=60', ['h3  443 60'], 0],
  ['a semicolon before the comma', 'h3=":443";, h2=":444"', ['h3  443 86400', 'h2  444 86400'], 0],
  ['an unknown parameter of 1', 'h3=":443"; x=1', ['h3  443 86400'], 0],
  ['an authority that is not quoted', 'h3=x:443"', [], 1],
  ['tabs', 'h3=":443"\t;\tma=60', ['h3  443 60'], 0],
  ['no blank after the comma', 'h3=":443",h2=":444"', ['h3  443 86400', 'h2  444 86400'], 0],
  ['parameter names in capitals', 'h3=":443"; MA=60', ['h3  443 60'], 0],
  ['empty list elements', ', ,h3=":443",', ['h3  443 86400'], 0],
  ['a stray last semicolon', 'h3=":443"; ma=60;', ['h3  443 60'], 0],
  ['a quoted pair', 'h3="\\:443"', ['h3  443 86400'], 0],
  ['a lifetime over 2^31', 'h3=":443"; ma=99999999999', ['h3  443 2147483648'], 0],
  ['clear in quotes', 'h3=":443"; x="a, clear"', ['h3  443 86400'], 0],
  ['a protocol named clear', 'clear=":443"', ['clear  443 86400'], 0],
  ['clear with something behind it', 'clear now, h3=":443"', ['h3  443 86400'], 1],
  ['clear in capitals', 'Clear, h3=":443"', ['h3  443 86400'], 1],
  ['clear in an alternative that is cut off', 'h3=":443, clear', [], 1],
];

for (const [form, value, said, skipped] of FIELD_FORMS)
  test(`common in practice: ${form}`, () => {
    const parsed = parseAltSvc(value);
    assert.deepEqual(
      parsed.alternatives.map(
        (a) => `${a.alpn} ${a.host} ${a.port} ${a.maxAgeSeconds}${a.persist ? ' persist' : ''}`,
      ),
      said,
    );
    assert.equal(parsed.skipped, skipped);
    assert.equal(parsed.clear, value.startsWith('clear;'));
  });

test('RFC 7838 section 3: next to clear every alternative is void, in any order and over several lines', () => {
  const mixed = [
    'h3=":443", clear',
    'clear, h3=":443"',
    'h3=":443"; ma=60 , clear;, h2="a.test:1"',
    'clear,clear',
    `${Array.from({ length: 40 }, (_, i) => `h3=":${i + 1}"`).join(', ')}, clear`,
  ];
  for (const value of mixed) {
    const { clear, alternatives } = parseAltSvc(value);
    assert.deepEqual([clear, alternatives], [true, []], value);
  }
  assert.equal(parseAltSvc('h3=443, clear').skipped, 1);
});

test('a host that no resolver and no certificate can contain is malformed', () => {
  for (const host of ['a b', 'a\u0000b', 'ü.test', 'a@b', '[::1', '[zz]', 'a/b', 'x'.repeat(254)]) {
    const text = `h3="${host}:443"`;
    assert.deepEqual(parseAltSvc(text), { text, clear: false, alternatives: [], skipped: 1, unread: 0 });
  }
});

test('an unterminated quote ends the parsing, however many follow', () => {
  const hostile = `h2=":1", h3=${'"\\'.repeat(2000)}`;
  const parsed = parseAltSvc(hostile);
  assert.deepEqual([parsed.alternatives.length, parsed.skipped], [1, 1]);
});

test('input beyond the limits is not read: 4096 characters, 32 alternatives', () => {
  const long = `h3=":443"; x="${'a'.repeat(4096)}"`;
  assert.deepEqual(parseAltSvc(long), {
    text: long,
    clear: false,
    alternatives: [],
    skipped: 0,
    unread: 1,
  });
  const many = Array.from({ length: 40 }, (_, i) => `h3=":${i + 1}"`).join(', ');
  const parsed = parseAltSvc(many);
  assert.deepEqual([parsed.alternatives.length, parsed.skipped, parsed.unread], [32, 0, 8]);
  assert.equal(parseAltSvc(`${many}, h3=0`).skipped, 1);
});

const written = fc.record(
  {
    alpn: fc.constantFrom('h3', 'h2', 'h3-29', 'w=x:y', 'a"b', 'é'),
    host: fc.constantFrom('', 'alt.test', '[2001:db8::1]'),
    port: fc.integer({ min: 1, max: 65_535 }),
    maxAgeSeconds: fc.integer({ min: 0, max: 2 ** 31 }),
    persist: fc.boolean(),
  },
  { noNullPrototype: true },
);
const malformed = fc.constantFrom('h3', 'h3=:443', 'h3=":0"', '%zz=":1"', 'h3=":1"; ma=-1', '"a,b"', '=":1"');

function fieldOf(a: {
  alpn: string;
  host: string;
  port: number;
  maxAgeSeconds: number;
  persist: boolean;
}): string {
  const parameters = `; ma=${a.maxAgeSeconds}${a.persist ? '; persist=1' : ''}; v="x,y\\""`;
  return `${encodeURIComponent(a.alpn)}="${a.host}:${a.port}"${parameters}`;
}

test('serialised values are parsed again, and malformed neighbours change nothing', () => {
  const list = fc.array(fc.oneof(written, malformed), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(list, (entries) => {
      const value = entries.map((e) => (typeof e === 'string' ? e : fieldOf(e))).join(', ');
      const parsed = parseAltSvc(value);
      assert.deepEqual(
        parsed.alternatives,
        entries.filter((e) => typeof e !== 'string'),
      );
      assert.equal(parsed.skipped, entries.filter((e) => typeof e === 'string').length);
    }),
  );
});

test('a value expires when every alternative for HTTP/3 has; what never advertised HTTP/3 does not', () => {
  const after = (value: string, ageMs: number) => isExpired(value, ageMs);
  assert.deepEqual(
    [-1, 0, 59_999, 60_000].map((ageMs) => after('h3=":443"; ma=60', ageMs)),
    [...[false, false, false, true]],
  );
  assert.deepEqual([after('h3=":443"', 86_399_999), after('h3=":443"', 86_400_000)], [false, true]);
  assert.equal(after('h3=":443"; ma=60, h3=":444"; ma=90', 60_000), false);
  assert.equal(after('h3=":443"; ma=60, h2=":443"; ma=90', 60_000), true);
  for (const value of ['clear', 'h3=443', 'h3=":443"; ma=0', 'h2=":443"; ma=1', ''])
    assert.equal(after(value, 1e12), false, value);
});

const hostilePiece = fc.constantFrom(
  ...['h3', '=', '"', ':443', ',', ';', 'ma', '5', '\\', '%', '%c3', ' ', '\t', 'clear', '[::1]', '\u0000'],
);

test('for any input, parsing terminates, never throws, and keeps its limits', () => {
  const long = fc.array(hostilePiece, { maxLength: 2500 }).map((pieces) => pieces.join(''));
  const short = fc.array(hostilePiece, { maxLength: 60 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: character }), short, long), (text) => {
      const { alternatives, clear } = parseAltSvc(text);
      assert.ok(alternatives.length <= 32 && !(clear && alternatives.length > 0));
      for (const { port, maxAgeSeconds, host } of alternatives) {
        assert.ok(port >= 1 && port <= 65_535 && maxAgeSeconds >= 0 && maxAgeSeconds <= 2 ** 31);
        assert.match(host, /^[a-z0-9._\-:[\]]*$/);
      }
    }),
    { numRuns: 2000 },
  );
});
