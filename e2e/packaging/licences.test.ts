// Which licences are allowed for code in our archives.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { licenceFaults } from './licences.ts';

const faultsOf = (licence: string | null): string[] =>
  licenceFaults([
    { registry: 'cargo', name: 'a', version: '1.0.0', licence, directory: '', direct: true, needs: [] },
  ]);

test('licences that require only text and notices, and alternatives and combinations of them', () => {
  for (const licence of ['MIT', 'MIT/Apache-2.0', 'MIT OR GPL-3.0-only', '(MIT OR Apache-2.0) AND ISC'])
    assert.deepEqual(faultsOf(licence), [], licence);
});

test('licences that require more, are missing, or are not an expression, are reported by name', () => {
  for (const licence of ['GPL-3.0-only', 'MIT AND LGPL-2.1-only', 'MPL-2.0', 'see LICENSE', ''])
    assert.deepEqual(faultsOf(licence), [`cargo a@1.0.0 is under ${licence}`]);
  assert.deepEqual(faultsOf(null), ['cargo a@1.0.0 names no licence']);
});
