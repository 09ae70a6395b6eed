import '../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { troubleWords } from './trouble.ts';

test('a failing storage is reported with what to do about it', () => {
  assert.match(troubleWords(new DOMException('', 'VersionError')), /\(VersionError\).*update the extension/);
  assert.match(troubleWords(new DOMException('', 'QuotaExceededError')), /free up some space/);
  assert.match(
    troubleWords(new DOMException('', 'UnknownError')),
    /may be full: free up some space.*restart/,
  );
  assert.match(
    troubleWords(new DOMException('', 'InvalidStateError')),
    /Restart the browser.*records will be lost/,
  );
  assert.match(troubleWords('text'), /nothing is being recorded/);
});
