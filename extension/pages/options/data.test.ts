// The texts for files: a name that sorts by day, and a reason for every way in which a file can be rejected.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_ERRORS, DataError } from '../../ledger/data-document.ts';
import { dataFileName, importedText, importFailure, wipedText } from './data.ts';

test('the file name contains the day', () => {
  assert.equal(dataFileName(new Date(2026, 0, 9)), 'photofinish-data-2026-01-09.json');
});

test('every rejection has its own sentence, which says that nothing was imported', () => {
  const sentences = DATA_ERRORS.map((code) => importFailure(new DataError(code, 'a row breaks')));
  assert.equal(new Set(sentences).size, DATA_ERRORS.length);
  for (const sentence of sentences) assert.match(sentence, /Nothing was imported\.$/);
});

test('any other error is reported as having stopped the import, with its own message', () => {
  assert.equal(importFailure(new Error('the disk is full')), 'The import stopped: the disk is full');
});

test('of another browser’s file it is said that only its races are imported, and why', () => {
  const none = { future: 0, excluded: 0, foreign: 0, refused: 0 };
  const rows = { records: 3, days: 4, totals: 2, races: 1 };
  assert.match(importedText({ ...none, rows }), /^Imported 3 records with their races, [^.]*\.$/);
  const foreign = importedText({ ...none, rows: { ...rows, records: 0, days: 0, totals: 0 }, foreign: 9 });
  assert.match(foreign, /^Imported 1 race, .* 9 rows were left out: they say what another browser did/);
});

// The message after deletion: which of the two stores is empty now.

test('the helper’s entries are counted, and its absence or a failure is reported', () => {
  const wiped = { type: 'wiped', helperRecords: 1, trouble: null } as const;
  assert.match(wipedText(wiped), /1 entry in the helper/);
  assert.match(wipedText({ ...wiped, helperRecords: 0 }), /0 entries/);
  assert.match(
    wipedText({ ...wiped, helperRecords: null }),
    /could not be reached, so its host cache remains/,
  );
  assert.match(wipedText({ ...wiped, helperRecords: null, trouble: 'No space.' }), /No space\./);
});
