// The texts for files: a name that sorts by day, and a reason for every way in which a file can be rejected.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_ERRORS, DataError } from '../../ledger/data-document.ts';
import { dataFileName, importFailure } from './transfer.ts';

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
