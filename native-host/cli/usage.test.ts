import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MODES } from '@photofinish/shared/race/terms';
import { COMMANDS } from './command-table.ts';
import { nearest } from './usage.ts';

test('typing errors find the word that was meant', () => {
  for (const [typed, meant] of [
    ['rcae', 'race'],
    ['raec', 'race'],
    ['explian', 'explain'],
    ['Doctor', 'doctor'],
    ['instal', 'install'],
    ['unistall', 'uninstall'],
    ['caches', 'cache'],
    ['comp', 'completion'],
  ] as const)
    assert.equal(nearest(typed, COMMANDS), meant, typed);
  assert.equal(nearest('comapre', MODES), 'compare');
  assert.equal(nearest('altsvc', MODES), 'alt-svc');
});

test('a different word is not guessed', () => {
  for (const typed of ['', 'x', 'sprint', 'frobnicate', 'example.org'])
    assert.equal(nearest(typed, COMMANDS), null, typed);
  // As near to h2 as to h3: the first wins, never a longer word.
  assert.equal(nearest('h1', MODES)?.startsWith('h'), true);
});
