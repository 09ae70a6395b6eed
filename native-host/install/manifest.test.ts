// The contents of the manifest, and parsing it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedBy, manifestText, parseManifest } from './manifest.ts';

const ID = 'cjlcppkpnfaojocpkejfadmflkdhibkb';
const OTHER_ID = 'abcdefghijklmnop'.repeat(2);

test('a Chromium manifest contains origins and is parsed back', () => {
  const parsed = parseManifest(manifestText('chromium', '/opt/host', [ID, OTHER_ID]));
  assert.ok('manifest' in parsed);
  assert.equal(parsed.manifest.name, 'org.photofinish.host');
  assert.equal(parsed.manifest.path, '/opt/host');
  assert.deepEqual(parsed.manifest.allowed_origins, [
    `chrome-extension://${ID}/`,
    `chrome-extension://${OTHER_ID}/`,
  ]);
  assert.deepEqual(allowedBy(parsed.manifest, 'chromium'), [ID, OTHER_ID]);
  assert.deepEqual(allowedBy(parsed.manifest, 'firefox'), []);
  assert.equal(parsed.manifest.allowed_extensions, undefined);
});

test('a Firefox manifest contains an add-on and no origin', () => {
  const json = JSON.parse(manifestText('firefox', '/opt/host', ['a@b.test']));
  assert.deepEqual(json.allowed_extensions, ['a@b.test']);
  assert.equal('allowed_origins' in json, false);
  assert.equal(json.type, 'stdio');
});

for (const [text, why] of [
  ['{', /not JSON/],
  ['[]', /missing or wrong/],
  ['{"name":"x","path":3,"type":"stdio"}', /"path"/],
  ['{"name":"x","path":"/x","type":"pipe"}', /"type"/],
] as const)
  test(`a manifest ${text} is refused with the reason`, () => {
    const parsed = parseManifest(text);
    assert.ok('error' in parsed);
    assert.match(parsed.error, why);
  });
