import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originParts, parseOrigin } from '@photofinish/shared/web/origin';
import { siteOfHost } from '../../common/site.ts';
import { hostParts } from './origin.ts';

test('a host is split before its registrable domain, and the port stays with that', () => {
  const parts = (label: string) => {
    const parsed = parseOrigin(`https://${label}`);
    assert.ok(parsed.ok);
    return hostParts(label, siteOfHost(originParts(parsed.value.origin).host));
  };
  assert.deepEqual(parts('static.hotjar.com'), ['static.', 'hotjar.com']);
  assert.deepEqual(parts('a.b.example.co.uk:4433'), ['a.b.', 'example.co.uk:4433']);
  // Under a private suffix the whole name is one site.
  assert.deepEqual(parts('d1a2b3.cloudfront.net'), ['', 'd1a2b3.cloudfront.net']);
  assert.deepEqual(parts('fonts.googleapis.com'), ['', 'fonts.googleapis.com']);
  assert.deepEqual(parts('example.org:8443'), ['', 'example.org:8443']);
  assert.deepEqual(parts('127.0.0.1:8443'), ['', '127.0.0.1:8443']);
  assert.deepEqual(parts('[::1]:8443'), ['', '[::1]:8443']);
  // An ellipsis would take as much space.
  assert.deepEqual(parts('i.guim.co.uk'), ['', 'i.guim.co.uk']);
});
