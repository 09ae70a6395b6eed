// Which paths the flags of the Rust build remap.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathRemapFlags } from './test-programs.ts';

const FLAGS = '--remap-path-prefix=/a/top=/photofinish --remap-path-prefix=/home/a/.cargo=/cargo';

test('checkout and downloads get the same names everywhere', () => {
  assert.equal(pathRemapFlags('/a/top', '/home/a/.cargo'), FLAGS);
});

test('flags set by the user stay, and ours are added once', () => {
  assert.equal(pathRemapFlags('/a/top', '/home/a/.cargo', '-C debuginfo=1'), `-C debuginfo=1 ${FLAGS}`);
  assert.equal(pathRemapFlags('/a/top', '/home/a/.cargo', FLAGS), FLAGS);
});

test('a path with a space would split the flags, and is left out', () => {
  assert.equal(pathRemapFlags('/a top', '/home/a/.cargo'), '--remap-path-prefix=/home/a/.cargo=/cargo');
});
