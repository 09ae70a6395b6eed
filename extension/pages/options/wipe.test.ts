// What is said after forgetting: which of the two memories is empty now.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wipedWords } from './wipe.ts';

test('the helper’s entries are counted, its absence is said, and so is a failure', () => {
  const wiped = { type: 'wiped', helperRecords: 1, trouble: null } as const;
  assert.match(wipedWords(wiped), /1 entry in the helper/);
  assert.match(wipedWords({ ...wiped, helperRecords: 0 }), /0 entries/);
  assert.match(
    wipedWords({ ...wiped, helperRecords: null }),
    /could not be reached, so its host cache remains/,
  );
  assert.match(wipedWords({ ...wiped, helperRecords: null, trouble: 'No space.' }), /No space\./);
});
