import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siphash } from './siphash.ts';

const counting = (length: number) => Uint8Array.from({ length }, (_, n) => n);

test("the paper's own example (appendix A), and its reference vectors at word boundaries", () => {
  const vectors: [number, string][] = [
    [0, '726fdb47dd0e0e31'],
    [1, '74f839c593dc67fd'],
    [7, 'ab0200f58b01d137'],
    [8, '93f5f5799a932462'],
    [15, 'a129ca6149be45e5'],
    [63, '958a324ceb064572'],
  ];
  for (const [length, hash] of vectors)
    assert.equal(siphash(counting(16), counting(length)), hash, `${length}`);
});
