// Which places the flags of the Rust build name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placelessFlags } from './rust-programs.ts';

const FLAGS = '--remap-path-prefix=/a/top=/photofinish --remap-path-prefix=/home/a/.cargo=/cargo';

test('checkout and downloads get names that are the same everywhere', () => {
  assert.equal(placelessFlags('/a/top', '/home/a/.cargo'), FLAGS);
});

test('flags that somebody has set stay, and ours are added once', () => {
  assert.equal(placelessFlags('/a/top', '/home/a/.cargo', '-C debuginfo=1'), `-C debuginfo=1 ${FLAGS}`);
  assert.equal(placelessFlags('/a/top', '/home/a/.cargo', FLAGS), FLAGS);
});

test('a place whose name has a space would break the flags apart, and is left out', () => {
  assert.equal(placelessFlags('/a top', '/home/a/.cargo'), '--remap-path-prefix=/home/a/.cargo=/cargo');
});
