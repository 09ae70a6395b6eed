import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { webUrl } from '../testing/hostile.ts';
import {
  hostPort,
  type Origin,
  OTHER_ORIGINS,
  originOfUrl,
  originParts,
  originSchema,
  parseOrigin,
  roomOf,
  SITE_DAY_ORIGINS,
  SITE_ORIGINS,
  siteSchema,
} from './origin.ts';

test('an origin is accepted in every common spelling, and made canonical', () => {
  for (const [text, origin, host, port] of [
    ['https://Example.ORG', 'https://example.org', 'example.org', 443],
    ['example.org', 'https://example.org', 'example.org', 443],
    ['example.org:8443', 'https://example.org:8443', 'example.org', 8443],
    [' https://example.org:443/ ', 'https://example.org', 'example.org', 443],
    ['https://[::1]:4433', 'https://[::1]:4433', '::1', 4433],
    ['_dmarc.-a-.example.', 'https://_dmarc.-a-.example.', '_dmarc.-a-.example.', 443],
    ['127.1', 'https://127.0.0.1', '127.0.0.1', 443],
    [
      `${'a'.repeat(63)}.${'b.'.repeat(94)}c`,
      `https://${'a'.repeat(63)}.${'b.'.repeat(94)}c`,
      `${'a'.repeat(63)}.${'b.'.repeat(94)}c`,
      443,
    ],
    ['https://bücher.example', 'https://xn--bcher-kva.example', 'xn--bcher-kva.example', 443],
  ] as const) {
    assert.deepEqual(parseOrigin(text), { ok: true, value: { origin, host, port } }, text);
  }
});

test('what is not an https origin is rejected with the reason', () => {
  for (const [text, reason] of [
    ['', /^"" is not an origin$/],
    ['http://example.org', /is not https$/],
    ['https://', /is not an origin$/],
    ['https://a b', /is not an origin$/],
    ['http://exa+mple.org', /is not https$/],
    ['https://user@example.org', /^an origin has no user or password$/],
    ['https://:secret@example.org', /^an origin has no user or password$/],
    ['https://example.org:0', /^port 0 /],
    ['https://example.org:99999', /is not an origin$/],
    ['https://example.org/path', /has a path/],
    ['https://example.org/?q', /has a path/],
    ['https://example.org/#f', /has a path/],
    [`https://${'a'.repeat(300)}.example`, /^the origin is too long$/],
    ['example..org', /nothing between two dots$/],
    ['.example.org', /nothing between two dots$/],
    ['example.org..', /nothing between two dots$/],
    ['.', /nothing between two dots$/],
    [`${'a'.repeat(64)}.example`, /longer than the 63 characters/],
    [`${'a.'.repeat(126)}ab`, /longer than 253 characters$/],
    [`${'a.'.repeat(126)}ab.`, /longer than 253 characters$/],
    ['exa+mple.org', /characters that DNS names have not$/],
    ['*.example.org', /characters that DNS names have not$/],
    ["o'hara.example", /characters that DNS names have not$/],
  ] as const) {
    const result = parseOrigin(text);
    assert.match(result.ok ? 'accepted' : result.message, reason, text);
  }
});

test('the origin of a loaded URL drops path and query; other schemes have none', () => {
  assert.equal(originOfUrl('https://a.test:8443/x?y#z')?.origin, 'https://a.test:8443');
  assert.equal(originOfUrl('https://user:secret@a.test/x')?.origin, 'https://a.test');
  for (const url of ['http://a.test/', 'data:,x', 'chrome://version', 'blob:https://a.test/1', 'nonsense'])
    assert.equal(originOfUrl(url), null, url);
});

test('URLs of one origin have one origin, wherever the authority ends', () => {
  const spellings = [
    'https://a.test/1',
    'https://a.test/2?/',
    'HTTPS://A.test/',
    'https://a.test?x=/',
    'https:///a.test/',
  ];
  const odd = [
    'https://a.test\\b/c',
    'https://u:p@a.test/',
    'https://a.test#x/y',
    'https://a.\ttest/',
    '   https://a.test/',
  ];
  for (const url of [...spellings, ...odd, ...spellings])
    assert.equal(originOfUrl(url)?.origin, 'https://a.test', JSON.stringify(url));
  for (let n = 0; n < 1000; n += 1) {
    assert.equal(originOfUrl(`https://h${n % 700}.test:8443/${n}`)?.origin, `https://h${n % 700}.test:8443`);
    assert.equal(originOfUrl(`https://bad..test/${n}`), null);
  }
});

test('the origin of a URL does not depend on the URLs before it', () => {
  const from = (url: string) => new URL(url).origin;
  fc.assert(
    fc.property(webUrl('https', 'http'), (url) => {
      const known = originOfUrl(url);
      assert.deepEqual(originOfUrl(url), known);
      if (known !== null) assert.equal(known.origin, from(url));
    }),
  );
});

test('only the canonical form passes the schema, and its parts can be read back', () => {
  const origin = v.parse(originSchema, 'https://a.test:8443');
  assert.equal(originParts(origin).port, 8443);
  assert.throws(() => originParts('http://a.test' as Origin), TypeError);
  for (const text of ['https://A.test', 'a.test', 'https://a.test/', 'https://a.test:443', 'https://'])
    assert.equal(v.is(originSchema, text), false, text);
});

test('an authority has brackets around IPv6 alone, and a site is no longer than a name', () => {
  assert.deepEqual([hostPort('::1', 443), hostPort('a.test', 8443)], ['[::1]:443', 'a.test:8443']);
  const isSite = (text: string) => v.is(siteSchema, text);
  assert.deepEqual(['', 'a', 'a'.repeat(253), 'a'.repeat(254)].map(isSite), [false, true, true, false]);
});

test('parsing never throws, and what it accepts is a fixed point', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), webUrl('https', 'http')), (text) => {
      const result = parseOrigin(text);
      if (result.ok) assert.deepEqual(parseOrigin(result.value.origin), result);
    }),
  );
});

test('a site has room for new origins until its limit for the day or in total is reached', () => {
  assert.equal(roomOf({ kept: 0, today: 0 }), SITE_DAY_ORIGINS);
  assert.equal(roomOf({ kept: 10, today: SITE_DAY_ORIGINS - 1 }), 1);
  assert.equal(roomOf({ kept: SITE_ORIGINS - 3, today: 0 }), 3);
  assert.equal(roomOf({ kept: SITE_ORIGINS + 1, today: SITE_DAY_ORIGINS + 1 }), 0);
});

test('the placeholder for the others is a valid origin', () => {
  assert.equal(originOfUrl(`${OTHER_ORIGINS}/`)?.origin, OTHER_ORIGINS);
});
