// Whatever of a site is pasted, its registrable domain is what records are kept under.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webUrl } from '@photofinish/shared/testing/web-text';
import fc from 'fast-check';
import { siteFromEntry } from './site-entry.ts';

const CASES = [
  ['example.org', 'example.org'],
  ['  WWW.Example.ORG ', 'example.org'],
  ['https://shop.example.co.uk:8443/cart?id=1', 'example.co.uk'],
  ['someone.github.io/page', 'someone.github.io'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['192.0.2.7', '192.0.2.7'],
  ['[2001:db8::1]:8443', '2001:db8::1'],
  ['printer', 'printer'],
  ['', null],
  ['two words', null],
  ['https://', null],
  ['about:blank', null],
  ['ftp://example.org', null],
] as const;

for (const [text, site] of CASES)
  test(`site entry: ${JSON.stringify(text)}`, () => assert.equal(siteFromEntry(text), site));

test('a site that was understood means itself', () => {
  fc.assert(
    fc.property(webUrl('https', 'http'), (url) => {
      const site = siteFromEntry(url);
      if (site !== null && !site.includes(':')) assert.equal(siteFromEntry(site), site);
    }),
  );
});
