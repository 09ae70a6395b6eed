// The minimum versions agree with what they stand for, and versions are compared as numbers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TOP } from '../scratch.ts';
import { OLDEST_FIREFOX, OLDEST_RUST, older } from './prerequisites.mjs';

test('versions are compared number by number', () => {
  for (const [found, wanted] of [
    ['1.9.0', '1.10.0'],
    ['140.5', '153.0'],
    ['1.26', '1.26.1'],
  ] as const)
    assert.deepEqual([older(found, wanted), older(wanted, found)], [true, false], `${found} ${wanted}`);
  assert.deepEqual([older('1.26', '1.26.0'), older('1.26.0', '1.26')], [false, false]);
});

test('the oldest Rust is that of the workspace', () => {
  const [, version] = /^rust-version = "(.+)"$/m.exec(readFileSync(join(TOP, 'Cargo.toml'), 'utf8')) ?? [];
  assert.equal(`${version}.0`, OLDEST_RUST);
});

test('the oldest Firefox is the one that the extension allows', () => {
  const build = readFileSync(join(TOP, 'extension/build.ts'), 'utf8');
  const [, version] = /strict_min_version: '(.+)'/.exec(build) ?? [];
  assert.equal(version, OLDEST_FIREFOX);
});
