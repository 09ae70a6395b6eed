// What the manifest and the launcher say, that both are read back, and that a shell takes every path literally.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { launcherText, manifestText, parseLauncher, parseManifest } from './manifest.ts';

const ID = 'cjlcppkpnfaojocpkejfadmflkdhibkb';

test('a Chromium manifest names one origin and comes back', () => {
  const parsed = parseManifest(manifestText('chromium', '/opt/host', ID));
  assert.ok('manifest' in parsed);
  assert.equal(parsed.manifest.name, 'org.photofinish.host');
  assert.equal(parsed.manifest.path, '/opt/host');
  assert.deepEqual(parsed.manifest.allowed_origins, [`chrome-extension://${ID}/`]);
  assert.equal(parsed.manifest.allowed_extensions, undefined);
});

test('a Firefox manifest names an add-on and no origin', () => {
  const json = JSON.parse(manifestText('firefox', '/opt/host', 'a@b.test'));
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

test('a launcher comes back as what it was made of', () => {
  const path = fc.string().map((text) => `/${text.replaceAll(/[\n\0]/g, '')}`);
  fc.assert(
    fc.property(path, path, fc.option(path), (runtime, main, config) => {
      const launcher = { runtime, main, config };
      assert.deepEqual(parseLauncher(launcherText(launcher)), launcher);
    }),
  );
});

test('a script of somebody else is no launcher of ours', () => {
  assert.equal(parseLauncher('#!/bin/sh\nexec node main.js\n'), null);
});

test('the shell passes hostile paths and arguments on unchanged', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'pf launcher '));
  t.after(() => rmSync(directory, { recursive: true }));
  const main = join(directory, `it's $(touch x) "quoted" \\ main.js`);
  const config = join(directory, "a'b;c.json");
  writeFileSync(main, 'console.log(JSON.stringify(process.argv.slice(1)))');
  const host = join(directory, 'host');
  writeFileSync(host, launcherText({ runtime: process.execPath, main, config }), { mode: 0o700 });
  const caller = ['chrome-extension://x/', "odd ' argument", '--config'];
  const argv = JSON.parse(execFileSync(host, caller, { encoding: 'utf8' }));
  assert.deepEqual(argv, [main, '--config', config, '--', ...caller]);
});
