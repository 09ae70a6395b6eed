import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicSuffix, siteOfHost, siteOfUrl } from './site.ts';

test('a site is the registrable domain, private suffixes as browsers partition them', () => {
  assert.equal(siteOfHost('www.example.co.uk'), 'example.co.uk');
  assert.equal(siteOfHost('a.someone.github.io'), 'someone.github.io');
  assert.equal(siteOfHost('cdn.h3.test'), 'h3.test');
});

test('addresses, single labels and bare suffixes are their own site', () => {
  assert.equal(siteOfHost('127.0.0.1'), '127.0.0.1');
  assert.equal(siteOfHost('[::1]'), '::1');
  assert.equal(siteOfHost('localhost'), 'localhost');
  assert.equal(siteOfHost('github.io'), 'github.io');
});

test('only web pages have a site', () => {
  assert.equal(siteOfUrl('https://www.example.org:8443/x'), 'example.org');
  assert.equal(siteOfUrl('http://example.org/'), 'example.org');
  assert.equal(siteOfUrl('chrome://settings'), null);
  assert.equal(siteOfUrl('null'), null);
});

test('public suffixes are those of the list, not every single label', () => {
  for (const suffix of ['com', 'co.uk', 'github.io', 'foo.kobe.jp'])
    assert.equal(isPublicSuffix(suffix), true);
  for (const site of [
    'localhost',
    'printer',
    'example.co.uk',
    'someone.github.io',
    '192.0.2.7',
    '2001:db8::1',
  ])
    assert.equal(isPublicSuffix(site), false, site);
});
