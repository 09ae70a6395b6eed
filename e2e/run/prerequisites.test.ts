// The minimum versions agree with what they stand for, versions are compared as numbers, and a program that fails is not
// reported as missing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TOP } from '../scratch.ts';
import { OLDEST_FIREFOX, OLDEST_RUST, older, outputOf } from './prerequisites.mjs';

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

test('a program that is there and fails says why, one that is missing is not found', async () => {
  const failing = await outputOf(process.execPath, ['-e', 'console.error("a\\nb\\nc"); process.exit(1)']);
  assert.deepEqual(failing, { output: null, problem: `${process.execPath}: a\nb` });
  const silent = await outputOf(process.execPath, ['-e', 'process.exit(1)']);
  assert.match(silent.problem ?? '', /: Command failed: /);
  assert.equal((await outputOf('no-such-program', [])).problem, 'no-such-program was not found');
  assert.deepEqual(await outputOf(process.execPath, ['-p', '1']), { output: '1', problem: null });
});
