// The message after deletion: which of the two stores is empty now.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wipedWords } from './wipe.ts';

test('the helper’s entries are counted, and its absence or a failure is reported', () => {
  const wiped = { type: 'wiped', helperRecords: 1, trouble: null } as const;
  assert.match(wipedWords(wiped), /1 entry in the helper/);
  assert.match(wipedWords({ ...wiped, helperRecords: 0 }), /0 entries/);
  assert.match(
    wipedWords({ ...wiped, helperRecords: null }),
    /could not be reached, so its host cache remains/,
  );
  assert.match(wipedWords({ ...wiped, helperRecords: null, trouble: 'No space.' }), /No space\./);
});
